import { expect, it } from "vitest";
import { startWatch, type Watch } from "../support/app.ts";
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
  const text = await (await fetch(`${watch.app.address}/metrics`)).text();
  const line = text
    .split("\n")
    .find((one) => one.startsWith("lenswatch_notifications_suppressed_total") && one.includes(`reason="${reason}"`));
  return Number(line?.split(" ").at(-1) ?? 0);
}

const ADMIN = 'http: { listen: "127.0.0.1:0", admin_token: s3cret-of-the-admin }';
const QUIET = "{ receiver: ops, group_by: [recording_id], group_wait: 0s, group_interval: 1h, repeat_interval: 4h }";

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

async function silence(watch: Watch, name: string, value: string, ms: number): Promise<string> {
  const now = Date.now();
  const made = await change(watch, "POST", "/api/v2/silences", {
    matchers: [{ name, value, isRegex: false, isEqual: true }],
    startsAt: new Date(now).toISOString(),
    endsAt: new Date(now + ms).toISOString(),
    createdBy: "dana",
    comment: "rewiring",
  });
  return (made as { silenceID: string }).silenceID;
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

function cameras(watch: Watch) {
  const [first, second, third] = watch.simulator.world.recordings;
  if (!first || !second || !third) throw new Error("no cameras");
  return [first, second, third] as const;
}

/** A clock that runs from another moment on and can be moved forward. */
function movable(from: string) {
  let offset = Date.parse(from) - Date.now();
  return {
    now: () => Date.now() + offset,
    moveTo(moment: string) {
      offset = Date.parse(moment) - Date.now();
    },
  };
}

describeWithRedis("suppression", () => {
  it.concurrent("a location that recovers in part says how many did, and calls none of the others new", async () => {
    const route = "{ receiver: ops, group_by: [location_id], group_wait: 1s, group_interval: 1s, repeat_interval: 4h }";
    await using watch = await startWatch({ rules: SITE_RULES, route, simulator: { recordingsPerLocation: 4 } });
    const { recordings } = shop(watch);
    for (const { id } of recordings) watch.simulator.world.setStatus(id, "offline");
    await watch.slack.waitFor(({ text }) => text.includes("all 4 recordings offline"));
    await watch.mail.waitFor(({ subject }) => subject.includes("all 4 recordings offline"));
    for (const { id } of recordings.slice(0, 2)) watch.simulator.world.setStatus(id, "online");
    const change = /2 recordings still offline · .* — 2 of 4 recovered/;
    const slack = await watch.slack.waitFor(({ text }) => change.test(text));
    const mail = await watch.mail.waitFor(({ subject }) => change.test(subject));
    for (const text of [slack.shown, mail.text]) expect(text).not.toMatch(/new/i);
    for (const { id } of recordings.slice(2)) watch.simulator.world.setStatus(id, "online");
    await watch.slack.waitFor(({ text }) => text.startsWith("✅ 2 recordings recovered"));
  });

  it.concurrent("inhibition: an offline location is one message that names its recordings, and none for each", async () => {
    await using watch = await startWatch({
      simulator: { locations: 2, recordingsPerLocation: 4 },
      rules: SITE_RULES,
      route: APART,
    });
    const { world } = watch.simulator;
    const { id, name, recordings } = shop(watch);
    world.setStatus({ locationId: id }, "offline");
    const notified = await watch.slack.next();
    expect(notified.text).toContain(`${name}: all 4 recordings offline`);
    expect(notified.shown).toContain("Covers 4 recordings: ");
    for (const recording of recordings) expect(notified.shown).toContain(recording.name);
    const letter = await watch.mail.next();
    for (const recording of recordings) expect(letter.text).toContain(recording.name);
    await until("the alert of each recording was suppressed", async () => (await suppressed(watch, "inhibited")) >= 8);
    world.setStatus({ locationId: id }, "online");
    expect((await watch.slack.next()).text).toMatch(/^✅ .* recovered — /);
    expect((await watch.mail.next()).subject).toMatch(/^✅ .* recovered — /);
    world.setStatus(shop(watch, 1).recordings[0]?.id ?? "", "offline");
    expect((await watch.slack.next()).text).toMatch(/Till \d+ offline/);
    expect(watch.slack.messages).toHaveLength(3);
  });

  it.concurrent("inhibition: a recording still offline when its location recovers is notified then", async () => {
    await using watch = await startWatch({
      simulator: { locations: 2, recordingsPerLocation: 4 },
      rules: SITE_RULES,
      // Only the end of the location's alert triggers a new evaluation.
      route: APART.replace("group_interval: 1s", "group_interval: 1h"),
    });
    const { world } = watch.simulator;
    const { id, recordings } = shop(watch);
    world.setStatus({ locationId: id }, "offline");
    await watch.slack.next();
    await until("held", async () => (await suppressed(watch, "inhibited")) >= 8);
    const [first, second, ...others] = recordings;
    if (!first || !second) throw new Error("no recordings");
    for (const one of [first, second]) world.setStatus(one.id, "online");
    const notified = await Promise.all(
      others.map(({ name }) =>
        watch.slack.waitFor(({ shown, text }) => /Till \d+ offline/.test(text) && shown.includes(name)),
      ),
    );
    expect(notified).toHaveLength(2);
    expect(
      watch.slack.messages.some(({ text, shown }) => text.includes("1 recording") && shown.includes(first.name)),
    ).toBe(false);
  });

  it.concurrent("inhibition: an alert that was notified before gets its resolved notification", async () => {
    await using watch = await startWatch({
      simulator: { locations: 2, recordingsPerLocation: 2 },
      rules: SITE_RULES,
      route: APART,
    });
    const { world } = watch.simulator;
    const { name, recordings } = shop(watch);
    const [first, second] = recordings;
    if (!first || !second) throw new Error("no recordings");
    world.setStatus(first.id, "offline");
    expect((await watch.slack.next()).text).toMatch(/Till \d+ offline/);
    world.setStatus(second.id, "offline");
    const parent = await watch.slack.next();
    expect(parent.text).toContain(`${name}: all 2 recordings offline`);
    expect(parent.shown).toContain("Covers 2 recordings: ");
    world.setStatus(first.id, "online");
    const back = await watch.slack.waitFor(({ text, shown }) => text.startsWith("✅") && shown.includes(first.name));
    expect(back.shown).toMatch(/was offline/i);
    await watch.slack.waitFor(({ text, shown }) => /Till \d+ offline/.test(text) && shown.includes(second.name));
  });

  it.concurrent("a silence suppresses new alerts, and alerts that still fire when it is deleted are sent at once", async () => {
    await using watch = await startWatch({ http: ADMIN, route: QUIET });
    const [camera, other] = cameras(watch);
    const id = await silence(watch, "recording_id", camera.id, 3_600_000);
    watch.simulator.world.setStatus(camera.id, "offline");
    await until("suppressed at both", async () => (await suppressed(watch, "silenced")) >= 2);
    expect((await alertsOf(watch))[0]?.status).toMatchObject({ state: "suppressed", silencedBy: [id] });
    watch.simulator.world.setStatus(other.id, "offline");
    expect((await watch.slack.next()).shown).toContain(other.name);
    await change(watch, "DELETE", `/api/v2/silence/${id}`);
    expect((await watch.slack.next()).shown).toContain(camera.name);
    expect((await watch.mail.waitFor(({ text }) => text.includes(camera.name))).subject).toContain("offline");
  });

  it.concurrent("alerts that fire when a silence expires are sent then; those resolved meanwhile are not", async () => {
    await using watch = await startWatch({ http: ADMIN, route: QUIET });
    const [camera, brief] = cameras(watch);
    const { world } = watch.simulator;
    const began = Date.now();
    await silence(watch, "location_id", camera.location.id, 30_000);
    world.setStatus(camera.id, "offline");
    world.setStatus(brief.id, "offline");
    await until("suppressed at both", async () => (await suppressed(watch, "silenced")) >= 4);
    world.setStatus(brief.id, "online");
    await until(
      "the resolved alert is dropped",
      async () => (await suppressed(watch, "resolved_before_notified")) >= 2,
    );
    const notified = await watch.slack.next();
    expect(notified.shown).toContain(camera.name);
    expect(notified.receivedAt - began).toBeGreaterThanOrEqual(29_900);
    expect(watch.slack.messages.some(({ shown }) => shown.includes(brief.name))).toBe(false);
  });

  it.concurrent("a silence suppresses no resolved notification of an alert notified before", async () => {
    await using watch = await startWatch({ http: ADMIN });
    const [camera] = cameras(watch);
    watch.simulator.world.setStatus(camera.id, "offline");
    await watch.slack.next();
    await silence(watch, "recording_id", camera.id, 3_600_000);
    watch.simulator.world.setStatus(camera.id, "online");
    expect((await watch.slack.next()).text).toMatch(/^✅/);
  });

  it.concurrent("an acknowledgement suppresses the reminders of one episode, not its end, and not the next episode", async () => {
    await using watch = await startWatch({
      http: ADMIN,
      route: "{ receiver: ops, group_by: [recording_id], group_wait: 0s, group_interval: 1s, repeat_interval: 1s }",
    });
    const [camera] = cameras(watch);
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
    await change(watch, "POST", path, { author: "dana", for: "1s" });
    await until("it is acknowledged", async () => (await alertsOf(watch))[0]?.status.state === "suppressed");
    await resumes();
    await change(watch, "POST", path, { author: "dana" });
    await change(watch, "DELETE", `${path}?author=sam`);
    await resumes();
    const said = (await timelineOf(watch, camera.id))
      .map(({ text }) => text)
      .filter((text) => /ack.* (dana|sam)$|dana until/.test(text));
    expect(said).toEqual([
      expect.stringMatching(/^RecordingOffline: acknowledged by dana until \d\d:\d\d GMT$/),
      expect.stringMatching(/^RecordingOffline: acknowledgement ran out, that of dana until /),
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

  it.concurrent("a mute time suppresses everything over midnight and a clock change, ends included, and sends it afterwards", async () => {
    // London's clocks went forward on 29 March 2026 at 01:00.
    const clock = movable("2026-03-28T21:58:00Z");
    await using watch = await startWatch({
      clock,
      rules: SITE_RULES.split("  - alert: LocationOffline")[0] ?? "",
      route: `
  receiver: ops
  group_by: [recording_id]
  group_wait: 0s
  group_interval: 1s
  routes: [ { matchers: [ severity = critical ], mute_time_intervals: [ night ] } ]`,
      more: `
time_intervals:
  - name: night
    time_intervals:
      - { times: [ { start_time: "22:00", end_time: "24:00" } ], location: Europe/London }
      - { times: [ { start_time: "00:00", end_time: "06:00" } ], location: Europe/London }`,
    });
    const [notified, dark, brief] = cameras(watch);
    const { world } = watch.simulator;
    world.setStatus(notified.id, "offline");
    expect((await watch.slack.next()).shown).toContain(notified.name);
    clock.moveTo("2026-03-28T22:30:00Z");
    world.setStatus(notified.id, "online");
    world.setStatus(dark.id, "offline");
    world.setStatus(brief.id, "offline");
    const metrics = async () => (await fetch(`${watch.app.address}/metrics`)).text();
    await until("both were seen dark", async () =>
      (await metrics()).includes('lenswatch_recordings{status="offline"} 2'),
    );
    await until("all three are suppressed", async () => (await suppressed(watch, "muted")) >= 6);
    world.setStatus(brief.id, "online");
    await until("one was seen back", async () =>
      (await metrics()).includes('lenswatch_recordings{status="offline"} 1'),
    );
    clock.moveTo("2026-03-29T04:59:50Z");
    const before = await suppressed(watch, "muted");
    await until("still muted at ten to six, summer time", async () => (await suppressed(watch, "muted")) > before + 2);
    expect(watch.slack.messages).toHaveLength(1);
    clock.moveTo("2026-03-29T05:00:01Z");
    const first = await watch.slack.waitFor(({ shown }) => shown.includes(dark.name));
    expect(first.shown).toMatch(/since (Sat 28 Mar )?22:30 GMT/i);
    const end = await watch.slack.waitFor(({ text }) => text.startsWith("✅"));
    expect(end.shown).toContain(notified.name);
    expect(end.shown).toMatch(/was offline .*21:58.*22:30 GMT/i);
    expect(watch.slack.messages.some(({ shown }) => shown.includes(brief.name))).toBe(false);
  });
});
