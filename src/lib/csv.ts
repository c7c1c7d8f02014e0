/** CSV without formulas that a spreadsheet would run (OWASP: CSV injection). */
import { chunksOf } from "./chunks.ts";

/** Text is neutralised and quoted; undefined is an empty cell. */
export type CsvCell = string | number | undefined;

/** Invisible characters except line feeds: terminals interpret them, spreadsheets do not show them. */
const INVISIBLE = /(?!\n)\p{Cc}|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const FORMULA = /^[\s\p{Cf}"]*[=+\-@＝＋－＠]|^\n/u;

/** Lines end in `\n`; every row has as many cells as the first. */
export function csvLines(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cell).join()}\n`).join("");
}

/** The cell of each column, by its head. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => CsvCell>>;

const ROWS_PER_STEP = 500;

/** The lines of a table, in chunks: the heads, then some rows at a time. */
export function* csvTable<Row>(columns: CsvColumns<Row>, rows: readonly Row[]): Generator<string, void> {
  const cells = Object.values(columns);
  yield csvLines([Object.keys(columns)]);
  for (const page of chunksOf(rows, ROWS_PER_STEP)) yield csvLines(page.map((row) => cells.map((cell) => cell(row))));
}

/**
 * A cell of a line (RFC 4180). What begins like a formula gets an apostrophe, which marks it as text in spreadsheets: also
 * after what one that separates by semicolons, or ignores quotes, takes for the end of a cell.
 */
function cell(value: CsvCell): string {
  if (typeof value !== "string" || value === "") return String(value ?? "");
  const seen = value.toWellFormed().replace(/\r\n?/g, "\n").replaceAll("\t", " ").replace(INVISIBLE, "");
  const pieces = seen.split(/(?<=[,;\n])/);
  const safe = pieces.map((piece, i) => (FORMULA.test(piece) && (i === 0 || piece !== "\n") ? `'${piece}` : piece));
  return `"${safe.join("").replaceAll('"', '""')}"`;
}
