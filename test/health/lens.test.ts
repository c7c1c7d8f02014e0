import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fallOf, isBeyond, qualityQuarters, steadyFall } from "../../src/health/lens.ts";
import { noteQuality, type QualityHistory, qualityDays } from "../../src/health/quality.ts";

const DAY = 86_400_000;
const FIRST = Date.UTC(2026, 8, 1);
const THRESHOLD = 0.7;

/** Days from FIRST on; `undefined` is not known. */
const daysOf = (levels: readonly (number | undefined)[], from = FIRST) =>
  levels.map((quality, i) => ({ at: from + i * DAY, quality }));

/** As stored: in steps of about a hundredth. */
const stored = (level: number) => Math.round(Math.min(1, Math.max(0, level)) * 89) / 89;

interface World {
  /** Lost in eight weeks, and at once on a day. */
  readonly fall?: number;
  readonly step?: readonly [day: number, by: number];
  /** Standard deviation of the noise, and how much of it is still there the next day. */
  readonly deviation?: number;
  readonly lasting?: number;
}

/** Days of quality as a lens in this world would have them, with a worse Sunday and days that are not known. */
function quality(seed: number, { fall = 0, step = [0, 0], deviation = 0.02, lasting = 0.7 }: World, days = 56) {
  const next = uniform(seed);
  const normal = () => Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
  let noise = normal() * deviation;
  return Array.from({ length: days }, (_, day) => {
    noise = lasting * noise + Math.sqrt(1 - lasting ** 2) * deviation * normal();
    const level = 0.9 - (fall * day) / 56 - (day >= step[0] ? step[1] : 0) - (day % 7 === 6 ? 0.05 : 0) + noise;
    return next() < 0.05 ? undefined : stored(level);
  });
}

function uniform(seed: number): () => number {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 1_640_531_527) >>> 0;
    return (((state ^ (state >>> 13)) >>> 0) + 0.5) / 2 ** 32;
  };
}

/** How many of so many recordings are listed. */
function listed(world: (seed: number) => World, of = 400): number {
  return Array.from({ length: of }, (_, seed) => steadyFall(daysOf(quality(seed, world(seed))), THRESHOLD)).filter(
    Boolean,
  ).length;
}

