import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { pictured, prepareWatch, type Stage, startWatch } from "../support/app.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { seededRandom } from "../support/random.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const KILLS = 4;
const OVER = "Treat earlier alerts that are not listed as resolved";

function cameras({ simulator }: Pick<Stage, "simulator">) {
  const [first, second] = simulator.world.locations.map(({ recordings }) => recordings[0]);
  if (!first || !second) throw new Error("no cameras");
  return [first, second] as const;
}

const goesDark = ({ simulator }: Pick<Stage, "simulator">, ...of: readonly { readonly id: string }[]) => {
  for (const { id } of of) simulator.world.setStatus(id, "offline");
};

const comesBack = ({ simulator }: Pick<Stage, "simulator">, { id }: { readonly id: string }) =>
  simulator.world.setStatus(id, "online");

/** Number of summaries received by Slack and by mail. */
const starts = ({ slack, mail }: Pick<Stage, "slack" | "mail">) => [
  slack.starts.messages.length,
  mail.starts.messages.length,
];

async function emptied({ redis: { url } }: Pick<Stage, "redis">): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  redis.disconnect();
}

describeWithRedis("a cold start", () => {
  it.concurrent("sends one summary to each integration, also with nothing offline, and none after a restart", async () => {
    await using watch = await startWatch();
    const { slack, mail } = watch;
    const title = "🔵 lenswatch started with an empty store: no active alerts";
    expect((await slack.starts.next()).text.split("\n")[0]).toBe(title);
    expect((await mail.starts.next()).subject).toBe(title);
    expect(slack.starts.messages[0]?.shown).toContain(OVER);
    await watch.app.stop();
    await watch.start();
    goesDark(watch, cameras(watch)[0]);
    await Promise.all([slack.next(), mail.next()]);
    expect(starts(watch)).toEqual([1, 1]);
  });

  it.concurrent("lists offline recordings, which are not sent again; their end is sent as usual", async () => {
    await using watch = await startWatch({
      before: (world) => {
        for (const { recordings } of world.locations.slice(0, 2)) world.setStatus(recordings[0]?.id ?? "", "offline");
      },
    });
    const { slack, mail } = watch;
    const both = cameras(watch);
    const [said, mailed] = await Promise.all([slack.starts.next(), mail.starts.next()]);
    expect(mailed.subject).toMatch(/^🔴 lenswatch started with an empty store: 2 recordings offline · /);
    for (const text of [said.shown, mailed.text]) {
      for (const { name } of both) expect(text).toContain(name);
      expect(text).toContain(OVER);
    }
    comesBack(watch, both[0]);
    expect((await slack.next()).text).toMatch(/^✅ Till \d+ recovered /);
    expect((await mail.next()).subject).toMatch(/^✅ Till \d+ recovered /);
    expect([slack.messages.length, mail.messages.length]).toEqual([1, 1]);
    expect(starts(watch)).toEqual([1, 1]);
  });

  it.concurrent("waits for alerts about to fire, so that the summary includes them", async () => {
    await using watch = await startWatch({
      rules: `
  - alert: RecordingOffline
    when: { status: offline }
    for: 2s`,
      before: (world) => world.setStatus(world.recordings[0]?.id ?? "", "offline"),
    });
    expect((await watch.slack.starts.next()).text).toMatch(/with an empty store: Till \d+ offline/);
    comesBack(watch, cameras(watch)[0]);
    expect((await watch.slack.next()).text).toMatch(/^✅/);
  });

  it.concurrent("delays no notification for a pending alert, and does not report it as resolved", async () => {
    await using watch = await startWatch({
      rules: `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
  - alert: RecordingDegraded
    when: { status: degraded }
    for: 4m`,
      before(world) {
        const [dark, poor] = world.recordings;
        world.setStatus(dark?.id ?? "", "offline");
        world.setStatus(poor?.id ?? "", "degraded");
      },
    });
    const said = await watch.slack.starts.next();
    expect(said.text).toMatch(/with an empty store: Till \d+ offline/);
    expect(said.shown).toContain("Alerts of 1 recording are pending");
  });

  it.concurrent("of an offline fleet sends one message that groups recordings by location", async () => {
    await using watch = await startWatch({
      simulator: { locations: 30, recordingsPerLocation: 3 },
      rules: `
  - alert: RecordingOffline
    when: { status: offline }
    for: 1s
    respect_schedule: false
  - alert: LocationOffline
    when: { location_offline: { at_least: 100%, clear_below: 80%, min_recordings: 2 } }
    for: 0s
    respect_schedule: false`,
      route: "{ receiver: ops, group_by: [location_id], group_wait: 2s, group_interval: 1s, repeat_interval: 4h }",
      before(world) {
        for (const { id } of world.locations) world.setStatus({ locationId: id }, "offline");
      },
    });
    const { slack, mail, simulator } = watch;
    expect((await mail.starts.next()).subject).toBe(
      "🔵 lenswatch started with an empty store: 90 recordings offline at 30 locations",
    );
    const { shown } = await slack.starts.next();
    expect(simulator.world.locations.filter(({ name }) => shown.includes(name))).toHaveLength(8);
    expect(shown).toContain("and 22 more locations");
    for (const { id } of simulator.world.locations) simulator.world.setStatus({ locationId: id }, "online");
    const end = await slack.waitFor(({ text }) => text.startsWith("✅"));
    expect(end.text).toContain("30 locations");
    expect(starts(watch)).toEqual([1, 1]);
  });

  it.concurrent("leaves out muted alerts, and mentions that there are some", async () => {
    await using watch = await startWatch({
      route: `
  receiver: ops
  group_by: [location_id]
  group_wait: 0s
  group_interval: 1s
  routes: [ { matchers: [ severity = critical ], mute_time_intervals: [ always ] } ]`,
      more: `
time_intervals:
  - name: always
    time_intervals: [ { times: [ { start_time: "00:00", end_time: "24:00" } ] } ]`,
      before: (world) => world.setStatus(world.recordings[0]?.id ?? "", "offline"),
    });
    const said = await watch.slack.starts.next();
    expect(said.text).toContain("with an empty store: all active alerts are suppressed");
    expect(said.shown).toContain("1 alert suppressed");
    expect(said.shown).not.toContain(cameras(watch)[0].name);
    expect(watch.slack.messages).toEqual([]);
  });

  it.concurrent("reports unread recordings as unknown; alerts found later are sent as new", async () => {
    await using watch = await startWatch({
      rules: `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s`,
      before(world, faults) {
        world.setStatus(world.recordings[0]?.id ?? "", "offline");
        faults.set("error_payload", { endpoint: "status/uptime" });
      },
    });
    const { simulator, slack } = watch;
    const [camera] = cameras(watch);
    const said = await slack.starts.next();
    expect(said.text).toContain("with an empty store: state not known yet");
    expect(said.shown).toContain("may still be active: they are sent again");
    simulator.faults.clearAll();
    expect((await slack.next()).shown).toContain(camera.name);
    comesBack(watch, camera);
    expect((await slack.next()).text).toMatch(/^✅/);
    expect(slack.starts.messages).toHaveLength(1);
  });

  it.concurrent("reports an unreachable service at once", async () => {
    await using watch = await startWatch({
      before: (_, faults) => faults.set("error_payload", { endpoint: "status/uptime" }),
    });
    const said = await watch.slack.starts.next();
    expect(said.text).toContain("with an empty store: Analytics service unreachable");
    watch.simulator.faults.clearAll();
    expect((await watch.slack.next()).text).toMatch(/^✅ Analytics service recovered/);
  });

  it.concurrent("a Redis emptied while running: one more summary, and ends are sent as usual", async () => {
    await using watch = await startWatch();
    const { slack, mail } = watch;
    const [first, second] = cameras(watch);
    await Promise.all([slack.starts.next(), mail.starts.next()]);
    goesDark(watch, first, second);
    await until("both were told", () => slack.messages.length === 2 && mail.messages.length === 2);
    comesBack(watch, second);
    await emptied(watch);
    const [said, mailed] = await Promise.all([slack.starts.next(), mail.starts.next()]);
    for (const text of [said.shown, mailed.text]) {
      expect(text).toContain(first.name);
      expect(text).not.toContain(second.name);
      expect(text).toContain(OVER);
    }
    comesBack(watch, first);
    await slack.waitFor(({ text, shown }) => text.startsWith("✅") && shown.includes(first.name));
    expect(starts(watch)).toEqual([2, 2]);
    const again = slack.messages.slice(2).filter(({ text }) => !text.startsWith("✅"));
    expect(again.map(({ text }) => text)).toEqual([]);
  });

  it.concurrent("of three replicas at once sends one summary to each integration", async () => {
    await using stage = await prepareWatch();
    const [dark, later] = cameras(stage);
    goesDark(stage, dark);
    const replicas = await Promise.all([1, 2, 3].map(() => startDaemon(stage.config)));
    await Promise.all(replicas.map((replica) => replica.logged("started")));
    await pictured(stage);
    goesDark(stage, later);
    await Promise.all([stage.slack.next(), stage.mail.next()]);
    expect(stage.slack.messages[0]?.shown).toContain(later.name);
    expect(starts(stage)).toEqual([1, 1]);
    await emptied(stage);
    const isAgain = ({ messages }: { messages: readonly unknown[] }) => messages.length > 1;
    await until("told again", () => isAgain(stage.slack.starts) && isAgain(stage.mail.starts));
    for (const { name } of [dark, later]) expect(stage.slack.starts.messages[1]?.shown).toContain(name);
    comesBack(stage, dark);
    await stage.slack.waitFor(({ text, shown }) => text.startsWith("✅") && shown.includes(dark.name));
    expect(stage.slack.messages).toHaveLength(2);
    expect(starts(stage)).toEqual([2, 2]);
    for (const replica of replicas) await replica.end("SIGTERM");
  });

  it.concurrent("of a replica with the role deliver only waits for the first sweep of the others, for a limited time", async () => {
    await using watch = await startWatch({ role: "notify" });
    const [camera] = cameras(watch);
    goesDark(watch, camera);
    const began = performance.now();
    const said = await watch.slack.starts.next();
    expect(said.text).toContain("with an empty store: state not known yet");
    expect(performance.now() - began).toBeGreaterThan(5_000);
    await watch.join("poll");
    expect((await watch.slack.next()).shown).toContain(camera.name);
    await watch.app.stop();
    await emptied(watch);
    await watch.join("notify");
    expect((await watch.slack.starts.next()).shown).toContain(camera.name);
    expect(watch.slack.messages).toHaveLength(1);
  });

  it.concurrent("sends no summary to an integration added later, which gets firing alerts as new", async () => {
    await using watch = await startWatch({
      receivers: `
  - name: ops
    email_configs: [ { to: [ ops@example.com ] } ]`,
    });
    const [camera] = cameras(watch);
    goesDark(watch, camera);
    await watch.mail.next();
    await watch.reload((config) =>
      config.replace("  - name: ops\n", `  - name: ops\n    slack_configs: [ { api_url: "${watch.slack.url}" } ]\n`),
    );
    expect((await watch.slack.next()).text).toMatch(/^🔴 Till \d+ offline · /);
    expect(starts(watch)).toEqual([0, 1]);
  });

  it.concurrent("a refused summary delays no notification, and is sent once it is accepted", async () => {
    await using stage = await prepareWatch();
    const { slack } = stage;
    const [dark, later] = cameras(stage);
    goesDark(stage, dark);
    slack.starts.respond({ status: 400, body: "invalid_blocks" });
    const daemon = await startDaemon(stage.config);
    await daemon.logged("notification failed, retrying");
    goesDark(stage, later);
    await slack.waitFor(({ shown }) => shown.includes(later.name));
    const refused = slack.starts.messages.length;
    slack.starts.respond({ status: 200, body: "ok" });
    const said = await slack.starts.waitFor((one) => slack.starts.messages.indexOf(one) >= refused);
    expect(said.shown).toContain(dark.name);
    await daemon.end("SIGTERM");
  });

  it.concurrent("killed while the summary is being sent, sends it once more and no third time", async () => {
    await using stage = await prepareWatch();
    const { slack, mail } = stage;
    const [dark, later] = cameras(stage);
    goesDark(stage, dark);
    slack.starts.respond("hang");
    const doomed = await startDaemon(stage.config);
    await Promise.all([slack.starts.next(), mail.starts.next()]);
    await until("the mail was written down", () => isTold(doomed, "ops/email"));
    await doomed.end("SIGKILL");
    slack.starts.respond({ status: 200, body: "ok" });
    const daemon = await startDaemon(stage.config);
    expect((await slack.starts.next()).shown).toContain(dark.name);
    goesDark(stage, later);
    expect((await slack.next()).shown).toContain(later.name);
    expect(slack.messages.filter(({ shown }) => shown.includes(dark.name))).toEqual([]);
    expect(starts(stage)).toEqual([2, 1]);
    await daemon.end("SIGTERM");
  });

  it.concurrent("killed at any moment, repeats the summary at most once for each kill and loses nothing", async () => {
    await using stage = await prepareWatch();
    const { slack, mail } = stage;
    const [dark, later] = cameras(stage);
    goesDark(stage, dark);
    const random = seededRandom(7);
    for (let kill = 0; kill < KILLS; kill++) {
      const daemon = await startDaemon(stage.config);
      await daemon.logged("started");
      await sleep(random() * 1_200);
      await daemon.end("SIGKILL");
    }
    const daemon = await startDaemon(stage.config);
    await pictured(stage);
    goesDark(stage, later);
    await slack.waitFor(({ shown }) => shown.includes(later.name));
    await mail.waitFor(({ text }) => text.includes(later.name));
    for (const sink of [slack, mail]) {
      expect(sink.starts.messages.length).toBeGreaterThanOrEqual(1);
      expect(sink.starts.messages.length).toBeLessThanOrEqual(1 + KILLS);
    }
    expect(slack.starts.messages.every(({ shown }) => shown.includes(dark.name))).toBe(true);
    expect(slack.messages.filter(({ shown }) => shown.includes(dark.name))).toEqual([]);
    await daemon.end("SIGTERM");
  });
});

/** Whether a message of the integration was accepted and committed. */
function isTold({ log }: Daemon, integration: string): boolean {
  return log.some(({ msg, integration: id }) => msg === "notified" && String(id).startsWith(integration));
}
