import fc from "fast-check";
import { expect, test } from "vitest";
import { recordingStatuses } from "../../src/health/recording.ts";
import {
  joinOverviews,
  knownOverview,
  lastKnown,
  overviewAfter,
  type ShardOverview,
} from "../../src/health/shard-overview.ts";
import { type RecordingState, type ShardState, statusOf } from "../../src/health/shard-state.ts";
import { noCounts, totalOf } from "../../src/health/status-counts.ts";
import { aRecording, aRecordingState } from "../support/fixtures.ts";
import { afterSweep, patchOf, patchTo } from "../support/shard-patch.ts";

const INTERVAL = 10;
const recording = (id: string) =>
  id === "d" ? undefined : aRecording(id, { cameraServer: id === "a" ? "one" : "other" });
const CONTEXT = { intervalMs: INTERVAL, inventory: { recording } };

const joined = (
  overviews: readonly (readonly [number, ShardOverview])[],
  moment: { now: number; intervalMs: number },
) =>
  joinOverviews(
    overviews.map(([shard, overview]) => knownOverview(shard, overview)),
    moment,
  );

const state = fc.record({
  id: fc.constantFrom("a", "b", "c", "d"),
  locationId: fc.constantFrom("L1", "L2"),
  readAt: fc.integer({ min: 60, max: 100 }),
  since: fc.integer({ min: 0, max: 100 }),
  status: fc.constantFrom("online", "offline", "degraded", undefined),
});
const rows = fc.uniqueArray(state, { selector: ({ id }) => id, maxLength: 4 });
const shardOf = (states: readonly RecordingState[], sweptAt: number): ShardState => ({
  sweptAt,
  recordings: new Map(states.map((one) => [one.id, one])),
  locations: new Map([["empty", { id: "empty", alerts: undefined }]]),
});
const statesOf = (some: readonly (Partial<RecordingState> & { readonly id: string })[]) =>
  some.map(({ id, ...one }) => aRecordingState(id, one));

/** A sweep at 110 that changes, notes and drops some of these. */
const sweep = fc.tuple(rows, rows, fc.subarray<string>(["a", "b", "c", "d"])).map(([known, changed, seen]) => {
  const before = shardOf(statesOf(known), 100);
  const left = new Set<string>(known.slice(0, 1).map(({ id }) => id));
  const changes = statesOf(changed).filter(({ id }) => !left.has(id));
  const others = known.filter(({ id }) => !left.has(id) && changes.every((one) => one.id !== id));
  const read = new Map(
    others.map(({ id }) => [id, seen.includes(id) ? { lastSeenAt: undefined, averageQuality: undefined } : undefined]),
  );
  const after = shardOf(changes, 110);
  return { before, after: { ...after, changed: after.recordings, read, left } };
});

test("a fleet joined from overviews counts every recording as its state does, whenever one sweep was", () => {
  fc.assert(
    fc.property(sweep, fc.integer({ min: 110, max: 150 }), ({ before, after: done }, now) => {
      const patch = patchOf(before, done);
      const overview = overviewAfter(patch, CONTEXT);
      const stored = JSON.parse(JSON.stringify(overview)) as ShardOverview;
      const after = afterSweep(before, patch);
      const fleet = joined([[7, stored]], { now, intervalMs: INTERVAL });
      const isOld = now > 140;
      const counts = noCounts();
      for (const id of ["L1", "L2"]) {
        const [here, last] = [noCounts(), noCounts()];
        for (const one of after.recordings.values()) {
          if (one.locationId !== id) continue;
          const status = isOld ? "unknown" : statusOf(one, { now: patch.sweptAt, statusIntervalMs: INTERVAL });
          here[status] += 1;
          last[one.status ?? "unknown"] += 1;
          counts[status] += 1;
        }
        const tally = fleet.locations.get(id) ?? { counts: noCounts(), were: noCounts() };
        expect([tally.counts, lastKnown(tally)]).toEqual([here, last]);
        expect(totalOf(tally.were)).toBe(here.unknown);
      }
      expect(fleet.counts).toEqual(counts);
      const readAt = Math.max(0, ...[...after.recordings.values()].map((one) => one.readAt));
      expect(fleet.readAt).toBe(readAt || undefined);
      expect(fleet.locations.get("empty")).toEqual({ id: "empty", shard: 7, counts: noCounts(), were: noCounts() });
    }),
  );
});

