import { expect, it } from "vitest";
import { createAssigned } from "../../src/cluster/shard-assignment.ts";
import { createScheduleLookup } from "../../src/poll/schedule-lookup.ts";
import { createSweep } from "../../src/poll/sweep.ts";
import { createRefreshUptime } from "../../src/poll/uptime.ts";
import { reading, rule, uptimeRule } from "../health/shard-history.ts";
import { HOUR, MINUTE, useTestStore } from "../store/fixtures.ts";
import { aRecording } from "../support/fixtures.ts";
import { describeWithRedis } from "../support/redis.ts";
import { bucketsWithin, commitOf, isOpen, plainSweep, rows, STEP, storedSweep, UNBROKEN, uptimeOver } from "./rig.ts";

const notUploading = rule(
  "RecordingNotUploading",
  { kind: "segments_received", below: 0.05, clearAbove: 0.5, overMs: HOUR },
  { forMs: 20 * MINUTE },
);
const fleet = Array.from({ length: 10 }, (_, i) =>
  aRecording(`r${i}`, { locationId: "north", useUploadingSchedule: true, timezone: "UTC" }),
);

describeWithRedis("figures that are late", () => {
  const testStore = useTestStore();
  it.each([
    [2, "made up for", [uptimeRule(), notUploading]],
    [3, "never made up for", [uptimeRule(), notUploading]],
  ])("by %d h, and %s: recordings, open 08 to 20, all online, have no low uptime", async (lateHours, then, rules) => {
    const { store } = testStore();
    await store.inventory.saveRecordings(fleet);
    const stall = Date.UTC(2026, 10, 20, 15);
    const over = stall + lateHours * HOUR;
    const clock = { at: stall - 3 * HOUR };
    const assigned = createAssigned();
    assigned.set(new Map([["north", 0]]));
    // From 15:00 on the service's pipeline is behind: nothing is counted until it has caught up.
    const isLost = (at: number) =>
      at >= stall && (clock.at < over + 20 * MINUTE || (then === "never made up for" && at < over));
    const bucketsOf = (_: unknown, from: number) =>
      bucketsWithin(isOpen, from, clock.at).map((one) =>
        isLost(one.startAt) ? { ...one, overallUptime: 0, segmentsReceived: 0 } : one,
      );
    const refresh = createRefreshUptime({
      ...uptimeOver(store, clock, { fleet, bucketsOf }, { rules }),
      store: store.shards,
    });
    const sweep = createSweep({
      ...plainSweep(clock, { uptimeIntervalMs: 10 * MINUTE }),
      ...storedSweep(store),
      service: {
        statusUptime: async () =>
          rows(...fleet.map(({ id }) => reading(id, { locationId: "north", lastSeenAt: clock.at }))),
      },
      assigned,
      schedules: createScheduleLookup(store.uptime, store.inventory),
      rules,
      commit: commitOf(),
    });
    const low: string[] = [];
    for (let i = 0; clock.at < stall + 5 * HOUR - 20 * MINUTE; i++) {
      await sweep(0);
      if (i % 20 === 0) await refresh(0, UNBROKEN);
      const alerts = i % 20 === 5 ? await store.shards.alerts() : [];
      low.push(...alerts.filter(({ ruleId }) => ruleId === "LowUptime").map(({ key }) => `${key} at ${clock.at}`));
      clock.at += STEP;
    }
    expect(low).toEqual([]);
  });
});
