import fc from "fast-check";
import { expect, test } from "vitest";
import { columnPercent, decimalsOf, exactPercent, isBelow, nameOf, nameWithin, percent } from "../../src/lib/format.ts";

test.each([
  [1, "100 %"],
  [0.99999, "99.99 %"],
  [0.9951, "99.51 %"],
  [0.99, "99 %"],
  [0.98999, "98.9 %"],
  [0.57, "57 %"],
  [0.0004, "0 %"],
  [0, "0 %"],
  [undefined, ""],
])("a ratio of %s reads %j", (ratio, expected) => {
  expect(percent(ratio)).toBe(expected);
});

test.each([
  [0.95, 0],
  [0.955, 1],
  [0.9999, 2],
  [0.123456789, 7],
])("%d has %d decimals in per cent", (ratio, expected) => {
  expect(decimalsOf(ratio)).toBe(expected);
});

test("a figure reads as below a threshold exactly if it is, be they as close as floats can be", () => {
  const ratio = fc.double({ min: 0, max: 1, noNaN: true });
  const thresholds = fc.integer({ min: 0, max: 4 }).chain((decimals) => {
    const most = 10 ** (decimals + 2);
    return fc.integer({ min: 1, max: most }).map((n) => n / most);
  });
  const near = fc.tuple(thresholds, fc.integer({ min: 1, max: 16 }), fc.integer({ min: -9, max: 9 }));
  const pairs = fc.oneof(
    fc.tuple(ratio, thresholds),
    near.map(([threshold, digits, steps]) => [threshold + steps * 10 ** -digits, threshold] as const),
  );
  const read = (text: string) => Number(text.replace(" %", ""));
  fc.assert(
    fc.property(pairs, ([figure, threshold]) => {
      fc.pre(figure >= 0 && figure <= 1);
      const shown = read(percent(figure, decimalsOf(threshold)));
      expect(shown < read(exactPercent(threshold))).toBe(isBelow(figure, threshold));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ["  Till\r\n1 ", "Till 1"],
  ["\u202e\u0000", "id-1"],
  ["x".repeat(10_000), `${"x".repeat(59)}…`],
])("a name %j reads %j", (name, expected) => {
  expect(nameOf(name.slice(0, 10_000), "id-1")).toBe(expected);
});

test.each([
  [0.9, 1, "90.0 %"],
  [0.99999, 2, "99.99 %"],
  [1, 2, "100.00 %"],
  [undefined, 2, ""],
] as const)("%s with %i decimals in a column is %s, never rounded up", (ratio, decimals, words) => {
  expect(columnPercent(ratio, decimals)).toBe(words);
});

test.each([
  ["Leeds Briggate Entrance", "Leeds Briggate", "Entrance"],
  ["LEEDS – Till 3", "Leeds", "Till 3"],
  ["Leeds -", "Leeds", "Leeds -"],
  ["Leedsham", "Leeds", "Leedsham"],
  ["Till 3", "", "Till 3"],
])("%s within %s is %s", (name, location, own) => {
  expect(nameWithin(name, location)).toBe(own);
});
