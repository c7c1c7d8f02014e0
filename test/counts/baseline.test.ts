import { describe, expect, test } from "vitest";
import { expectedIn, learnBaseline } from "../../src/counts/baseline.ts";
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
    past.set(at, counted({ hour: hourAt(timezone)(at).label % 100, daysAgo: Math.ceil((now - at) / DAY) }));
  }
  const series = { locationId: "l1", timezone, hours: past, readings: [] };
  return learnBaseline(series, now, { hourAt: hourAt(timezone), outages: [] });
}

/** Noon in Berlin on the Monday after clocks went forward. */
const NOW = Date.UTC(2026, 2, 30, 10);
const noon = (baseline: NonNullable<ReturnType<typeof learn>>) =>
  expectedIn(baseline, NOW, hourAt("Europe/Berlin"))?.mean;
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

  test("is learned: busy and empty days are of the day, uneven hours of the hour", () => {
    const daysOf = (counted: (day: number, hour: number) => number) =>
      Array.from({ length: 40 }, (_, day) =>
        Array.from({ length: 10 }, (_, hour) => ({ expected: 100, counted: counted(day, hour) })),
      );
    const byDay = learnDispersion(daysOf((day) => (day % 2 === 0 ? 60 : 140)));
    const byHour = learnDispersion(daysOf((_, hour) => (hour % 2 === 0 ? 60 : 140)));
    expect(byDay.day).toBeGreaterThan(0.12);
    expect(byDay.hour).toBeLessThan(0.02);
    expect(byHour.hour).toBeGreaterThan(0.12);
    expect(byHour.day).toBeLessThan(0.02);
  });

  test("of different days is independent", () => {
    const of = (days: number) => {
      const spread = createSpread({ day: 0.1, hour: 0 });
      for (let i = 0; i < 4; i++) spread.add(10, i % days, 10);
      return spread.variance();
    };
    expect(of(1)).toBeCloseTo(0.1);
    expect(of(4)).toBeCloseTo(0.025);
  });

  test("of a part of an hour is more, as people come in groups, and that of all its parts is the hour's", () => {
    const of = (parts: number) => {
      const spread = createSpread({ day: 0, hour: 0.1 });
      for (let i = 0; i < parts; i++) spread.add(25, 1, 100);
      return spread.variance();
    };
    expect(of(1)).toBeCloseTo(0.4);
    expect(of(4)).toBeCloseTo(0.1);
  });
});

test("closed days are weekdays and dates of the location's time zone", () => {
  const isClosed = closedOn(["sunday", "2026-12-25"], hourAt("Pacific/Auckland"));
  expect(isClosed?.(Date.UTC(2026, 11, 24, 12))).toBe(true);
  expect(isClosed?.(Date.UTC(2026, 11, 25, 12))).toBe(false);
  expect(isClosed?.(Date.UTC(2026, 11, 26, 12))).toBe(true);
  expect(closedOn([], hourAt("Etc/UTC"))).toBeUndefined();
});
