import { expect, it } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import type { Reading } from "../../src/health/recording.ts";
import { createSweep } from "../../src/poll/sweep.ts";
import { locationRule, offlineRule, reading } from "../health/shard-history.ts";
import { HOUR, T0, useTestStore } from "../store/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { commitOf, plainSweep, rows, STEP, storedSweep } from "./rig.ts";

const halfOffline = {
  ...locationRule(),
  when: { kind: "location_offline", atLeast: 0.5, clearBelow: 0.5, minRecordings: 2 } as const,
};

describeWithRedis("a key that is evicted while an alert fires", () => {
  const testStore = useTestStore();

  it.each<["shard" | "alerts", Reading["status"] | "missing", number]>([
    ["shard", "online", 0],
    ["shard", "offline", 2],
    ["shard", "missing", 0],
    ["alerts", "online", 0],
    ["alerts", "offline", 2],
    ["alerts", "missing", 0],
  ])("%s, and the camera is %s from then on: %d alerts fire after an hour", async (key, status, firing) => {
    const store = testStore().replica();
    const assigned = createAssigned();
    assigned.set(new Map([["north", 0]]));
    const clock = { at: T0 };
    const row = (recordingId: string, now: Reading["status"]) =>
      reading(recordingId, { locationId: "north", status: now });
    let listed = [row("a", "offline"), row("b", "online")];
    const sweep = createSweep({
      ...plainSweep(clock, { forgetAfterMs: HOUR / 2 }),
      ...storedSweep(store),
      assigned,
      service: { statusUptime: async () => rows(...listed) },
      rules: [offlineRule(), halfOffline],
      commit: commitOf(),
    });
    await sweep(0);
    const before = await store.shards.alerts();
    expect(before).toHaveLength(2);
    await testStore().redis.del(key === "shard" ? store.keys.shard(0) : store.keys.alerts);
    listed = [...(status === "missing" ? [] : [row("a", status)]), row("b", "online")];
    for (let i = 0; i < 120; i++) {
      clock.at += STEP;
      await sweep(0);
    }
    const after = await testStore().replica().firing();
    expect(after.map(({ id }) => id).sort()).toEqual(firing === 0 ? [] : before.map(({ id }) => id).sort());
    const ended = (await store.episodes.endedSince(0)).filter(({ subject }) => subject.kind === "recording");
    const reason = status === "missing" ? "no_longer_watched" : "recovered";
    expect(ended.map(({ endReason }) => endReason)).toEqual(firing === 0 ? [reason] : []);
  });
});
