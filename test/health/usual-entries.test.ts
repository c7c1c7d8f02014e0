import { describe, expect, it } from "vitest";
import { usualEntries } from "../../src/alerting/impact.ts";

const on = (weekday: number, ...counts: number[]) => counts.map((entries) => ({ weekday, entries }));
const fridays = (...counts: number[]) => on(4, ...counts);
const friday = (...counts: number[]) => usualEntries(fridays(...counts))[4];

describe("what a location usually counts", () => {
  it("is the median of each weekday, Monday first", () => {
    const usual = usualEntries([...fridays(1_300, 1_240, 900), ...on(6, 0, 1, 2)]);
    expect(usual).toEqual([undefined, undefined, undefined, undefined, 1_240, undefined, 1]);
  });

  it("is not moved by one odd day", () => {
    expect(friday(1_200, 0, 1_240, 1_260)).toBe(1_220);
    expect(friday(1_240, 1_240, 50_000)).toBe(1_240);
  });

  it("is unknown with fewer than three days, and zero where nobody came", () => {
    expect(friday(1_240, 1_240)).toBeUndefined();
    expect(usualEntries([...fridays(0, 0, 0), ...on(3, 9, 9, 9)])[4]).toBe(0);
  });

  it("is unknown where nobody ever comes: nobody is counted there", () => {
    expect(friday(0, 0, 0)).toBeUndefined();
  });

  it("rounds half a person up", () => {
    expect(friday(1, 2, 3, 4)).toBe(3);
  });
});
