import fc from "fast-check";
import { expect, test } from "vitest";
import { clip, subtract, total, union } from "../../src/lib/intervals.ts";

const spans = fc.array(
  fc.tuple(fc.nat(40), fc.nat(15)).map(([from, length]) => ({ from, to: from + length })),
  { maxLength: 8 },
);

/** The same thing the slow way: which whole units of time are covered. */
function units(of: readonly { from: number; to: number }[]): Set<number> {
  return new Set(of.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i)));
}

test("union, clip, subtract and total agree with counting every unit of time", () => {
  fc.assert(
    fc.property(spans, spans, (a, b) => {
      expect(units(union(a))).toEqual(units(a));
      expect(total(a)).toBe(units(a).size);
      expect(units(subtract(a, b))).toEqual(units(a).difference(units(b)));
      expect(units(clip(a, { from: 10, to: 30 }))).toEqual(units(a).intersection(units([{ from: 10, to: 30 }])));
    }),
  );
});

test("results are in order and never touch", () => {
  fc.assert(
    fc.property(spans, spans, (a, b) => {
      const rest = subtract(a, b);
      rest.forEach(({ from, to }, i) => {
        expect(to).toBeGreaterThan(from);
        if (i > 0) expect(from).toBeGreaterThan(rest[i - 1]?.to ?? Number.NaN);
      });
    }),
  );
});
