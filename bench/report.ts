/** Results of a benchmark, as a table for people and as records for scripts. */
import { renderTable } from "../src/commands/cli/table.ts";

export type Row = Readonly<Record<string, string | number>>;

export interface Report {
  readonly title: string;
  /** The baseline. */
  readonly baseline: string;
  /** Key of a row → the head of its column, with the unit. */
  readonly columns: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
  readonly notes?: readonly string[];
}

/** A heading, the baseline, the table, the notes. */
export function asText({ title, baseline, columns, rows, notes = [] }: Report): string {
  const keys = Object.keys(columns);
  const isNumber = (key: string) => rows.some((row) => typeof row[key] === "number");
  const shownColumns = keys.map((key) => ({
    head: columns[key] ?? key,
    align: isNumber(key) ? ("right" as const) : ("left" as const),
    cell: (row: Row) => shown(row[key]),
  }));
  const said = notes.map((note) => `  ${note}\n`).join("");
  return `\n${title}\n  against: ${baseline}\n\n${renderTable(shownColumns, rows)}${said}`;
}

/** Three digits that count; large numbers whole, with commas. */
function shown(value: string | number | undefined): string {
  if (typeof value !== "number") return value ?? "";
  if (Number.isNaN(value)) return "–";
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return Math.round(value).toLocaleString("en-GB");
  return value.toPrecision(3);
}