const online = (id: string, more: Partial<RecordingState> = {}) =>
  aRecordingState(id, { locationId: "L1", status: "online", readAt: 100, ...more });
const overviewOf = (sweptAt: number, ...states: readonly RecordingState[]) =>
  overviewAfter(patchTo(shardOf(states, sweptAt)), CONTEXT);

test("an overview older than three intervals, or than its own slow rhythm, counts all as unknown", () => {
  const overview = overviewOf(100, online("a"), online("b", { status: "offline" }));
  expect(overview.alerting).toBe(0);
  const at = (now: number, one = overview) => joined([[0, one]], { now, intervalMs: INTERVAL });
  expect(at(130)).toMatchObject({ counts: { online: 1, offline: 1, unknown: 0 }, readAt: 100, statusIntervalMs: 10 });
  expect(at(131)).toMatchObject({ counts: { online: 0, offline: 0, unknown: 2 }, readAt: 100, statusIntervalMs: 10 });
  expect(at(131, { ...overview, gapMs: 60 })).toMatchObject({ counts: { online: 1 }, statusIntervalMs: 20 });
  expect(joined([], { now: 131, intervalMs: INTERVAL })).toMatchObject({ counts: noCounts(), readAt: undefined });
});

test("a location that two shards have counts in the one swept later", () => {
  const [old, later] = [overviewOf(100, online("a"), online("b")), overviewOf(105, online("a", { status: "offline" }))];
  for (const both of [
    [
      [1, old],
      [2, later],
    ],
    [
      [2, later],
      [1, old],
    ],
  ] as const) {
    const { counts, locations } = joined(both, { now: 110, intervalMs: INTERVAL });
    expect(counts).toEqual({ ...noCounts(), offline: 1 });
    expect(locations.get("L1")).toMatchObject({ id: "L1", shard: 2, counts });
  }
});

test("the mark differs where a status, its start or a pending alert does, whatever the order of rows", () => {
  const states = recordingStatuses.flatMap((status, i) =>
    status === "unknown" ? [] : online(`r${i}`, { status, since: i }),
  );
  const markOf = (...some: readonly RecordingState[]) => overviewOf(100, ...some).mark;
  const mark = markOf(...states);
  expect(markOf(...states.toReversed())).toBe(mark);
  const [first = online("a"), ...others] = states;
  expect(overviewOf(100, ...states, online("d", { alerts: {} })).alerting).toBe(1);
  const pending = { rule: { state: "pending" } } as unknown as RecordingState["alerts"];
  for (const one of [{ status: "offline" }, { since: 7 }, { alerts: pending }] as const)
    expect(markOf({ ...first, ...one }, ...others)).not.toBe(mark);
  expect(markOf({ ...first, lastSeenAt: 3, averageQuality: 0.1 }, ...others)).toBe(mark);
});

test("what is offline is counted by label, while an overview says something of now", () => {
  const offline = ["a", "b", "c", "d"].map((id) => online(id, { status: "offline" }));
  const [here, there] = [overviewOf(100, ...offline), overviewOf(90, offline[1] ?? online("b"))];
  const at = (now: number) =>
    joined(
      [
        [0, here],
        [1, there],
      ],
      { now, intervalMs: INTERVAL },
    );
  expect([at(110), at(125), at(140)].map((fleet) => fleet.offlineWith("camera_server", "other"))).toEqual([3, 2, 0]);
  expect(at(110).offlineWith("organisation", "org1")).toBe(4);
  expect(at(110).offlineWith("camera_server", "toString")).toBe(0);
});
