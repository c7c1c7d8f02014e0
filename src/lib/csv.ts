/** CSV (RFC 4180): written without formulas that a spreadsheet would run (OWASP: CSV injection), and read. */
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

/** A row and the line of the text that it begins at, from 1. */
export type CsvRow = { readonly line: number; readonly cells: readonly string[] };

/**
 * The rows of a text, without empty ones; cells are separated by what separates most in the first line: commas, semicolons
 * or tabs. Throws an Error whose message names the line.
 */
export function* csvRows(text: string): Generator<CsvRow, void> {
  const [head = ""] = text.split(/[\r\n]/, 1);
  const apart = [",", ";", "\t"].sort((a, b) => head.split(b).length - head.split(a).length)[0] ?? ",";
  const plain = new RegExp(`[^${apart}\\r\\n]*`, "y");
  const after = new RegExp(`${apart}|\\r?\\n|\\r|$`, "y");
  const match = (pattern: RegExp, from: number) => {
    pattern.lastIndex = from;
    return pattern.exec(text)?.[0];
  };
  for (let [at, line] = [0, 1]; at < text.length; ) {
    const row = { line, cells: [] as string[] };
    for (let separator: string | undefined = apart; separator === apart; ) {
      const isQuoted = text[at] === '"';
      const value: string = isQuoted ? quotedFrom(text, at, line) : (match(plain, at) ?? "");
      at += value.length;
      line += isQuoted ? value.split("\n").length - 1 : 0;
      separator = match(after, at);
      if (separator === undefined) throw new Error(`line ${line}: text after a closing double quote`);
      at += separator.length;
      row.cells.push(isQuoted ? value.slice(1, -1).replaceAll('""', '"') : value);
    }
    line++;
    if (row.cells.some((value) => value !== "")) yield row;
  }
}

/** The quoted cell that begins there, with its quotes. */
function quotedFrom(text: string, start: number, line: number): string {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at < 0) throw new Error(`line ${line}: the closing double quote is missing`);
    if (text[at + 1] !== '"') return text.slice(start, at + 1);
  }
}
