/** CSV that a spreadsheet can open without being made to do something (OWASP: CSV injection). */
import { stringify } from "csv-stringify/sync";

/** Text is tamed and quoted where it must be, numbers are written as they are, undefined is an empty cell. */
export type CsvCell = string | number | undefined;
export type CsvRow = readonly CsvCell[];

const OPTIONS = { record_delimiter: "\n", quoted_match: /'/ };

/** Unseen characters but line feeds: a terminal obeys them, and no spreadsheet shows them. */
const UNSEEN = /(?!\n)\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Lines end in `\n`; every line has as many cells as the head. */
export function renderCsv(head: readonly string[], rows: readonly CsvRow[]): string {
  return csvLines([head, ...rows]);
}

/** The same without a head, for a long table made in pieces. */
export function csvLines(rows: readonly CsvRow[]): string {
  return stringify(
    rows.map((row) => row.map(cell)),
    OPTIONS,
  );
}

/** One line break is as good as another, and a tab as a space; a cell that begins like a formula gets an apostrophe, which spreadsheets take for "this is text". */
function cell(value: CsvCell): string {
  if (typeof value !== "string") return value === undefined ? "" : String(value);
  const seen = value.toWellFormed().replace(/\r\n?/g, "\n").replaceAll("\t", " ").replace(UNSEEN, "");
  return /^[\s\p{Cf}]*[=+\-@＝＋－＠]|^\n/u.test(seen) ? `'${seen}` : seen;
}
