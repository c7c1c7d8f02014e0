import fc from "fast-check";
import { expect, test } from "vitest";
import { locationsOf, statesAt } from "../../src/health/fleet-locations.ts";
import { noCounts } from "../../src/health/shard-counts.ts";
import { currentStatus, type RecordingState, type ShardState } from "../../src/health/shard-state.ts";
import { aRecording, aRecordingState } from "../support/fixtures.ts";
import { drained } from "../support/steps.ts";

const INTERVAL = 10;
const IDS = ["a", "b", "c", "d"];

const shardOf = (states: readonly RecordingState[], ...locations: string[]): ShardState => ({
  sweptAt: 100,
  recordings: new Map(states.map((state) => [state.id, state])),
  locations: new Map(locations.map((id) => [id, { id, alerts: undefined }])),
});
const fleetAt = (now: number, shards: readonly ShardState[], at: Readonly<Record<string, string>> = {}) => {
  const recording = (id: string) => (at[id] ? aRecording(id, { locationId: at[id] }) : undefined);
  return { now, statusIntervalMs: INTERVAL, shards, inventory: { recording, location: () => undefined } };
};

const state = fc.record({
  id: fc.constantFrom(...IDS),
  locationId: fc.constantFrom("L1", "L2"),
  readAt: fc.integer({ min: 60, max: 100 }),
  status: fc.constantFrom("online", "offline", "degraded", undefined),
});
const shard = fc.uniqueArray(state, { selector: ({ id }) => id, maxLength: 4 });

test("whatever time it is, each location has its recordings once, by their later reading, and counts them", () => {
  fc.assert(
    fc.property(fc.array(shard, { maxLength: 3 }), fc.array(fc.integer({ min: 60, max: 140 })), (all, times) => {
      const states = all.map((some) => some.map(({ id, ...one }) => aRecordingState(id, one)));
      const shards = states.map((some) => shardOf(some));
      for (const now of times) {
        const found = drained(locationsOf(fleetAt(now, shards)));
        for (const locationId of ["L1", "L2"]) {
          const latest = new Map<string, RecordingState>();
          for (const one of states.flat().filter((one) => one.locationId === locationId))
            if ((latest.get(one.id)?.readAt ?? -1) < one.readAt) latest.set(one.id, one);
          const statuses = [...latest.values()].map((one) => currentStatus(one, now, INTERVAL));
          const counts = found.get(locationId)?.counts ?? noCounts();
          expect([...statesAt([found.get(locationId)])].sort((x, y) => (x.id < y.id ? -1 : 1))).toEqual(
            [...latest.values()].sort((x, y) => (x.id < y.id ? -1 : 1)),
          );
          for (const [status, count] of Object.entries(counts))
            expect(statuses.filter((one) => one === status)).toHaveLength(count);
        }
      }
    }),
  );
});

test("a recording that moved counts where it is listed, not where it was missed at the last sweep", () => {
  const before = [aRecordingState("a", { locationId: "L1", readAt: 95, absentSince: 95 })];
  const after = [aRecordingState("a", { locationId: "L2", readAt: 100 })];
  const shards = [shardOf(before, "L1"), shardOf(after, "L2")];
  const moved = drained(locationsOf(fleetAt(100, shards, { a: "L2" })));
  expect(moved.get("L1")).toEqual({
    id: "L1",
    counts: expect.objectContaining({ online: 0 }),
    parts: [expect.anything()],
  });
  expect([...statesAt([moved.get("L2")])].map(({ readAt }) => readAt)).toEqual([100]);
  const listed = drained(locationsOf(fleetAt(100, shards, { a: "L1" })));
  expect([...statesAt([listed.get("L1")])].map(({ readAt }) => readAt)).toEqual([95]);
});

test("a location without a recording is there", () => {
  const [empty] = drained(locationsOf(fleetAt(100, [shardOf([], "L1")]))).values();
  expect(empty).toEqual({ id: "L1", counts: { online: 0, offline: 0, degraded: 0, unknown: 0 }, parts: [] });
});
