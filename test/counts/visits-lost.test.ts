import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CountSeries } from "../../src/counts/series.ts";
import { type LocationOutage, type NothingLost, type VisitsLost, visitsLost } from "../../src/counts/visits-lost.ts";
import type { Interval } from "../../src/lib/intervals.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** A Monday, 00:00 in UTC. */
const MONDAY = Date.UTC(2026, 10, 16);

/** Eight weeks from 9:00 to 19:00, busier at weekends, by a repeatable chance of ±`noise`. */
function shop(noise = 0.2, { offsetMs = 0, timezone = "UTC", days = 63 } = {}): CountSeries {
  const hours = new Map<number, number | null>();
  for (let day = -56; day < days - 56; day += 1) {
    const busy = 1 + noise * chance(day) + (day % 7 === -2 || day % 7 === -1 ? 0.5 : 0);
    for (let hour = 0; hour < 24; hour += 1) {
      const isOpen = hour >= 9 && hour < 19;
      const count = isOpen ? Math.round(40 * busy * (1 + 0.3 * noise * chance(day * 24 + hour))) : 0;
      hours.set(MONDAY + offsetMs + day * DAY + hour * HOUR, count);
    }
  }
  return { locationId: "leeds", timezone, hours, readings: [] };
}

const chance = (n: number) => Math.sin(n * 12.9898) * Math.cos(n * 78.233);
const at = (hour: number, day = 0) => MONDAY + day * DAY + hour * HOUR;
const all = (...spans: Interval[]): LocationOutage => ({ all: spans, some: [] });

/** The series as the service serves it after nothing, or this share, was counted in whole hours of the spans. */
function seen(series: CountSeries, spans: readonly Interval[], share: number | null = null): CountSeries {
  const isOut = (hour: number) => spans.some(({ from, to }) => hour + HOUR > from && hour < to);
  const hours = [...series.hours].map(([hour, count]): [number, number | null] =>
    isOut(hour) ? [hour, share === null || count === null ? null : Math.round(count * share)] : [hour, count],
  );
  return { ...series, hours: new Map(hours) };
}

function visits(found: VisitsLost | NothingLost): VisitsLost {
  if (typeof found === "string") throw new Error(found);
  return found;
}

const truth = (series: CountSeries, { from, to }: Interval) =>
  [...series.hours].reduce((sum, [hour, count]) => sum + (hour >= from && hour < to ? (count ?? 0) : 0), 0);