describe("a steady fall of quality", () => {
  test("is found, with what is lost and when it is below the threshold", () => {
    const days = daysOf(Array.from({ length: 90 }, (_, day) => 0.95 - 0.002 * day));
    const fall = steadyFall(days, THRESHOLD);
    expect(fall?.perDay).toBeCloseTo(0.002, 6);
    expect(fall?.quality).toBeCloseTo(0.95 - 0.002 * 89.5, 6);
    expect(((fall?.below ?? 0) - FIRST) / DAY).toBeCloseTo(125 + 0.5, 3);
  });

  test("of 10 % and more in eight weeks is found in most recordings with usual noise", () => {
    expect(listed(() => ({ fall: 0.1, deviation: 0.01 }))).toBeGreaterThan(340);
    expect(listed(() => ({ fall: 0.25 }))).toBeGreaterThan(380);
  });

  test("is hardly ever read into noise: in 1 of 200 windows of eight weeks, though it lasts for ten days", () => {
    expect(listed(() => ({}))).toBe(0);
    expect(listed(() => ({ deviation: 0.05 }))).toBe(0);
    expect(listed(() => ({ deviation: 0.05, lasting: 0.9 }), 800)).toBeLessThanOrEqual(8);
  });

  test("is no step, of any size on any day", () => {
    expect(listed((seed) => ({ step: [3 + (seed % 50), 0.1 + (seed % 5) / 10] }))).toBeLessThanOrEqual(2);
    expect(listed((seed) => ({ step: [3 + (seed % 50), 0.1 + (seed % 5) / 10], deviation: 0 }))).toBe(0);
  });

  test("needs eight weeks, and more than half of each quarter of them", () => {
    const levels = Array.from({ length: 56 }, (_, day) => 0.95 - 0.003 * day);
    expect(steadyFall(daysOf(levels), THRESHOLD)).toBeDefined();
    expect(steadyFall(daysOf(levels.slice(1)), THRESHOLD)).toBeUndefined();
    const lacking = (days: number) => levels.map((level, day) => (day >= 28 && day < 28 + days ? undefined : level));
    expect([6, 7].map((days) => steadyFall(daysOf(lacking(days)), THRESHOLD) !== undefined)).toEqual([true, false]);
  });

  test("is the recording's own where it is more than what the fleet lost", () => {
    const fall = { perDay: 0.1 / 56 };
    expect([0, 0.04, 0.06, -1].map((fleet) => isBeyond(fall, fleet))).toEqual([true, true, false, true]);
    const quarters = qualityQuarters(daysOf(Array.from({ length: 56 }, (_, day) => 0.9 - (0.1 * day) / 56)));
    expect(fallOf(quarters ?? [])).toBeCloseTo(0.1, 6);
  });

  const world = fc.record({ fall: fc.double({ min: 0.05, max: 0.3, noNaN: true }), seed: fc.nat(10_000) });

  test("shifted in time is the same fall, later", () => {
    fc.assert(
      fc.property(world, fc.integer({ min: -500, max: 500 }), ({ fall, seed }, shift) => {
        const levels = quality(seed, { fall });
        const before = steadyFall(daysOf(levels), THRESHOLD);
        const after = steadyFall(daysOf(levels, FIRST + shift * DAY), THRESHOLD);
        expect(after && { ...after, below: Math.round(after.below - shift * DAY) }).toEqual(
          before && { ...before, below: Math.round(before.below) },
        );
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  test("that falls faster stays one", () => {
    fc.assert(
      fc.property(world, fc.double({ min: 0, max: 0.01, noNaN: true }), ({ fall, seed }, more) => {
        const levels = quality(seed, { fall: fall + 0.1, deviation: 0.01 });
        fc.pre(steadyFall(daysOf(levels), THRESHOLD) !== undefined);
        const faster = levels.map((level, day) => level && level - more * day);
        expect(steadyFall(daysOf(faster), THRESHOLD)).toBeDefined();
      }),
      { seed: 1, numRuns: 100 },
    );
  });
});

describe("the quality of 90 days", () => {
  const HOUR = 3_600_000;
  const noted = (
    history: QualityHistory | undefined,
    hours: number,
    level: (hour: number) => number | undefined,
    from = 0,
  ) => {
    let next = history;
    for (let hour = from; hour < hours; hour++) next = noteQuality(next, level(hour), FIRST + hour * HOUR);
    return next;
  };
  const known = (history: QualityHistory | undefined, now: number) =>
    history ? qualityDays(history, now).filter((day) => day.quality !== undefined) : [];

  test("is the median of each day that is over, for no longer", () => {
    const history = noted(undefined, 100 * 24, (hour) => (hour % 24 < 8 ? 0.1 : 0.5 + Math.floor(hour / 24) / 200));
    const days = known(history, FIRST + 100 * DAY - HOUR);
    expect(days).toHaveLength(90);
    expect(days.map(({ at }) => (at - FIRST) / DAY)).toEqual(Array.from({ length: 90 }, (_, i) => i + 9));
    for (const { at, quality: level } of days) expect(level).toBeCloseTo(0.5 + (at - FIRST) / DAY / 200, 1.9);
    expect(history?.days?.levels).toHaveLength(90);
  });

  test("has no day of which less than six hours are known, and days of a pause as not known", () => {
    const lasting = noted(undefined, 3 * 24, (hour) => (hour < 24 && hour >= 5 ? undefined : 0.8));
    const history = noted(lasting, 23 * 24, () => 0.6, 20 * 24);
    const days = known(history, FIRST + 23 * DAY);
    expect(days.map(({ at }) => (at - FIRST) / DAY)).toEqual([1, 2, 20, 21]);
  });
});
