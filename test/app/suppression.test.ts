import { expect, it } from "vitest";
import { camerasOf, metricsOf, startWatch, type Watch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const SITE_RULES = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
    labels: { severity: critical }
  - alert: LocationOffline
    when: { location_offline: { at_least: 100%, clear_below: 80%, min_recordings: 2 } }
    for: 0s
    labels: { severity: critical }`;

/** One message per alert. */
const APART =
  "{ receiver: ops, group_by: [alertname, recording_id], group_wait: 0s, group_interval: 1s, repeat_interval: 4h }";

function shop(watch: Watch, index = 0) {
  const location = watch.simulator.world.locations[index];
  if (!location) throw new Error("no such location");
  return location;
}

async function suppressed(watch: Watch, reason: string): Promise<number> {
  const text = await metricsOf(watch.app);
  const line = text
    .split("\n")
    .find((one) => one.startsWith("lenswatch_notifications_suppressed_total") && one.includes(`reason="${reason}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

const ADMIN = 'http: { listen: "127.0.0.1:0", admin_token: s3cret-of-the-admin }';

async function change(watch: Watch, method: string, path: string, body?: unknown): Promise<unknown> {
  const headers = { authorization: "Bearer s3cret-of-the-admin", "content-type": "application/json" };
  const response = await fetch(watch.app.address + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.status, await response.clone().text()).toBe(200);
  return method === "DELETE" ? undefined : response.json();
}

async function alertsOf(watch: Watch) {
  const response = await fetch(`${watch.app.address}/api/v2/alerts`);
  return (await response.json()) as {
    fingerprint: string;
    status: { state: string; silencedBy: string[]; acknowledgement?: { author: string } };
  }[];
}

interface TimelineItem {
  readonly text: string;
  readonly integration: string | null;
  readonly reason: string;
}

async function timelineOf({ app }: Watch, id: string): Promise<TimelineItem[]> {
  const response = await fetch(`${app.address}/api/v1/recordings/${id}/timeline`);
  return ((await response.json()) as { items: TimelineItem[] }).items;
}

const isReminderWithheld = ({ integration, reason }: TimelineItem) =>
  integration === "ops/slack/0" && reason === "acknowledged";

describeWithRedis("suppression", () => {
  it.concurrent("an offline location is one message that names its recordings; what is still offline when it recovers is sent then", async () => {
    await using watch = await startWatch({
      simulator: { locations: 2, recordingsPerLocation: 4 },
      rules: SITE_RULES,
      route: APART,
    });
    const { slack, mail, simulator } = watch;
    const { id, name, recordings } = shop(watch);
    const [first, second, ...others] = recordings;
    if (!first || !second) throw new Error("no recordings");
    simulator.world.setStatus(first.id, "offline");
    expect((await slack.next()).text).toMatch(/Till \d+ offline/);
    simulator.world.setStatus({ locationId: id }, "offline");
    const notified = await slack.next();
    expect(notified.text).toContain(`${name}: all 4 recordings offline`);
    expect(notified.shown).toContain("Covers 4 recordings: ");
    const letter = await mail.waitFor(({ subject }) => subject.includes("all 4 recordings offline"));
    for (const one of recordings) for (const text of [notified.shown, letter.text]) expect(text).toContain(one.name);
    await until("the alerts of the others were suppressed", async () => (await suppressed(watch, "inhibited")) >= 6);

    for (const one of [first, second]) simulator.world.setStatus(one.id, "online");
    const isAbout = (camera: { name: string }) => (one: { text: string; shown: string }) =>
      one.shown.includes(camera.name);
    for (const one of others) await slack.waitFor((said) => /Till \d+ offline/.test(said.text) && isAbout(one)(said));
    const end = await slack.waitFor((said) => said.text.startsWith("✅") && isAbout(first)(said));
    expect(end.shown).toMatch(/was offline/i);
    expect(slack.messages.some((said) => /Till \d+ offline/.test(said.text) && isAbout(second)(said))).toBe(false);
    for (const one of others) simulator.world.setStatus(one.id, "online");
    for (const one of others) await slack.waitFor((said) => said.text.startsWith("✅") && isAbout(one)(said));
  });

  it.concurrent("an acknowledgement suppresses the reminders of one episode, not its end, and not the next episode", async () => {
    await using watch = await startWatch({
      http: ADMIN,
      route: "{ receiver: ops, group_by: [recording_id], group_wait: 0s, group_interval: 1s, repeat_interval: 1s }",
    });
    const [camera] = camerasOf(watch);
    const { world } = watch.simulator;
    world.setStatus(camera.id, "offline");
    await watch.slack.next();
    expect((await watch.slack.next()).text).toMatch(/^🔴 Reminder/);
    const [alert] = await alertsOf(watch);
    const path = `/api/v1/alerts/${alert?.fingerprint}/ack`;
    const resumes = async () => {
      const { length } = watch.slack.messages;
      await until("reminders resume", () => watch.slack.messages.length > length);
    };
    await change(watch, "POST", path, { author: "dana", for: "6s" });
    await until("it is acknowledged", async () => (await alertsOf(watch))[0]?.status.state === "suppressed");
    await resumes();
    await change(watch, "POST", path, { author: "dana" });
    await change(watch, "DELETE", `${path}?author=sam`);
    await resumes();
    const said = (await timelineOf(watch, camera.id))
      .map(({ text }) => text)
      .filter((text) => /ack.* (dana|sam)( \(until .*)?$/.test(text));
    expect(said).toEqual([
      expect.stringMatching(/^RecordingOffline: acknowledged by dana \(until \d\d:\d\d GMT\)$/),
      "RecordingOffline: acknowledgement ran out, that of dana",
      "RecordingOffline: acknowledged by dana",
      "RecordingOffline: acknowledgement withdrawn by sam",
    ]);
    const withheld = async () => (await timelineOf(watch, camera.id)).filter(isReminderWithheld).length;
    const withheldBefore = await withheld();
    await change(watch, "POST", path, { author: "dana", comment: "on my way" });
    expect((await alertsOf(watch))[0]?.status).toMatchObject({
      state: "suppressed",
      acknowledgement: { author: "dana" },
    });
    // Slack's own decision: nothing that was claimed before the acknowledgement is under way there any more.
    await until("a reminder to Slack was suppressed", async () => (await withheld()) > withheldBefore);
    const before = watch.slack.messages.length;
    world.setStatus(camera.id, "online");
    await watch.slack.waitFor(({ text }) => text.startsWith("✅"));
    world.setStatus(camera.id, "offline");
    await until("the next episode is sent", () => watch.slack.messages.length >= before + 2);
    expect(watch.slack.messages.slice(before, before + 2).map(({ text }) => text)).toEqual([
      expect.stringMatching(/^✅/),
      expect.stringMatching(/^🔴 Till \d+ offline/),
    ]);
    expect((await alertsOf(watch))[0]?.status.state).toBe("active");
  });
});