describe("visits lost", () => {
  const span = fc
    .record({ from: fc.integer({ min: 8 * 4, max: 60 * 4 }), quarters: fc.integer({ min: 2, max: 40 }) })
    .map(({ from, quarters }) => ({ from: at(from / 4), to: at((from + quarters) / 4) }));
  const series = shop();

  it.each<[string, Interval]>([
    ["an hour", { from: at(11), to: at(12) }],
    ["a day", { from: at(0, 1), to: at(0, 2) }],
    ["three days", { from: at(9, 1), to: at(12, 4) }],
  ])("of %s are near what was not counted", (_, outage) => {
    const { estimate, low, high } = visits(visitsLost(seen(series, [outage]), all(outage)));
    const lost = truth(series, outage);
    expect(estimate).toBeGreaterThan(lost * 0.8);
    expect(estimate).toBeLessThan(lost * 1.2);
    expect(high - low).toBeLessThan(0.6 * estimate);
  });

  it("lie in their interval, and a longer outage never costs less", () => {
    const property = fc.property(span, fc.integer({ min: 1, max: 20 }), (outage, more) => {
      const longer = { from: outage.from, to: outage.to + (more * HOUR) / 4 };
      const known = seen(series, [longer]);
      const [one, two] = [outage, longer].map((of) => visitsLost(known, all(of), [longer]));
      if (typeof one === "string" || typeof two === "string") return one === "nothing_expected";
      expect(one?.low).toBeLessThanOrEqual(one?.estimate ?? 0);
      expect(one?.high).toBeGreaterThanOrEqual(one?.estimate ?? 0);
      // The hours between tell no more of the day, and change its factor a little.
      return (two?.estimate ?? 0) >= (one?.estimate ?? 0) * 0.95;
    });
    fc.assert(property, { numRuns: 60 });
  });

  it("are none on closed days, which tell nothing of other days either", () => {
    const outage = { from: at(0, 1), to: at(0, 3) };
    const lostWith = (...closedDays: string[]) => visitsLost({ ...seen(series, [outage]), closedDays }, all(outage));
    const whole = visits(lostWith());
    expect(visits(lostWith("2026-11-17")).estimate / whole.estimate).toBeCloseTo(0.5, 1);
    expect(lostWith("tuesday", "2026-11-18")).toBe("nothing_expected");
    const quiet = new Map(
      [...series.hours].map(([hour, n]) => [hour, n && hour >= at(0, -6) && hour < at(0, -5) ? n / 2 : n]),
    );
    const lost = (closedDays: string[]) =>
      visits(visitsLost({ ...seen({ ...series, hours: quiet }, [outage]), closedDays }, all(outage))).estimate;
    expect(lost(["2026-11-10"]) / lost([])).toBeGreaterThan(1.02);
  });

  it("of two parts add up to those of the whole", () => {
    const property = fc.property(span, fc.integer({ min: 1, max: 9 }), (outage, tenth) => {
      const cut = outage.from + Math.round(((outage.to - outage.from) * tenth) / 10);
      const known = seen(shop(0), [outage]);
      const parts = [outage, { ...outage, to: cut }, { ...outage, from: cut }];
      const [whole = 0, ...two] = parts.map((part) => {
        const found = visitsLost(known, all(part), [outage]);
        return typeof found === "string" ? 0 : found.estimate;
      });
      // Less than one usual visit is nothing.
      return Math.abs(whole - two.reduce((a, b) => a + b, 0)) < 2.1;
    });
    fc.assert(property, { numRuns: 60 });
  });

  it("are counted once where outages overlap", () => {
    const property = fc.property(span, span, (a, b) => {
      const known = seen(series, [a, b]);
      const union = { from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) };
      if (union.to - union.from > a.to - a.from + b.to - b.from) return true;
      const again = visitsLost(known, { all: [a, b, a], some: [b] });
      expect(again).toEqual(visitsLost(known, all(union)));
      return true;
    });
    fc.assert(property, { numRuns: 40 });
  });

  it("are the same in another week, and in a time zone that is whole hours away", () => {
    const outage = { from: at(10.5), to: at(16) };
    const found = visits(visitsLost(seen(series, [outage]), all(outage)));
    const by = (offsetMs: number, timezone = "UTC") => {
      const moved = { from: outage.from + offsetMs, to: outage.to + offsetMs };
      return visitsLost(seen(shop(0.2, { offsetMs, timezone }), [moved]), all(moved));
    };
    expect(by(-70 * DAY)).toEqual(found);
    expect(by(5 * HOUR, "Etc/GMT+5")).toEqual(found);
    expect(by(-9.5 * HOUR, "Australia/Darwin")).toEqual(found);
  });

  it("of some recordings are what is missing in the counts, and nothing where chance explains it", () => {
    const outage = { from: at(10), to: at(17) };
    const of = (share: number) => visitsLost(seen(series, [outage], share), { all: [], some: [outage] });
    expect(of(1)).toBe("chance_explains_it");
    expect(of(0.9)).toBe("chance_explains_it");
    const [half, none] = [visits(of(0.4)), visits(of(0))];
    expect(half.estimate).toBeGreaterThan(0.35 * truth(series, outage));
    expect(half.estimate).toBeLessThan(0.85 * truth(series, outage));
    expect(none.estimate).toBeGreaterThan(half.estimate);
    expect(visits(visitsLost(seen(series, [outage]), { all: [], some: [outage] })).estimate).toBeCloseTo(none.estimate);
  });

  it("of some recordings are not known in an hour that was not read yet", () => {
    const outage = { from: at(10), to: at(12) };
    const unread = { ...series, hours: new Map([...series.hours].filter(([hour]) => hour < at(10))) };
    expect(visitsLost(unread, { all: [], some: [outage] })).toBe("nothing_expected");
    expect(visits(visitsLost(unread, all(outage))).estimate).toBeGreaterThan(40);
  });

  it.each<[NothingLost, CountSeries, Interval]>([
    ["nothing_expected", series, { from: at(1), to: at(5) }],
    ["too_long", series, { from: at(0, -20), to: at(0) }],
    ["history_too_thin", shop(0.2, { days: 14 }), { from: at(10, -42), to: at(12, -42) }],
    ["history_too_thin", { ...series, hours: new Map() }, { from: at(10), to: at(12) }],
  ])("are not given: %s", (reason, known, outage) => {
    expect(visitsLost(known, all(outage))).toBe(reason);
  });

  it("are not given on a day on which hardly anybody came otherwise", () => {
    const outage = { from: at(13), to: at(15) };
    const holiday = seen(series, [{ from: at(0), to: at(24) }], 0.02);
    expect(visitsLost(seen(holiday, [outage]), all(outage))).toBe("unusual_day");
  });

  it("are more on a busy day, as the rest of it shows without the hours of other outages", () => {
    const [outage, other] = [
      { from: at(10), to: at(12) },
      { from: at(14), to: at(16) },
    ];
    const timesToday = (share: number) => seen(seen(series, [{ from: at(0), to: at(24) }], share), [outage]);
    const of = (known: CountSeries, others: Interval[] = []) => visits(visitsLost(known, all(outage), others)).estimate;
    expect(of(timesToday(1.4)) / of(timesToday(1))).toBeGreaterThan(1.05);
    const broken = seen(timesToday(1), [other], 0);
    expect(of(broken, [other]) / of(timesToday(1), [other])).toBeCloseTo(1);
    expect(of(broken) / of(timesToday(1))).toBeLessThan(0.98);
  });

  it("take the hours of other outages for no history, and a day without data for no day without visitors", () => {
    const outage = { from: at(10), to: at(16) };
    const past = [1, 2, 3, 4].map((week) => ({ from: at(10, -7 * week), to: at(16, -7 * week) }));
    const before = visits(visitsLost(seen(series, [outage]), all(outage)));
    const known = seen(seen(series, past, 0), [outage]);
    const { estimate } = visits(visitsLost(known, all(outage), past));
    expect(estimate / before.estimate).toBeGreaterThan(0.9);
    expect(visits(visitsLost(seen(series, [...past, outage]), all(outage))).estimate).toBeCloseTo(estimate, 0);
  });

  it("are those of the hours that have a history where an outage goes on into one that has none", () => {
    const [outage, longer] = [19, 20].map((to) => ({ from: at(10), to: at(to) }));
    if (!outage || !longer) throw new Error("two outages");
    const isNew = (hour: number) => (hour - at(19)) % DAY === 0 && hour < at(19, -7);
    const known = seen({ ...series, hours: new Map([...series.hours].filter(([hour]) => !isNew(hour))) }, [longer]);
    const found = visits(visitsLost(known, all(longer)));
    expect(found.estimate).toBeCloseTo(visits(visitsLost(known, all(outage))).estimate, 0);
    expect(visits(visitsLost(known, { all: [], some: [longer] })).estimate).toBeCloseTo(found.estimate, 0);
    expect(visitsLost(known, all({ from: at(19), to: at(20) }))).toBe("history_too_thin");
  });

  it("are finite whatever was served", () => {
    const count = fc.oneof(fc.constant(null), fc.nat(9), fc.double({ min: 0, max: 1e12, noNaN: true }));
    const property = fc.property(fc.array(count, { minLength: 24, maxLength: 80 }), span, (counts, outage) => {
      const hours = new Map([...series.hours.keys()].map((hour, i) => [hour, counts[i % counts.length] ?? null]));
      const found = visitsLost({ ...series, hours }, { all: [], some: [outage] });
      return typeof found === "string" || (found.low >= 0 && found.high < 1e14 && found.low <= found.high);
    });
    fc.assert(property, { numRuns: 30 });
  });
});
