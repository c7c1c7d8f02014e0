import { describe, expect, it } from "vitest";
import { roundedVisits, visitsRange, visitsWords } from "../../src/alerting/uncounted.ts";

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
