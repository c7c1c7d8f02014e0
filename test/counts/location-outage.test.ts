import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type OutageAlert, visitsInAll, visitsLostDuring } from "../../src/counts/location-outage.ts";
import type { CountedHours, VisitsLost } from "../../src/counts/visits-lost.ts";
import type { ProblemKind } from "../../src/health/alert.ts";

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 10, 18, 12);
const EVER = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** 40 an hour, and of these hours `during` instead. */
function counts(during: number | null, [first, hours]: [first: number, hours: number] = [0, 0]): CountedHours {
  const all = Array.from({ length: 57 * 24 }, (_, i) => NOON + 24 * HOUR - (i + 1) * HOUR);
  const isOut = (at: number) => at >= NOON + first * HOUR && at < NOON + (first + hours) * HOUR;
  return { timezone: "UTC", hours: new Map(all.map((at) => [at, isOut(at) ? during : 40 + ((at / HOUR) % 3)])) };
}

const row = (id: string, from: number, to: number, problem: ProblemKind = "offline"): OutageAlert => ({
  subject: { kind: problem === "location_offline" ? "location" : "recording", id },
  problem,
  startsAt: NOON + from * HOUR,
  endsAt: NOON + to * HOUR,
});

const estimate = (...args: Parameters<typeof visitsLostDuring>) => {
  const found = visitsLostDuring(...args);
  return typeof found === "string" ? found : Math.round(found.estimate / 10) * 10;
};

describe("visits lost while an alert fires", () => {
  const now = NOON + 20 * HOUR;

  it("are all while every recording of the location is offline, also in part of an hour", () => {
    const [door, till] = [row("door", 0, 0.5), row("till", 0.25, 0.75)];
    const whole = counts(40);
    expect(estimate(door, [till], 2, whole, now)).toBe(10);
    expect(estimate(door, [row("till", 0, 0.5)], 2, whole, now)).toBe(20);
    expect(estimate(door, [row("till", 0, 0.5)], 3, whole, now)).toBe("chance_explains_it");
    expect(estimate(door, [], 1, whole, now)).toBe(20);
  });

  it("are all where nothing was counted though few recordings have an alert", () => {
    expect(estimate(row("leeds", 0.5, 3.5, "location_offline"), [], 4, counts(null, [1, 2]), now)).toBe(120);
    expect(estimate(row("door", 0, 3), [], 4, counts(0, [0, 3]), now)).toBe(120);
  });

  it("last until now while it fires, and are none for what does not keep anything from being counted", () => {
    const door = { ...row("door", -3, 0), endsAt: undefined };
    expect(estimate(door, [], 1, counts(null, [-3, 24]), NOON)).toBe(120);
    expect(estimate(row("door", 0, 3, "low_quality"), [], 1, counts(0, [0, 3]), now)).toBe("nothing_expected");
  });

  it("are also what a camera that is online does not count", () => {
    expect(estimate(row("door", 0, 3, "not_uploading"), [], 1, counts(40), now)).toBe(120);
    expect(estimate(row("door", 0, 3, "counts_low"), [], 1, counts(8, [0, 3]), now)).toBe(100);
    expect(estimate(row("leeds", 0, 3, "counts_low"), [], 2, counts(8, [0, 3]), now)).toBe(100);
  });

  it("are not said of low counts by a short outage meanwhile, while the hours before it are not known", () => {
    const outage = [row("door", 2, 2.25), row("till", 2, 2.25)];
    const { hours, timezone } = counts(40);
    const unread = { timezone, hours: new Map([...hours].filter(([at]) => at < NOON || at >= NOON + 3 * HOUR)) };
    expect(estimate(row("door", 0, 3, "counts_low"), outage, 2, unread, now)).toBe("nothing_expected");
    expect(estimate(row("door", 2, 2.25), [row("till", 2, 2.25)], 2, unread, now)).toBe(10);
    expect(estimate(row("door", 0, 3, "counts_low"), outage, 2, counts(8, [0, 3]), now)).toBe(100);
  });

  it("have a history also where a recording that counts nothing was offline for weeks", () => {
    const yard = row("yard", -50 * 24, 3);
    expect(estimate(row("door", 0, 3), [yard], 3, counts(0, [0, 3]), now)).toBe(120);
  });
});

describe("visits of several alerts", () => {
  const visits = fc.nat(1_000).map((n): VisitsLost => ({ estimate: n, low: n * 0.8, high: n * 1.3 }));
  const alert = fc.record({ startsAt: fc.nat(100), lasts: fc.integer({ min: 1, max: 50 }), uncounted: visits });
  const alerts = fc.array(
    alert.map(({ lasts, ...one }) => ({ ...one, endsAt: one.startsAt + lasts })),
    { maxLength: 6 },
  );

  it("count once: never more than their sum, never less than any of them, the same however often each is given", () => {
    fc.assert(
      fc.property(alerts, (all) => {
        const found = visitsInAll(all, EVER);
        if (!found) return all.length === 0;
        const own = all.map(({ uncounted }) => uncounted.estimate);
        const sum = own.reduce((a, b) => a + b, 0);
        expect(visitsInAll([...all, ...all], EVER)).toEqual(found);
        expect(found.low <= found.estimate && found.estimate <= found.high).toBe(true);
        return found.estimate <= sum + 1e-9 && found.estimate >= Math.max(...own) - 1e-9;
      }),
      { numRuns: 200 },
    );
  });

  it("inside a period are a share of their time, and add up over its parts", () => {
    const one = { startsAt: 0, endsAt: 100, uncounted: { estimate: 300, low: 200, high: 400 } };
    const inside = (from: number, to: number) => visitsInAll([one], { from, to })?.estimate;
    expect([inside(0, 50), inside(50, 80), inside(80, 900)]).toEqual([150, 90, 60]);
    expect(inside(200, 300)).toBeUndefined();
  });
});
