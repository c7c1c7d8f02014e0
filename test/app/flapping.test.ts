import { expect, it } from "vitest";
import { startWatch } from "../support/app.ts";
import { leapingClock, sweepingOften, sweepsOf } from "../support/clock-jumps.ts";
import { describeWithRedis } from "../support/redis.ts";

const MINUTE = 60_000;

const FLAPPING = `
  - alert: RecordingFlapping
    when: { flapping: { high: 30%, low: 20% } }`;

const OFFLINE = `
  - alert: RecordingOffline
    when: { status: offline }
    keep_firing_for: 1m`;

async function stage(rules: string) {
  const clock = leapingClock();
  const watch = await startWatch({ clock, rules, adjust: sweepingOften });
  const sweeps = sweepsOf(watch);
  const [recording] = watch.simulator.world.locations[0]?.recordings ?? [];
  if (!recording) throw new Error("no recording");
  await sweeps.now();
  return {
    watch,
    clock,
    recording,
    /** Sets the status, waits until readings in flight are evaluated, and moves the clock on by a minute. */
    async minute(status: "online" | "offline" | "degraded") {
      watch.simulator.world.setStatus(recording.id, status);
      await sweeps.now();
      clock.leap(MINUTE);
      await sweeps.now();
    },
    async [Symbol.asyncDispose]() {
      sweeps[Symbol.dispose]();
      await watch.close();
    },
  };
}

describeWithRedis("a flapping recording", () => {
  it("suppresses single outages meanwhile, and the end of an earlier one comes with its own", async () => {
    await using story = await stage(`${OFFLINE}${FLAPPING}`);
    const { watch, recording, minute } = story;
    await minute("offline");
    expect((await watch.slack.next()).text).toMatch(/^🔵 Till \d+ offline · /);
    for (let i = 0; i < 3; i++) {
      await minute("online");
      await minute("offline");
    }
    const begun = await watch.slack.next();
    expect(begun.text).toMatch(/^🔵 Till \d+ flapping · /);
    expect(begun.shown).not.toContain("offline since");
    for (let i = 0; i < 4; i++) {
      await minute("online");
      await minute("offline");
    }
    const onlineAt = story.clock.now();
    while (watch.slack.messages.length < 3 && story.clock.now() < onlineAt + 30 * MINUTE) await minute("online");
    const ended = await watch.slack.next();
    expect(ended.text).toMatch(/^✅ Till \d+ recovered · /);
    expect(ended.shown).toContain("steady again: online since");
    expect(ended.shown).toContain("recovered, was offline");
    for (let i = 0; i < 3; i++) await minute("online");
    expect(watch.slack.messages.map(({ text }) => text)).toHaveLength(3);
    expect(watch.slack.messages.every(({ shown }) => shown.includes(recording.name))).toBe(true);
  });
});
