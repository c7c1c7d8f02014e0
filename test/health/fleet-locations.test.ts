import fc from "fast-check";
import { expect, test } from "vitest";
import { locationsOf, rowAt, statesAt, statusOf } from "../../src/health/fleet-locations.ts";
import { Rows } from "../../src/health/rows.ts";
import { noCounts } from "../../src/health/shard-counts.ts";
import { currentStatus, type RecordingState, type ShardState } from "../../src/health/shard-state.ts";
import { aRecording, aRecordingState } from "../support/fixtures.ts";
import { drained } from "../support/steps.ts";

const INTERVAL = 10;
const IDS = ["a", "b", "c", "d"];

const rows = (sweptAt: number, states: readonly RecordingState[]) =>
  Rows.of({ sweptAt, recordings: new Map(states.map((state) => [state.id, state])) });
const shardOf = (recordings: Rows, ...locations: string[]): ShardState => ({
  sweptAt: 100,
  recordings,
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
      const states = all.map((some) => some.map(({ id, ...one }) => aRecordingState(id, { ...one, presentAt: 100 })));
      const shards = states.map((some) => shardOf(rows(100, some)));
      for (const now of times) {
        const found = drained(locationsOf(fleetAt(now, shards)));
        for (const locationId of ["L1", "L2"]) {
          const latest = new Map<string, RecordingState>();
          for (const one of states.flat().filter((one) => one.locationId === locationId))
            if ((latest.get(one.id)?.readAt ?? -1) < one.readAt) latest.set(one.id, one);
          const statuses = [...latest.values()].map((one) => currentStatus(one, now, INTERVAL));
          const counts = found.get(locationId)?.counts ?? noCounts();
          expect(statesAt(found.get(locationId)).sort((x, y) => (x.id < y.id ? -1 : 1))).toEqual(
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
  const before = rows(100, [aRecordingState("a", { locationId: "L1", readAt: 95 })]);
  const after = rows(100, [aRecordingState("a", { locationId: "L2", readAt: 100 })]);
  const shards = [shardOf(before, "L1"), shardOf(after, "L2")];
  const moved = drained(locationsOf(fleetAt(100, shards, { a: "L2" })));
  expect(moved.get("L1")).toEqual({
    id: "L1",
    counts: expect.objectContaining({ online: 0 }),
    parts: [expect.anything()],
  });
  expect(statesAt(moved.get("L2")).map(({ readAt }) => readAt)).toEqual([100]);
  const listed = drained(locationsOf(fleetAt(100, shards, { a: "L1" })));
  expect(statesAt(listed.get("L1")).map(({ readAt }) => readAt)).toEqual([95]);
});

test("a location without a recording is there", () => {
  const [empty] = drained(locationsOf(fleetAt(100, [shardOf(rows(100, []), "L1")]))).values();
  expect(empty).toEqual({ id: "L1", counts: { online: 0, offline: 0, degraded: 0, unknown: 0 }, parts: [] });
});

test("a shard is counted once until time alone changes a status", () => {
  const one = rows(100, [aRecordingState("a", { readAt: 100 })]);
  const counted = one.counts(100, INTERVAL);
  expect(one.counts(130, INTERVAL)).toBe(counted);
  expect(one.counts(131, INTERVAL).locations.get("L1")?.counts.unknown).toBe(1);
  expect(statusOf(rowAt(0, one, 0), fleetAt(131, []))).toBe("unknown");
});

test("the mark of a shard changes with a status, its start and pending alerts, not with readings", () => {
  const markOf = (changes: Partial<RecordingState>) =>
    rows(100, [aRecordingState("a", { readAt: 100, since: 5e12, ...changes })]).counts(100, INTERVAL).mark;
  const mark = markOf({});
  expect(markOf({ readAt: 99, lastSeenAt: 3, averageQuality: 0.1 })).toBe(mark);
  const pending = { state: "pending" } as NonNullable<RecordingState["alerts"]>[string];
  const others = [markOf({ status: "offline" }), markOf({ since: 5e12 + 1 }), markOf({ alerts: { R: pending } })];
  expect(new Set([mark, ...others]).size).toBe(4);
});
