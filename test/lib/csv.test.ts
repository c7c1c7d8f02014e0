import fc from "fast-check";
import { expect, test } from "vitest";
import { csvLines } from "../../src/lib/csv.ts";

test.each([
  ["plain", '"plain"'],
  ["a,b", '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ["two\nlines", '"two\nlines"'],
  ["a\n\nb", '"a\n\nb"'],
  ["=1+1", `"'=1+1"`],
  ["a;=1+1", `"a;'=1+1"`],
  ["a, -1", `"a,' -1"`],
  ["a\n\n@b", `"a\n\n'@b"`],
  ['a";"=1+1', `"a"";'""=1+1"`],
  [" \u200b@SUM(A1)", `"' \u200b@SUM(A1)"`],
  ["＝1", `"'＝1"`],
  ["\t=1", `"' =1"`],
  ["\u001b[31mred\u009b\u202e", '"[31mred"'],
  ["\u0000=1", `"'=1"`],
  ["one\r\ntwo\rthree", '"one\ntwo\nthree"'],
  ["-5", `"'-5"`],
  ["5", '"5"'],
  [-5, "-5"],
  [0.25, "0.25"],
  [undefined, ""],
  ["", ""],
])("a cell %j reads %j", (value, expected) => {
  expect(csvLines([["x", value]])).toBe(`"x",${expected}\n`);
});

test("a table has a line per row, as wide as its head", () => {
  expect(
    csvLines([
      ["a", "b"],
      ["1", 2],
    ]),
  ).toBe('"a","b"\n"1",2\n');
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

const hostile = fc.string({
  unit: fc.constantFrom("a", '"', ",", ";", "\n", "\r", "\t", "=", "@", "-", "'", " ", "\u200b"),
});
const tables = fc.array(fc.tuple(hostile, hostile), { minLength: 1 });

test("whatever is in a cell, what can be seen of it comes out as it went in, and nothing begins like a formula", () => {
  fc.assert(
    fc.property(tables, (rows) => {
      const back = read(csvLines(rows));
      const plain = (one: string) => one.replaceAll("\t", " ").replace(/\r\n?/g, "\n").replaceAll("'", "");
      expect(back.map((row) => row.map(plain))).toEqual(rows.map((row) => row.map(plain)));
      for (const one of back.flat()) expect(one).not.toMatch(/^[\s\u200b]*[=@-]/);
    }),
  );
});

test.each([
  [",", "comma"],
  [";", "semicolon"],
  ["\t", "tab"],
])("nor does it where a spreadsheet separates by %j (%s), whatever it takes quotes for", (separator) => {
  fc.assert(
    fc.property(tables, (rows) => {
      const text = csvLines(rows);
      const unquoted = text.split(/\n/).flatMap((line) => line.split(separator));
      const quoted = [...text.matchAll(new RegExp(`(?:^|[${separator}\\n])"((?:[^"]|"")*)"`, "g"))].map(
        ([, one = ""]) => one,
      );
      const honoured = [...text.matchAll(new RegExp(`(?:"(?:[^"]|"")*"|[^${separator}\\n])*`, "g"))].map(
        ([one]) => one,
      );
      for (const one of [...unquoted, ...quoted, ...honoured]) expect(one).not.toMatch(/^[\s\u200b"]*[=@-]/);
    }),
    { numRuns: 300 },
  );
});
