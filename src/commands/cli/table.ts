/** Tables for commands: fitted to a terminal's width, plain text where the output is not one. */
import Table from "cli-table3";
import { counted } from "../../lib/format.ts";
import { stripControls } from "../../lib/text.ts";
import { type CommandIo, print } from "./command.ts";

export interface TableColumn<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string;
  readonly align?: "left" | "right";
  /** Names and the like: cut where the terminal is too narrow. Other columns always keep their width. */
  readonly canShrink?: boolean;
}

export interface TableTarget {
  /** Undefined: not a terminal. Nothing is cut or coloured then. */
  readonly width: number | undefined;
  readonly colour?: boolean;
}

const GAP = 2;
const LEAST_WIDTH = 8;
const PIECE = 100;

/** How wide a command's output may be: its terminal's columns, and colours unless `NO_COLOR` is set. */
export function tableTarget({ stdout, env }: Pick<CommandIo, "stdout" | "env">): TableTarget {
  const { isTTY, columns } = stdout as Partial<NodeJS.WriteStream>;
  return isTTY === true ? { width: columns ?? 80, colour: !env.NO_COLOR } : { width: undefined };
}

/** The table as lines ending in `\n`, heads first. Control characters are removed from cells. */
export function renderTable<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  { width = Number.POSITIVE_INFINITY, colour = false }: TableTarget = { width: undefined },
): string {
  const cells = rows.map((row) => columns.map(({ cell }) => stripControls(cell(row))));
  const natural = columns.map(({ head }, i) =>
    cells.reduce((widest, row) => Math.max(widest, displayWidth(row[i] ?? "")), displayWidth(head)),
  );
  const bold = width !== Number.POSITIVE_INFINITY && colour;
  const heads = columns.map(({ head }) => (bold ? `\u001b[1m${head}\u001b[22m` : head));
  const options: Table.TableConstructorOptions = {
    colAligns: columns.map(({ align }) => align ?? "left"),
    colWidths: fitted(natural, columns, width),
    chars: { ...NO_LINES, middle: " ".repeat(GAP) },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true },
  };
  // cli-table3 slows down as a table grows; pieces join without a seam because their widths are given.
  const pieces = cells.flatMap((_, i) => (i % PIECE === 0 ? [cells.slice(i, i + PIECE)] : []));
  return [[heads], ...pieces].map((piece) => draw(piece, options)).join("");
}

/** A list as JSON, or as a table and how many rows it has; `none` in place of an empty table. */
export function printList<Row>(
  io: CommandIo,
  output: string,
  rows: readonly Row[],
  columns: readonly TableColumn<Row>[],
  { noun, none }: { readonly noun: string; readonly none: string },
): void {
  const table = () => `${renderTable(columns, rows, tableTarget(io))}\n${counted(rows.length, noun)}\n`;
  print(io, output, rows, () => (rows.length === 0 ? `${none}\n` : table()));
}

function draw(rows: string[][], options: Table.TableConstructorOptions): string {
  const table = new Table(options);
  table.push(...rows);
  const lines = table.toString().split("\n");
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

const LINES =
  "top top-mid top-left top-right bottom bottom-mid bottom-left bottom-right left left-mid mid mid-mid right right-mid";
const NO_LINES = Object.fromEntries(LINES.split(" ").map((line) => [line, ""]));

/** Takes from the widest column that can shrink until the row fits, or none can give any more. */
function fitted(natural: readonly number[], columns: readonly { canShrink?: boolean }[], width: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, one) => sum + one, 0) + GAP * (widths.length - 1) - width;
  for (; excess > 0; excess -= 1) {
    const widest = Math.max(...widths.filter((_, i) => columns[i]?.canShrink));
    if (widest <= LEAST_WIDTH) break;
    const index = widths.findIndex((one, i) => one === widest && columns[i]?.canShrink);
    widths[index] = widest - 1;
  }
  return widths;
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

/** Columns on a terminal: wide scripts take two, combining marks none. */
function displayWidth(text: string): number {
  let width = 0;
  for (const point of text) width += /\p{M}/u.test(point) ? 0 : WIDE.test(point) ? 2 : 1;
  return width;
}
