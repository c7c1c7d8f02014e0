import fc from "fast-check";
import { expect, test } from "vitest";
import { NextRows, Rows } from "../../src/health/rows.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { anAlertState, aRecordingState } from "../support/fixtures.ts";

const IDS = ["a", "b", "c", "d"];
const ALERTS = { RecordingOffline: anAlertState() };

/** What a sweep may make of a recording at `now`, given how it was. */
const step = fc.record({
  isRead: fc.boolean(),
  isPresent: fc.boolean(),
  seen: fc.constantFrom(undefined, 0, 5, 6),
  onlineSeen: fc.constantFrom<"same" | "before" | 5 | undefined>("same", "before", 5, undefined),
  quality: fc.constantFrom(undefined, 0.5, 0.9),
  status: fc.constantFrom("online", "online", "offline"),
  alerts: fc.constantFrom(undefined, undefined, ALERTS),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;
const sweep = fc.dictionary(fc.constantFrom(...IDS), step);

function after(before: RecordingState | undefined, id: string, now: number, one: Step): RecordingState {
  const { isRead, isPresent, seen, onlineSeen, quality, status, alerts } = one;
  const known = before ?? aRecordingState(id, { readAt: now });
  if (!isPresent) return known;
  if (!isRead) return { ...known, presentAt: now };
  const onlineSeenAt = onlineSeen === "same" ? seen : onlineSeen === "before" ? known.onlineSeenAt : onlineSeen;
  const read = { readAt: now, presentAt: now, lastSeenAt: seen, onlineSeenAt, averageQuality: quality };
  return { ...known, ...read, status, alerts };
}

test("the rows are the states that were put, in whatever order, and those of before are as they were", () => {
  fc.assert(
    fc.property(fc.array(sweep, { maxLength: 8 }), (sweeps) => {
      let rows = Rows.of({ sweptAt: 0, recordings: new Map() });
      for (const [i, steps] of sweeps.entries()) {
        const next = new NextRows(rows, i + 10);
        const was = new Map([...rows].map(([id, state]) => [id, { ...state }]));
        const expected = new Map(Object.entries(steps).map(([id, one]) => [id, after(rows.get(id), id, i + 10, one)]));
        const placeOf = rows.finder();
        for (const [id, state] of expected) next.put(placeOf(id), state);
        const before = rows;
        rows = next.build();
        expect(new Map(rows)).toEqual(expected);
        expect([...rows.keys()].sort()).toEqual([...expected.keys()].sort());
        expect(new Map(before)).toEqual(was);
        expect(rows.get("a")).toBe(new Map(rows).get("a"));
      }
    }),
    { numRuns: 500 },
  );
});

test("a recording of which only times and quality moved keeps its state", () => {
  const state = aRecordingState("a", { readAt: 1 });
  const before = Rows.of({ sweptAt: 1, recordings: new Map([["a", state]]) });
  const [kept, put] = [new NextRows(before, 9), new NextRows(before, 9)];
  expect(kept.keep(0, 8, 0.5)).toBe(true);
  const moved = { ...state, readAt: 9, presentAt: 9, lastSeenAt: 8, onlineSeenAt: 8, averageQuality: 0.5 };
  put.put(0, moved);
  for (const rows of [kept.build(), put.build()]) {
    expect(rows.states).toBe(before.states);
    expect(rows.get("a")).toEqual(moved);
    expect(rows.order === before.order).toBe(true);
  }
  expect(kept.keep(0, undefined, 0.5)).toBe(false);
});
