import { Redis } from "ioredis";
import { DateTime } from "luxon";
import { expect, it } from "vitest";
import { keysUnder } from "../../src/store/keys.ts";
import { startWatch, type Watch } from "../support/app.ts";
import { leapingClock, sweepingOften, sweepsOf } from "../support/clock-jumps.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

/** A reading from before a clock jump counts once, so it does not add to `for`. */
const offline = (more = "") => `
  - alert: RecordingOffline
    when: { status: offline }
    for: 1s${more}`;

/** From now to the next such hour of a zone. */
function msUntil(hour: number, zone: string, at: number): number {
  const now = DateTime.fromMillis(at, { zone });
  const next = now.set({ hour, minute: 1, second: 0 });
  return (next > now ? next : next.plus({ days: 1 })).toMillis() - at;
}

/** A daemon that knows the schedules, restarted with these rules. */
async function stage(rules: string) {
  const clock = leapingClock();
  const watch = await startWatch({
    clock,
    rules: "[]",
    adjust: sweepingOften,
    simulator: { traits: { token_lifetime: "30d" } },
    route: "{ receiver: ops, group_by: [location_id], group_wait: 0s, group_interval: 1s, repeat_interval: 3h }",
    watch: "{ status_interval: 1s, uptime_interval: 1s, inventory_interval: 1h }",
    // What is offline before its schedule is learned is not said to be outside of it.
    before: ({ recordings }) => {
      const zone = recordings.find(({ useUploadingSchedule }) => useUploadingSchedule)?.location.timezone ?? "UTC";
      clock.leap(msUntil(12, zone, clock.now()));
    },
  });
  const sweeps = sweepsOf(watch);
  const { recordings } = watch.simulator.world;
  const scheduled = recordings.find(({ useUploadingSchedule }) => useUploadingSchedule);
  const other = recordings.find(({ useUploadingSchedule }) => !useUploadingSchedule);
  if (!scheduled || !other) throw new Error("no such recordings");
  const zone = scheduled.location.timezone;
  const redis = new Redis(watch.redis.url);
  const keys = keysUnder("lenswatch");
  const figures = () => redis.hget(keys.figures(0), "d");
  await until("the schedule is learned", async () => ((await figures()) ?? "").includes(zone));
  await watch.app.stop();
  watch.config = watch.config.replace("rules: []", `rules: ${rules}`);
  await watch.start();
  await sweeps.now();
  let notifiedAt = clock.now();
  let [status, hour] = ["online", 12];
  /** While it does not upload, the service shows a recording as offline. */
  const show = () => watch.simulator.world.setStatus(scheduled.id, hour >= 8 && hour < 20 ? status : "offline");
  return {
    watch,
    scheduled,
    other,
    /** Moves the clock to the next such hour at the location, and waits for a sweep. */
    async untilHour(next: number) {
      hour = next;
      clock.leap(msUntil(hour, zone, clock.now()));
      show();
      await sweeps.now();
    },
    /** What the scheduled recording is while it uploads. */
    becomes(next: string) {
      status = next;
      show();
    },
    sweep: () => sweeps.now(),
    /** Slack gets a message before it is committed; the clock must not jump in between. */
    async writtenDown() {
      const notified = () => redis.hvals(keys.notificationLog("ops/slack/0"));
      const last = async () => Math.max(0, ...(await notified()).map((one) => JSON.parse(one).notifiedAt));
      await until("the message is in the notification log", async () => (await last()) > notifiedAt);
      notifiedAt = await last();
    },
    async [Symbol.asyncDispose]() {
      redis.disconnect();
      sweeps[Symbol.dispose]();
      await watch.close();
    },
  };
}

/** The decision log of a recording's last day, one sentence each. */
async function why({ app }: Watch, id: string): Promise<string[]> {
  const timeline = await fetch(`${app.address}/api/v1/recordings/${id}/timeline`);
  return ((await timeline.json()) as { items: { text: string }[] }).items.map(({ text }) => text);
}

describeWithRedis("a recording with an uploading schedule", () => {
  it("is not notified outside its schedule, while others are; within it is, and the end of the schedule does not resolve it", async () => {
    await using story = await stage(offline());
    const { watch, scheduled, other, becomes, untilHour, sweep, writtenDown } = story;
    await untilHour(21);
    const { world } = watch.simulator;
    world.setStatus(other.id, "offline");
    expect((await watch.slack.next()).shown).toContain(other.name);
    world.setStatus(other.id, "online");
    expect((await watch.slack.next()).text).toMatch(/^✅/);
    expect(await why(watch, scheduled.id)).toContain("not online outside its uploading schedule, not evaluated");
    await untilHour(9);
    becomes("offline");
    await sweep();
    const notified = await watch.slack.next();
    expect(notified.shown).toContain(scheduled.name);
    await writtenDown();
    await untilHour(19);
    expect((await watch.slack.next()).text).toMatch(/^🔵 Reminder: Till \d+ still offline/);
    await writtenDown();
    await untilHour(21);
    await untilHour(23);
    await until("a reminder is held", async () =>
      /suppressed_total\{receiver="ops",reason="paused"\} [1-9]/.test(
        await (await fetch(`${watch.app.address}/metrics`)).text(),
      ),
    );
    becomes("online");
    await untilHour(1);
    expect(watch.slack.messages, "no reminder, and no end").toHaveLength(4);
    await untilHour(9);
    const ended = await watch.slack.next();
    expect(ended.text).toMatch(/^✅ Till \d+ recovered · /);
    expect(ended.shown).toContain(scheduled.name);
    await untilHour(22);
    await untilHour(9);
    expect(watch.slack.messages).toHaveLength(5);
  });
});
