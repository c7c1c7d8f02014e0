import { createHmac, timingSafeEqual } from "node:crypto";
import { expect, it } from "vitest";
import type { WebhookPayload } from "../../src/notify/webhook.ts";
import { startWatch, type Watch } from "../support/app.ts";
import { type HttpPost, type HttpSink, startHttpSink } from "../support/http-sink.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const SECRET = "a shared secret";

/** The check documented in docs/messages.md. */
function isOurs({ headers, text }: HttpPost, now: number): boolean {
  const at = String(headers["x-lenswatch-timestamp"]);
  const expected = `sha256=${createHmac("sha256", SECRET).update(`${at}.${text}`).digest("hex")}`;
  const given = String(headers["x-lenswatch-signature"]);
  const isSigned = given.length === expected.length && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
  return isSigned && Math.abs(now / 1_000 - Number(at)) < 300;
}

async function startHook(): Promise<HttpSink & AsyncDisposable> {
  const sink = await startHttpSink();
  return { ...sink, [Symbol.asyncDispose]: () => sink.close() };
}

const payload = ({ text }: HttpPost) => JSON.parse(text) as WebhookPayload;
const receivers = (hook: HttpSink, more = "") => `
  - name: ops
    webhook_configs: [ { url: "${hook.url}/hook?key=k3y", secret: "${SECRET}"${more} } ]`;

function cameras({ simulator }: Watch) {
  return simulator.world.locations.flatMap(({ recordings: [first] }) => (first ? [first] : []));
}

describeWithRedis("a webhook", () => {
  it.concurrent("gets firing and resolved alerts, signed, in Alertmanager's format", async () => {
    await using hook = await startHook();
    await using watch = await startWatch({ receivers: receivers(hook) });
    const [camera] = cameras(watch);
    if (!camera) throw new Error("no camera");
    watch.simulator.world.setStatus(camera.id, "offline");
    const first = await hook.next();
    expect(isOurs(first, Date.now())).toBe(true);
    expect(isOurs({ ...first, text: first.text.replace("firing", "FIRING") }, Date.now())).toBe(false);
    expect(isOurs(first, Date.now() + 600_000)).toBe(false);
    expect(first.path).toBe("/hook?key=k3y");
    expect(payload(first)).toMatchObject({
      version: "4",
      receiver: "ops",
      status: "firing",
      groupLabels: { location_id: camera.location.id },
      alerts: [{ status: "firing", labels: { alertname: "RecordingOffline", recording_id: camera.id } }],
    });
    watch.simulator.world.setStatus(camera.id, "online");
    const last = await hook.waitFor((post) => payload(post).status === "resolved");
    const [alert] = payload(last).alerts;
    expect(alert).toMatchObject({
      annotations: { end_reason: "recovered" },
      startsAt: payload(first).alerts[0]?.startsAt,
    });
    expect(Date.parse(alert?.endsAt ?? "")).toBeLessThanOrEqual(Date.now());
    expect(payload(last).groupKey).toBe(payload(first).groupKey);
    expect(hook.messages).toHaveLength(2);
  });

  it.concurrent("gets each group separately, however many, and no summary of a cold start", async () => {
    await using hook = await startHook();
    await using watch = await startWatch({
      receivers: receivers(hook),
      route: "{ receiver: ops, group_wait: 0s, group_interval: 1s, storm: { groups: 1 } }",
      simulator: { locations: 12, recordingsPerLocation: 1 },
      before: (world) => {
        for (const { id } of world.recordings) world.setStatus(id, "offline");
      },
    });
    await until("every group was told", () => hook.messages.length >= 12);
    const notified = hook.messages.map(payload);
    expect(notified.map(({ alerts }) => alerts.length)).toEqual(Array(12).fill(1));
    const places = new Set(notified.map(({ groupLabels }) => groupLabels.location_id));
    expect(places).toEqual(new Set(watch.simulator.world.locations.map(({ id }) => id)));
  });

  it.concurrent("that fails gets the message once it recovers, and its failure is notified elsewhere", async () => {
    await using hook = await startHook();
    let isBroken = true;
    hook.respond(() => ({ status: isBroken ? 503 : 204 }));
    await using watch = await startWatch();
    await watch.reload((config) =>
      config.replace(/email_configs:.*/, `webhook_configs: [ { url: "${hook.url}/s3cr3ts3cr3t" } ]`),
    );
    const [camera] = cameras(watch);
    if (!camera) throw new Error("no camera");
    watch.simulator.world.setStatus(camera.id, "offline");
    expect((await watch.slack.waitFor(({ shown }) => shown.includes(camera.name))).shown).toContain("offline");
    const notice = await watch.slack.waitFor(({ shown }) => shown.includes("ops / webhook"));
    expect(notice.shown).toContain("The webhook answered 503");
    expect(notice.shown).not.toContain("s3cr3t");
    const refused = hook.messages.length;
    isBroken = false;
    await until("it was told", () => hook.messages.length > refused);
    const [accepted] = hook.messages.slice(refused).map(payload);
    expect(accepted?.alerts.map(({ labels }) => labels.recording_id)).toEqual([camera.id]);
    const ids = hook.messages.map(({ headers }) => headers["x-lenswatch-message-id"]);
    expect(new Set(ids).size).toBe(1);
  });

  it.concurrent("with send_resolved: false gets no resolved notification", async () => {
    await using hook = await startHook();
    await using watch = await startWatch({ receivers: receivers(hook, ", send_resolved: false") });
    const [camera, other] = cameras(watch);
    if (!camera || !other) throw new Error("no camera");
    watch.simulator.world.setStatus(camera.id, "offline");
    await hook.next();
    watch.simulator.world.setStatus(camera.id, "online");
    await until("the end is known", async () => {
      const alerts = await fetch(`${watch.app.address}/api/v2/alerts`);
      return ((await alerts.json()) as unknown[]).length === 0;
    });
    watch.simulator.world.setStatus(other.id, "offline");
    expect(payload(await hook.next()).alerts.map(({ labels }) => labels.recording_id)).toEqual([other.id]);
  });
});
