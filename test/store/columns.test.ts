import fc from "fast-check";
import { expect, it } from "vitest";
import { fromColumn, fromTimes, toColumn, toTimes } from "../../src/store/columns.ts";

const number = fc.oneof(fc.constant(0), fc.nat(60), fc.nat({ max: Number.MAX_SAFE_INTEGER }));
const throughJson = <T>(value: T) => JSON.parse(JSON.stringify(value)) as T;

it("values come back as they were, with those that are not known", () => {
  fc.assert(
    fc.property(fc.array(fc.option(number, { nil: undefined })), (values) => {
      expect(fromColumn(throughJson(toColumn(values)), values.length)).toEqual(values);
    }),
  );
});

it("times come back as they were, with gaps and clocks set by half an hour", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(60, 60, 60, 30, 90, 60 * 300)), fc.nat(30_000_000), (steps, first) => {
      let at = first * 60_000;
      const times = steps.map((minutes) => {
        at += minutes * 60_000;
        return at;
      });
      expect(fromTimes(throughJson(toTimes(times)), times.length)).toEqual(times);
    }),
  );
});

it("hours without a gap and figures that stay the same take a few bytes", () => {
  const starts = Array.from({ length: 72 }, (_, i) => i * 3_600_000);
  expect(toTimes(starts)).toEqual([0, 60]);
  expect(toColumn(starts.map(() => 720))).toEqual([720]);
});
