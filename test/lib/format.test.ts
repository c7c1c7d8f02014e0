import { expect, test } from "vitest";
import { nameOf, percent } from "../../src/lib/format.ts";

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
  ["  Till\r\n1 ", "Till 1"],
  ["\u202e\u0000", "id-1"],
  ["x".repeat(10_000), `${"x".repeat(59)}…`],
])("a name %j reads %j", (name, expected) => {
  expect(nameOf(name.slice(0, 10_000), "id-1")).toBe(expected);
});
