import fc from "fast-check";
import { expect, test } from "vitest";
import { csvLines } from "../../src/lib/csv.ts";

test.each([
  ["plain", "plain"],
  ["a,b", '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ["two\nlines", '"two\nlines"'],
  ["=1+1", `"'=1+1"`],
  [" \u200b@SUM(A1)", `"' \u200b@SUM(A1)"`],
  ["＝1", `"'＝1"`],
  ["\t=1", `"' =1"`],
  ["\u001b[31mred\u009b\u202e", "[31mred"],
  ["\u0000=1", `"'=1"`],
  ["one\r\ntwo\rthree", '"one\ntwo\nthree"'],
  ["-5", `"'-5"`],
  [-5, "-5"],
  [0.25, "0.25"],
  [undefined, ""],
  ["", ""],
])("a cell %j reads %j", (value, expected) => {
  expect(csvLines([["x", value]])).toBe(`x,${expected}\n`);
});

test("a table has a line per row, as wide as its head", () => {
  expect(
    csvLines([
      ["a", "b"],
      ["1", 2],
    ]),
  ).toBe("a,b\n1,2\n");
});

/** RFC 4180, read by hand. */
function read(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? plain ?? "");
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

test("whatever is in a cell, what can be seen of it comes out as it went in, and nothing begins like a formula", () => {
  const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r", "\t", "=", "@", "-", "'", " ") });
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), (rows) => {
      const back = read(csvLines(rows));
      const plain = (one: string) => one.replaceAll("\t", " ").replace(/\r\n?/g, "\n").replace(/^'/, "");
      expect(back.map((row) => row.map(plain))).toEqual(rows.map((row) => row.map(plain)));
      for (const one of back.flat()) expect(one.trimStart()).not.toMatch(/^[=@-]/);
    }),
  );
});
