/** CSV without formulas that a spreadsheet would run (OWASP: CSV injection). */
import { stringify } from "csv-stringify/sync";

/** Text is neutralised and quoted where needed; undefined is an empty cell. */
export type CsvCell = string | number | undefined;

const OPTIONS = { record_delimiter: "\n", quoted_match: /'/ };

/** Invisible characters except line feeds: terminals interpret them, spreadsheets do not show them. */
const INVISIBLE = /(?!\n)\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/** Lines end in `\n`; every row has as many cells as the first. */
export function csvLines(rows: readonly (readonly CsvCell[])[]): string {
  const cells = rows.map((row) => row.map(cell));
  return stringify(cells, OPTIONS);
}

/** A cell that begins like a formula gets an apostrophe, which marks it as text in spreadsheets. */
function cell(value: CsvCell): string {
  if (typeof value !== "string") return value === undefined ? "" : String(value);
  const seen = value.toWellFormed().replace(/\r\n?/g, "\n").replaceAll("\t", " ").replace(INVISIBLE, "");
  return /^[\s\p{Cf}]*[=+\-@＝＋－＠]|^\n/u.test(seen) ? `'${seen}` : seen;
}
