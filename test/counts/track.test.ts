/** What is read of a day, piece by piece, and what a witness says of it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Baseline } from "../../src/counts/baseline.ts";
import { type Counted, track } from "../../src/counts/track.ts";
import { hear, type Witness } from "../../src/counts/witness.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";

const HOUR = 3_600_000;
const STEP = HOUR / 6;
/** A Wednesday, 15:00. */
const NOW = Date.UTC(2026, 5, 17, 15);
const MIDNIGHT = NOW - 15 * HOUR;
const hours = createLocalHours();
const past = { hourAt: (at: number) => hours.at(at, "Etc/UTC"), outages: [] };
const [OPENS, CLOSES] = [9, 18];
const PER_HOUR = 60;
const isOpen = (hour: number) => hour >= OPENS && hour < CLOSES;
const baseline: Baseline = {
  usual: Array.from({ length: 168 }, (_, slot) => (isOpen(slot % 24) ? PER_HOUR : 0)),
  ...{ day: 0.02, hour: 0.02, visit: 0.5, lull: 0, surge: 0, ownLull: 0, ofDay: 540 },
};

type Readings = Counted["source"]["readings"];

/** As usual until then, and nothing since. */
function readingsUntil(now: number, stops = now): Readings {
  return Array.from({ length: Math.floor((now - MIDNIGHT) / STEP) }, (_, i) => {
    const at = MIDNIGHT + (i + 1) * STEP;
    const open = Math.min(at - STEP, stops, MIDNIGHT + CLOSES * HOUR) - (MIDNIGHT + OPENS * HOUR);
    return { at, since: MIDNIGHT, count: Math.round((Math.max(0, open) / HOUR) * PER_HOUR) };
  });
}

function counted(readings: Readings, now = NOW): Counted {
  const yesterday = Array.from(
    { length: 24 },
    (_, hour) => [MIDNIGHT + (hour - 24) * HOUR, isOpen(hour) ? 60 : 0] as const,
  );
  return track({ source: { hours: new Map(yesterday), readings }, baseline, past, now });
}

const piecesOf = (readings: Readings, now = NOW) => [...counted(readings, now).pieces];

describe("pieces of a day", () => {
  test("are the same without the readings that had no data", () => {
    const all = readingsUntil(NOW);
    const some = fc.array(fc.boolean(), { minLength: all.length, maxLength: all.length });
    fc.assert(
      fc.property(some, (isNull) => {
        const without = piecesOf(all.filter((_, i) => !isNull[i]));
        expect(piecesOf(all.map((one, i) => (isNull[i] ? { ...one, count: null } : one)))).toEqual(without);
      }),
      { numRuns: 30 },
    );
    const none = all.map((one) => ({ ...one, count: null }));
    expect(piecesOf(none)).toEqual(piecesOf([]));
  });

  test("add up to what was counted, and at most to what is usual, however readings are late or corrected", () => {
    const all = readingsUntil(NOW);
    const changes = fc.array(fc.integer({ min: -5, max: 0 }), { minLength: all.length, maxLength: all.length });
    fc.assert(
      fc.property(changes, (change) => {
        const readings = all.map((one, i) => ({ ...one, count: Math.max(0, one.count ?? 0) + (change[i] ?? 0) }));
        const today = piecesOf(readings).filter(({ from }) => from >= MIDNIGHT);
        const sum = (of: (piece: (typeof today)[number]) => number) => today.reduce((total, one) => total + of(one), 0);
        expect(sum((one) => one.counted)).toBe(Math.max(0, readings.at(-1)?.count ?? 0));
        expect(today.every((one) => one.counted >= 0 && one.expected >= 0)).toBe(true);
        expect(sum((one) => one.expected)).toBeCloseTo(5.75 * PER_HOUR);
      }),
      { numRuns: 30 },
    );
  });

  const expectedIn = (now: number, from: number, to: number) =>
    piecesOf(readingsUntil(now), now)
      .filter((piece) => piece.from >= from && piece.to <= to)
      .reduce((sum, { expected }) => sum + expected, 0);

  test("expect nothing of the part of an hour in which it may be closed", () => {
    const closing = MIDNIGHT + CLOSES * HOUR;
    const opening = MIDNIGHT + OPENS * HOUR;
    expect(expectedIn(closing, closing - HOUR, closing)).toBeCloseTo(PER_HOUR / 4);
    expect(expectedIn(closing, closing - HOUR / 2, closing)).toBe(0);
    expect(expectedIn(opening + HOUR, opening, opening + (2 * HOUR) / 3)).toBe(0);
    expect(expectedIn(opening + HOUR, opening, opening + HOUR)).toBeGreaterThan(0);
  });

  test("expect all visits of an hour that is over: of the first also after it opened, of the last before it closed", () => {
    const closing = MIDNIGHT + CLOSES * HOUR;
    const opening = MIDNIGHT + OPENS * HOUR;
    // Where pieces begin and end.
    const fivePast = STEP / 2;
    expect(expectedIn(closing + HOUR / 2, closing - HOUR / 2, closing + fivePast)).toBe(0);
    expect(expectedIn(closing + HOUR / 2, closing - HOUR - fivePast, closing + fivePast)).toBeCloseTo(65);
    expect(expectedIn(opening + 1.5 * HOUR, opening - fivePast, opening + HOUR + fivePast)).toBeCloseTo(65);
    expect(expectedIn(opening + 1.5 * HOUR, opening + HOUR / 2, opening + HOUR)).toBeCloseTo(20);
  });

  test("are as long as the time between their readings", () => {
    const [newest, before] = piecesOf(readingsUntil(NOW));
    expect(newest?.to).toBe(NOW - HOUR / 4);
    expect(newest?.from).toBe(before?.to);
    expect([newest, before].map((piece) => piece?.expected)).toEqual([PER_HOUR / 6, PER_HOUR / 6]);
  });
});

describe("a witness", () => {
  const since = NOW - 4 * HOUR;
  const witness = (readings: Readings, kind: Witness["kind"] = "zone"): Witness => ({ kind, ...counted(readings) });
  const none = () => readingsUntil(NOW, since);

  test("confirms with what it counted, and does not while it is silent", () => {
    expect(hear([witness(readingsUntil(NOW))], since)).toMatchObject({ is: "confirms", named: { kind: "zone" } });
    expect(hear([witness(none())], since).is).toBe("silent");
    expect(hear([], since).is).toBe("none");
  });

  test("that counted in a part of the time only confirms nothing of all of it", () => {
    // Without data for most of the time, then as usual: it may have been closed.
    const opened = readingsUntil(NOW).filter(({ at }) => at < since || at > NOW - HOUR);
    const late = opened.map((one) =>
      one.at <= NOW - HOUR ? { ...one, count: null } : { ...one, since: NOW - HOUR, count: 30 },
    );
    expect(hear([witness(late)], since).is).not.toBe("confirms");
  });

  test("among several: one that counts is enough, unless the tills are silent", () => {
    const counting = witness(readingsUntil(NOW));
    expect(hear([counting, witness(none())], since).is).toBe("confirms");
    expect(hear([counting, witness(none(), "tills")], since).is).toBe("silent");
    const tills = witness(readingsUntil(NOW), "tills");
    expect(hear([counting, tills, witness(none())], since).named?.kind).toBe("tills");
  });
});
