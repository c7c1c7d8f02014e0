import { Redis } from "ioredis";
import { expect, it } from "vitest";
import { prepareWatch, type Stage, startWatch } from "../support/app.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

/** Under load the summary is made before everything was read, which it says. */
const OVER = /Treat (earlier alerts that are not listed|the others) as resolved/;

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
    expect(slack.starts.messages[0]?.shown).toMatch(OVER);
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
      expect(text).toMatch(OVER);
    }
    comesBack(watch, both[0]);
    expect((await slack.next()).text).toMatch(/^✅ Till \d+ recovered /);
    expect((await mail.next()).subject).toMatch(/^✅ Till \d+ recovered /);
    expect([slack.messages.length, mail.messages.length]).toEqual([1, 1]);
    expect(starts(watch)).toEqual([1, 1]);
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
      expect(text).toMatch(OVER);
    }
    comesBack(watch, first);
    await slack.waitFor(({ text, shown }) => text.startsWith("✅") && shown.includes(first.name));
    expect(starts(watch)).toEqual([2, 2]);
    const again = slack.messages.slice(2).filter(({ text }) => !text.startsWith("✅"));
    expect(again.map(({ text }) => text)).toEqual([]);
  });

  it.concurrent("of three replicas at once sends one summary to each integration", async () => {
    await using stage = await startWatch({
      before: (world) => world.setStatus(world.recordings[0]?.id ?? "", "offline"),
    });
    const [dark, later] = cameras(stage);
    await Promise.all([stage.join(), stage.join()]);
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
});

/** Whether a message of the integration was accepted and committed. */
function isTold({ log }: Daemon, integration: string): boolean {
  return log.some(({ msg, integration: id }) => msg === "notified" && String(id).startsWith(integration));
}
