import { describe, expect, it } from "vitest";
import { usualEntries } from "../../src/alerting/impact.ts";

/** Fridays in October and November 2026, the last first. */
const FRIDAYS = ["2026-11-13", "2026-11-06", "2026-10-30", "2026-10-23"];
const fridays = (...counts: number[]) => counts.map((entries, i) => ({ day: FRIDAYS[i] ?? "", entries }));
const friday = (...counts: number[]) => usualEntries(fridays(...counts))[4];

describe("what a location usually counts", () => {
  it("is the median of each weekday, Monday first", () => {
    const sundays = ["2026-11-15", "2026-11-08", "2026-11-01"].map((day, i) => ({ day, entries: i }));
    const usual = usualEntries([...fridays(1_300, 1_240, 900), ...sundays]);
    expect(usual).toEqual([undefined, undefined, undefined, undefined, 1_240, undefined, 1]);
  });

  it("is not moved by one odd day", () => {
    expect(friday(1_200, 0, 1_240, 1_260)).toBe(1_220);
    expect(friday(1_240, 1_240, 50_000)).toBe(1_240);
  });

  it("is unknown with fewer than three days, and zero where nobody came", () => {
    expect(friday(1_240, 1_240)).toBeUndefined();
    const thursdays = ["2026-11-12", "2026-11-05", "2026-10-29"].map((day) => ({ day, entries: 9 }));
    expect(usualEntries([...fridays(0, 0, 0), ...thursdays])[4]).toBe(0);
  });

  it("is unknown where nobody ever comes: nobody is counted there", () => {
    expect(friday(0, 0, 0)).toBeUndefined();
  });

  it("rounds half a person up", () => {
    expect(friday(1, 2, 3, 4)).toBe(3);
  });
});
