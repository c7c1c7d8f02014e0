import { expect, it } from "vitest";
import { pictured, prepareWatch, type Stage, startWatch } from "../support/app.ts";
import { startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

/** Every recording counts at any hour. */
const RULES = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
    respect_schedule: false
    labels: { severity: critical }`;

/** Sets all of them to the status at once. */
function turn({ simulator: { world } }: Stage, status: "offline" | "online"): void {
  for (const { id } of world.locations) world.setStatus({ locationId: id }, status);
}

/** Sums the recordings in titles such as `1,000 recordings offline at 50 locations`. */
function counted(titles: readonly string[], pattern: RegExp): number {
  return titles.reduce((sum, title) => sum + Number(pattern.exec(title)?.[1]?.replaceAll(",", "") ?? 0), 0);
}

const DARK = /^🔴 ([\d,]+) recordings? offline/;
const BACK = /^✅ ([\d,]+) recordings? recovered/;

const slackTitles = ({ slack }: Stage) => slack.messages.map(({ text }) => text.split("\n")[0] ?? "");
const mailTitles = ({ mail }: Stage) => mail.messages.map(({ subject }) => subject);

async function toldAll(stage: Stage, pattern: RegExp, recordings: number): Promise<void> {
  for (const titles of [slackTitles, mailTitles])
    await until(`${recordings} told: ${pattern}`, () => counted(titles(stage), pattern) >= recordings);
}

describeWithRedis("a storm", () => {
  it.concurrent("is reported in its current state when the receiver is back", async () => {
    const simulator = { locations: 30, recordingsPerLocation: 2, traits: { organisations: 2 } };
    await using watch = await startWatch({ rules: RULES, simulator });
    const { world } = watch.simulator;
    watch.slack.respond({ status: 503, body: "down" });
    turn(watch, "offline");
    await until("told by mail", () => counted(mailTitles(watch), DARK) === 60);
    await until("tried at Slack", () => watch.slack.messages.length > 0);
    const [first] = world.locations;
    for (const { id, organisation } of world.locations)
      if (organisation !== first?.organisation) world.setStatus({ locationId: id }, "online");
    await until("ends told by mail", () => counted(mailTitles(watch), BACK) === 30);
    const refused = watch.slack.messages.length;
    watch.slack.respond(({ text }) => ({ status: text === "" ? 400 : 200, body: "ok" }));
    await watch.slack.waitFor((message) => watch.slack.messages.indexOf(message) >= refused);
    const [title = ""] = slackTitles(watch).slice(refused);
    expect(title).toBe("🔴 30 recordings offline at 15 locations — 30 recovered");
    expect(watch.slack.messages[refused]?.shown).toMatch(/\* 2 recordings/);
  });

  it.concurrent("interrupted by kill -9 is sent at most once more, as one message, and its end is sent", async () => {
    await using stage = await prepareWatch({ rules: RULES, simulator: { locations: 40, recordingsPerLocation: 5 } });
    stage.slack.respond("hang");
    const doomed = await startDaemon(stage.config);
    await pictured(stage);
    turn(stage, "offline");
    await stage.slack.next();
    await doomed.end("SIGKILL");
    stage.slack.respond({ status: 200, body: "ok" });
    const daemon = await startDaemon(stage.config);
    await toldAll(stage, DARK, 200);
    await stage.slack.waitFor((message) => message !== stage.slack.messages[0]);
    turn(stage, "online");
    await toldAll(stage, BACK, 200);
    expect(await daemon.end("SIGTERM")).toBe(0);
    expect(slackTitles(stage).filter((title) => DARK.test(title))).toHaveLength(2);
    for (const titles of [slackTitles(stage), mailTitles(stage)]) {
      expect(titles.filter((title) => DARK.test(title)).length).toBeLessThanOrEqual(2);
      expect(titles.filter((title) => BACK.test(title))).toHaveLength(1);
    }
  });

  it.concurrent("found shard after shard is gathered", async () => {
    await using watch = await startWatch({
      rules: RULES,
      simulator: { locations: 120, recordingsPerLocation: 2 },
      watch: "{ status_interval: 3s, uptime_interval: 1h, inventory_interval: 1h, locations_per_request: 6 }",
    });
    turn(watch, "offline");
    await toldAll(watch, DARK, 240);
    turn(watch, "online");
    await toldAll(watch, BACK, 240);
    for (const titles of [slackTitles(watch), mailTitles(watch)]) {
      expect(titles.length).toBeLessThanOrEqual(8);
      expect(counted(titles, DARK)).toBe(240);
      expect(counted(titles, BACK)).toBe(240);
    }
  });

  it.concurrent("caused by a failure of the service is one message, and so is its end", async () => {
    await using watch = await blindStorm();
    turn(watch, "online");
    watch.simulator.faults.clearAll();
    await notified(watch, /^✅ Analytics service.* recovered/);
    await swept(watch);
    for (const titles of [slackTitles(watch), mailTitles(watch)]) expect(titles).toHaveLength(2);
  });
});

/**
 * A service that says that all is dark and is gone itself before anybody was told: nobody was to be told that it is
 * dark, and somebody was to be told that it is gone.
 */
async function blindStorm() {
  const watch = await startWatch({
    rules: `${RULES}
  - alert: ServiceUnreachable
    when: { service: unreachable }
    for: 1s
    labels: { severity: critical }`,
    simulator: { locations: 50, recordingsPerLocation: 4 },
    watch: "{ status_interval: 1s, uptime_interval: 1h, inventory_interval: 1h, locations_per_request: 10 }",
    route: `
  receiver: ops
  group_by: [location_id]
  group_wait: 45s
  group_interval: 1s
  repeat_interval: 4h
  routes: [ { matchers: [ alertname = "ServiceUnreachable" ], group_wait: 0s } ]`,
  });
  turn(watch, "offline");
  const metrics = async () => await (await fetch(`${watch.app.address}/metrics`)).text();
  const firing = /^lenswatch_alerts\{alertname="RecordingOffline",severity="critical",state="firing"\} 200$/m;
  await until("all fire", async () => firing.test(await metrics()));
  watch.simulator.faults.set("http_error", { status: 503 });
  watch.simulator.faults.set("drop_sockets", {});
  await notified(watch, /unreachable/i);
  const suppressed = /suppressed_total\{receiver="ops",reason="inhibited"\} (\d+)/;
  await until("all are held back", async () => Number(suppressed.exec(await metrics())?.[1] ?? 0) >= 100);
  for (const titles of [slackTitles(watch), mailTitles(watch)]) expect(titles).toHaveLength(1);
  return watch;
}

async function notified(stage: Stage, title: RegExp): Promise<void> {
  for (const titles of [slackTitles, mailTitles])
    await until(`told: ${title}`, () => titles(stage).some((one) => title.test(one)));
}

/** Waits for two more sweeps of all shards, after which everything due is sent. */
async function swept({ simulator }: Stage): Promise<void> {
  let answers = 0;
  simulator.events.on("request", ({ endpoint }) => {
    if (endpoint === "status/uptime") answers++;
  });
  await until("swept", () => answers >= 15);
}
