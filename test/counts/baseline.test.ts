import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { learnBaseline, usualOfDays } from "../../src/counts/baseline.ts";
import { closedOn } from "../../src/counts/closed.ts";
import { createSpread, learnDispersion, surprise } from "../../src/counts/dispersion.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const hours = createLocalHours();
const hourAt = (timezone: string) => (at: number) => hours.at(at, timezone);

/** Eight weeks until `now` of what is counted in each local hour. */
function learn(now: number, timezone: string, counted: (local: { hour: number; daysAgo: number }) => number | null) {
  const past = new Map<number, number | null>();
  for (let at = now - 56 * DAY; at < now; at += HOUR) {
    past.set(at, counted({ hour: hourAt(timezone)(at).slot % 24, daysAgo: Math.ceil((now - at) / DAY) }));
  }
  const series = { locationId: "l1", timezone, hours: past, readings: [] };
  return learnBaseline(series, now, { hourAt: hourAt(timezone), outages: [] });
}

/** Noon in Berlin on the Monday after clocks went forward. */
const NOW = Date.UTC(2026, 2, 30, 10);
const noon = (baseline: NonNullable<ReturnType<typeof learn>>) => baseline?.usual[hourAt("Europe/Berlin")(NOW).ofWeek];
const shop = (factor: (daysAgo: number) => number) =>
  learn(NOW, "Europe/Berlin", ({ hour, daysAgo }) => (hour === 12 ? 100 : 10) * factor(daysAgo));

describe("what is usual", () => {
  test("is that of the local hour, also right after clocks were changed", () => {
    expect(noon(shop(() => 1) as never)).toBeCloseTo(100);
  });

  test.each([
    ["two closed weeks", (daysAgo: number) => (daysAgo > 21 && daysAgo <= 35 ? 0 : 1)],
    ["a promotion of a week", (daysAgo: number) => (daysAgo > 7 && daysAgo <= 14 ? 4 : 1)],
    ["holidays", (daysAgo: number) => ([7, 14, 30].includes(daysAgo) ? 0 : 1)],
  ])("does not follow %s", (_, factor) => {
    expect(Math.abs((noon(shop(factor) as never) ?? 0) - 100)).toBeLessThan(10);
  });

  test("follows a trend", () => {
    expect(noon(shop((daysAgo) => 1 - daysAgo / 112) as never)).toBeGreaterThan(80);
  });

  test("has no habit of one failure that began on the busiest day", () => {
    // Four days from a Saturday on, three weeks ago.
    const failed = (days: readonly number[]) =>
      learn(NOW, "Europe/Berlin", ({ hour, daysAgo }) => {
        if (hour < 9 || hour > 17 || days.includes(daysAgo)) return 0;
        return daysAgo % 7 === 2 ? 100 : 30;
      });
    expect(failed([23, 22, 21, 20])?.ownLull).toBe(0);
    expect(failed([23, 22, 21, 20, 10])?.ownLull).toBeGreaterThan(200);
  });

  test("is not known of hours without data, nor after three weeks", () => {
    expect(learn(NOW, "Europe/Berlin", ({ daysAgo }) => (daysAgo > 19 ? null : 10))).toBeUndefined();
    const nights = learn(NOW, "Europe/Berlin", ({ hour }) => (hour < 8 ? null : 10));
    expect([...(nights?.usual ?? [])].filter((mean) => mean === undefined)).toHaveLength(7 * 8);
  });
});

test("the usual visits of a day are those of its known hours, and unknown where nobody ever comes", () => {
  const open = learn(NOW, "Europe/Berlin", ({ hour }) => (hour < 8 ? null : 10));
  expect(open && usualOfDays(open)).toEqual(Array(7).fill(160));
  const never = learn(NOW, "Europe/Berlin", () => 0);
  expect(never && usualOfDays(never)).toEqual(Array(7).fill(undefined));
});

