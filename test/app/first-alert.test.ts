/** One outage from the service to every kind of receiver, and what is exposed of it. */
import { createHmac } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { WebhookPayload } from "../../src/notify/webhook.ts";
import { keysUnder } from "../../src/store/keys.ts";
import { createUsualEntriesStore } from "../../src/store/location-details.ts";
import { camerasOf, metricsOf, startWatch, type Watch } from "../support/app.ts";
import { type HttpPost, type HttpSink, startHttpSink } from "../support/http-sink.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const SECRET = "a shared secret";
const IMPACT = /the location usually counts [\d,]+ entries on a (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day/;

/** The check documented in docs/messages.md. */
function isOurs({ headers, text }: HttpPost): boolean {
  const at = String(headers["x-lenswatch-timestamp"]);
  const expected = `sha256=${createHmac("sha256", SECRET).update(`${at}.${text}`).digest("hex")}`;
  return headers["x-lenswatch-signature"] === expected && Math.abs(Date.now() / 1_000 - Number(at)) < 300;
}

const payload = ({ text }: HttpPost) => JSON.parse(text) as WebhookPayload;

/** Once the zones of all locations were read: as after some days of reading counts. */
async function countedFor({ redis: { url }, simulator }: Watch): Promise<void> {
  const redis = new Redis(url);
  try {
    const keys = keysUnder("lenswatch");
    const places = simulator.world.locations.map(({ id }) => id);
    await until("all zones are known", async () => (await redis.hlen(keys.zones)) === places.length);
    await until("all counts were read", async () => (await redis.hlen(keys.usualEntries)) === places.length);
    const usual = new Map(places.map((id) => [id, Array.from({ length: 7 }, () => 1_240)]));
    await createUsualEntriesStore(redis, keys).save(usual);
  } finally {
    redis.disconnect();
  }
}

describeWithRedis("an alert, end to end", () => {
  let hook: HttpSink;
  let watch: Watch;
  beforeAll(async () => {
    hook = await startHttpSink();
    watch = await startWatch({
      placeNames: true,
      receivers: ({ slack }) => `
  - name: ops
    slack_configs: [ { api_url: "${slack.url}" } ]
    email_configs: [ { to: [ ops@example.com ] } ]
    webhook_configs: [ { url: "${hook.url}/hook?key=k3y", secret: "${SECRET}" } ]`,
      before: (world) => world.rename(world.recordings[1]?.id ?? "", 'a "b"\\\nc <!channel>'),
    });
  });
  afterAll(async () => {
    await watch.close();
    await hook.close();
  });
  const metrics = () => metricsOf(watch.app);

  it("notifies of a recording going offline and of its recovery, once on Slack and once by e-mail each", async () => {
    const { simulator, slack, mail } = watch;
    const [camera] = camerasOf(watch);
    await countedFor(watch);
    simulator.world.setStatus(camera.id, "offline");
    const title = `🔴 ${camera.name.slice(camera.location.name.length + 1)} offline · ${camera.location.name}`;
    const [said, mailed, posted] = await Promise.all([slack.next(), mail.next(), hook.next()]);
    expect([said.text.split("\n")[0], mailed.subject]).toEqual([title, title]);
    for (const text of [said.shown, mailed.text, mailed.html ?? ""]) {
      // The character that keeps `:Entrance:` from becoming an emoji is invisible.
      expect(text.replaceAll("\u200b", "")).toContain(`Zone ${camera.taxonomies[0]?.replaceAll(":", " › ")}`);
      expect(text).toMatch(IMPACT);
    }
    expect([isOurs(posted), posted.path]).toEqual([true, "/hook?key=k3y"]);
    expect(payload(posted)).toMatchObject({
      version: "4",
      status: "firing",
      groupLabels: { location_id: camera.location.id },
      alerts: [{ status: "firing", labels: { alertname: "RecordingOffline", recording_id: camera.id } }],
    });

    const series = `recording_id="${camera.id}",recording="${camera.name}",location_id="${camera.location.id}",location="${camera.location.name}"`;
    await until("it is exposed", async () => (await metrics()).includes(`lenswatch_recording_online{${series}} 0`));
    const exposed = await metrics();
    expect(exposed).toContain('lenswatch_recordings{status="offline"} 1');
    expect(exposed).toContain('lenswatch_recordings{status="online"} 7');
    expect(exposed).toContain('lenswatch_alerts{alertname="RecordingOffline",severity="critical",state="firing"} 1');
    await until("the summary of the cold start and the message are counted", async () =>
      (await metrics()).includes('lenswatch_notifications_total{receiver="ops",integration="slack"} 2'),
    );
    expect((await fetch(`${watch.app.address}/readyz`)).status).toBe(200);

    simulator.world.setStatus(camera.id, "online");
    expect((await slack.next()).text).toContain("✅");
    expect((await mail.next()).subject).toContain("✅");
    const end = payload(await hook.waitFor((post) => payload(post).status === "resolved"));
    expect(end).toMatchObject({
      groupKey: payload(posted).groupKey,
      alerts: [{ annotations: { end_reason: "recovered" }, startsAt: payload(posted).alerts[0]?.startsAt }],
    });
    expect([slack.messages.length, mail.messages.length, hook.messages.length]).toEqual([2, 2, 2]);
    expect(mail.messages[0]?.rcpts).toEqual(["ops@example.com"]);
    const along = async (id: string | null) => {
      const answer = await fetch(`${watch.app.address}/api/v1/recordings/${camera.id}/timeline`);
      const { items } = (await answer.json()) as { items: { reason: string; integration: string | null }[] };
      return items.flatMap((one) => (one.integration === id ? [one.reason] : []));
    };
    expect(await along(null)).toEqual(["observed_offline", "firing", "observed_online", "resolved"]);
    await until("the end is written down", async () => (await along("ops/slack/0")).join() === "notified,notified_end");
    expect(mail.messages[1]?.headers.references).toBe(mail.messages[0]?.headers["message-id"]);
  });
});
