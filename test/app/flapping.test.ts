import { expect, it } from "vitest";
import { leapingClock, sweepsOf } from "../support/leaps.ts";
import { describeWithRedis } from "../support/redis.ts";
import { startWatch } from "../support/watch.ts";

const MINUTE = 60_000;

const FLAPPING = `
  - alert: RecordingFlapping
    when: { flapping: { high: 30%, low: 20% } }`;

async function stage(rules: string) {
  const clock = leapingClock();
  const watch = await startWatch({ clock, rules });
  const sweeps = await sweepsOf(watch);
  const [recording] = watch.simulator.world.locations[0]?.recordings ?? [];
  if (!recording) throw new Error("no recording");
  await sweeps.now();
  return {
    watch,
    clock,
    recording,
    /** It is so, and a minute later it is seen. What was read before and is not judged yet has to be out of the way. */
    async minute(status: "online" | "offline" | "degraded") {
      watch.simulator.world.setStatus(recording.id, status);
      await sweeps.now();
      clock.leap(MINUTE);
      await sweeps.now();
    },
    async [Symbol.asyncDispose]() {
      await sweeps[Symbol.asyncDispose]();
      await watch.close();
    },
  };
}

describeWithRedis("a camera that comes and goes", () => {
  it("is told of once when it flaps and once when it is steady, with what is true then", async () => {
    await using story = await stage(FLAPPING);
    const { watch, recording, minute } = story;
    for (let i = 0; i < 3; i++) {
      await minute("offline");
      await minute("online");
    }
    const begun = await watch.slack.next();
    expect(begun.text).toMatch(/^1 recording flapping · /);
    expect(begun.shown).toContain(recording.name);
    expect(begun.shown).toContain("flapping: 6 changes in 5 m");
    for (let i = 0; i < 4; i++) {
      await minute("offline");
      await minute("online");
    }
    await minute("offline");
    const darkAt = story.clock.now();
    while (watch.slack.messages.length < 2 && story.clock.now() < darkAt + 30 * MINUTE)
      await minute("offline");
    const steady = await watch.slack.next();
    expect(steady.text).toMatch(/^Steady again: 1 recording offline · /);
    expect(steady.shown).toMatch(/steady again: offline since \d\d:\d\d/);
    expect(steady.shown).not.toMatch(/recovered/i);
    expect(watch.slack.messages).toHaveLength(2);
  });
});
