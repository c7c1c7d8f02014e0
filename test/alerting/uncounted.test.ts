import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { roundedVisits, visitsOf, visitsOnce, visitsRange, visitsWords } from "../../src/alerting/uncounted.ts";
import type { VisitsLost } from "../../src/counts/visits-lost.ts";

describe("visits uncounted in words", () => {
  it.each<[string, [estimate: number, low: number, high: number]]>([
    ["", [0, 0, 0]],
    ["", [2.4, 0, 9]],
    ["", [60, 2.4, 130]],
    ["about 5 (5–10)", [4, 2.6, 9]],
    ["about 95 (80–110)", [94, 80.2, 111]],
    ["about 310 (260–370)", [312, 264, 369]],
    ["about 990 (870–1,190)", [994, 868, 1_186]],
    ["about 3,900 (3,200–4,700)", [3_874, 3_160, 4_712]],
    ["about 120,000 (90,000–140,000)", [118_600, 94_000, 141_000]],
  ])("are %j", (words, [estimate, low, high]) => {
    const visits = { estimate, low, high };
    expect(visitsRange(visits)).toBe(words);
    const rounded = roundedVisits(visits);
    expect(rounded.low <= rounded.estimate && rounded.estimate <= rounded.high).toBe(true);
  });

  it("say so far while it lasts, and money only where a visit has a value", () => {
    const visits = { estimate: 312, low: 264, high: 369 };
    expect(visitsWords(visits, {}, true)).toBe("about 310 visits uncounted so far (260–370)");
    expect(visitsWords(visits, { valuePerVisit: 12.5, currency: "EUR" })).toBe(
      "about 310 visits uncounted (260–370), about 3,900 EUR",
    );
    expect(visitsWords(visits, { valuePerVisit: 0, currency: "EUR" })).toBe("about 310 visits uncounted (260–370)");
    expect(visitsWords({ estimate: 1, low: 0, high: 2 }, { valuePerVisit: 9, currency: "EUR" })).toBe("");
    expect(visitsWords(undefined)).toBe("");
  });
});

describe("visits of several alerts", () => {
  const EVER = { from: 0, to: Number.MAX_SAFE_INTEGER };
  /** Of two incidents with every second of them. */
  const once = <E extends { startsAt: number }>(all: readonly E[], within = EVER) => {
    const incidents = [0, 1].map((odd) => ({ episodes: all.filter((_, i) => i % 2 === odd) }));
    return visitsOnce(incidents, within, within.to).flatMap(({ episodes }) => episodes);
  };
  const visits = fc.nat(1_000).map((n): VisitsLost => ({ estimate: n, low: n * 0.8, high: n * 1.3 }));
  const alert = fc.record({
    startsAt: fc.nat(100),
    lasts: fc.integer({ min: 1, max: 50 }),
    uncounted: visits,
    locationId: fc.constantFrom("leeds", "york"),
  });
  const alerts = fc.array(
    alert.map(({ lasts, ...one }) => ({ ...one, endsAt: one.startsAt + lasts })),
    { maxLength: 6, size: "max" },
  );

  it("count once: never more than their sum, never less than the most of each location, the same however often each is given", () => {
    fc.assert(
      fc.property(alerts, (all) => {
        const found = visitsOf(once(all));
        if (!found) return all.length === 0;
        const own = all.map(({ uncounted }) => uncounted.estimate);
        const most = Map.groupBy(all, ({ locationId }) => locationId)
          .values()
          .map((here) => Math.max(...here.map(({ uncounted }) => uncounted.estimate)));
        const sum = own.reduce((a, b) => a + b, 0);
        expect(visitsOf(once([...all, ...all.map((one) => ({ ...one }))]))).toEqual(found);
        expect(found.low <= found.estimate && found.estimate <= found.high).toBe(true);
        return found.estimate <= sum + 1e-9 && found.estimate >= most.reduce((a, b) => a + b, 0) - 1e-9;
      }),
      { numRuns: 200 },
    );
  });

  it("inside a period are a share of their time, and add up over its parts", () => {
    const one = { startsAt: 0, endsAt: 100, uncounted: { estimate: 300, low: 200, high: 400 } };
    const inside = (from: number, to: number) => visitsOf(once([one], { from, to }))?.estimate;
    expect([inside(0, 50), inside(50, 80), inside(80, 900)]).toEqual([150, 90, 60]);
    expect(inside(200, 300)).toBeUndefined();
  });
});