describe("chance", () => {
  test("is less surprised by what strays more, and by less missing", () => {
    expect(surprise(0, 30, 0)).toBeCloseTo(30);
    expect(surprise(0, 30, 0.1)).toBeLessThan(surprise(0, 30, 0.01));
    expect(surprise(5, 30, 0.1)).toBeLessThan(surprise(4, 30, 0.1));
    for (const [counted, expected] of [
      [0, 0],
      [-1, 5],
      [1e12, 1e-9],
      [0, 1e12],
    ] as const) {
      expect(surprise(counted, expected, 0.05)).toBeGreaterThanOrEqual(0);
      expect(surprise(counted, expected, 0.05)).toBeLessThan(Number.POSITIVE_INFINITY);
    }
  });

  describe("is learned:", () => {
    const EXPECTED = [5, 20, 40, 80, 120, 120, 80, 40, 20, 5];
    const learned = (counted: (expected: number, isMore: boolean, day: number) => number) =>
      learnDispersion(
        Array.from({ length: 40 }, (_, day) =>
          EXPECTED.map((expected, hour) => ({ expected, counted: counted(expected, (day + hour) % 2 === 0, day) })),
        ),
      );

    test("busy and empty days are of the day, uneven hours of the hour, groups of the visit", () => {
      const byDay = learned((expected, _, day) => expected * (day % 2 === 0 ? 0.6 : 1.4));
      expect(byDay.day).toBeGreaterThan(0.12);
      expect(byDay.hour).toBeLessThan(0.01);
      expect(byDay.visit).toBeLessThan(0.5);
      const byHour = learned((expected, isMore) => expected * (isMore ? 1.4 : 0.6));
      expect(byHour.hour).toBeGreaterThan(0.12);
      expect(byHour.day).toBeLessThan(0.05);
      const byVisit = learned((expected, isMore) => expected + Math.sqrt(3 * expected) * (isMore ? 1 : -1));
      expect(byVisit.visit).toBeGreaterThan(1.8);
      expect(byVisit.hour).toBeLessThan(0.02);
      expect(byVisit.day).toBeLessThan(0.02);
    });

    test("what strays more is never said to stray less, in quiet hours neither", () => {
      const strays = fc.tuple(fc.double({ min: 0, max: 3, noNaN: true }), fc.double({ min: 0, max: 0.9, noNaN: true }));
      fc.assert(
        fc.property(strays, fc.constantFrom(...EXPECTED), ([inGroups, ofHours], mean) => {
          const of = (times: number) => {
            const far = (expected: number) => times * (Math.sqrt(inGroups * expected) + ofHours * expected);
            const { visit, hour } = learned((expected, isMore) => expected + far(expected) * (isMore ? 1 : -1));
            return visit / mean + hour;
          };
          expect(of(1.2)).toBeGreaterThanOrEqual(of(1) - 1e-9);
        }),
      );
    });
  });

  test("of different days is independent", () => {
    const of = (days: number) => {
      const spread = createSpread({ day: 0.1, hour: 0, visit: 0 });
      for (let i = 0; i < 4; i++) spread.add(10, i % days, 10);
      return spread.parts().ofDays;
    };
    expect(of(1)).toBeCloseTo(0.1);
    expect(of(4)).toBeCloseTo(0.025);
  });

  test("of all parts of an hour is that of the hour, and of hours is less than of one", () => {
    const of = (parts: number, hours: number) => {
      const spread = createSpread({ day: 0, hour: 0.1, visit: 0 });
      for (let i = 0; i < parts * hours; i++) spread.add(100 / parts, 1, 100);
      return spread.parts().ofHours;
    };
    expect(of(4, 1)).toBeCloseTo(0.1);
    expect(of(1, 4)).toBeCloseTo(0.025);
  });
});

test("closed days are weekdays and dates of the location's time zone", () => {
  const isClosed = closedOn(["sunday", "2026-12-25"], hourAt("Pacific/Auckland"));
  expect(isClosed?.(Date.UTC(2026, 11, 24, 12))).toBe(true);
  expect(isClosed?.(Date.UTC(2026, 11, 25, 12))).toBe(false);
  expect(isClosed?.(Date.UTC(2026, 11, 26, 12))).toBe(true);
  expect(closedOn([], hourAt("Etc/UTC"))).toBeUndefined();
});
