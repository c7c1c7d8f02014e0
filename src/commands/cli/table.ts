/** Tables for commands: fitted to a terminal's width, plain text where the output is not one. */
import { styleText } from "node:util";
import { stripControls } from "../../lib/text.ts";
import type { CommandIo } from "./command.ts";

type Style = Parameters<typeof styleText>[0];

export interface TableColumn<Row> {
  readonly head: string;
  readonly cell: (row: Row) => string;
  readonly align?: "left" | "right";
  /** Names and the like: in several lines where the terminal is too narrow. Other columns always keep their width. */
  readonly wraps?: boolean;
  /** Left out where the terminal is too narrow, the last such column first. */
  readonly canDrop?: boolean;
  readonly style?: (row: Row) => Style | undefined;
}

/** Rows below a line that says what they share; none where it is empty. */
interface TableGroup<Row> {
  readonly heading: string;
  readonly rows: readonly Row[];
}

export interface TableTarget {
  /** Undefined: not a terminal. Nothing is wrapped, left out or coloured then. */
  readonly width: number | undefined;
  readonly colour?: boolean;
}

const GAP = 2;
const LEAST_WIDTH = 8;
/** A column is left out before one that wraps has less. */
const COMFORTABLE_WIDTH = 20;

/** The target of a command's output: its terminal's columns, and colours unless `NO_COLOR` is set. */
export function tableTarget({ stdout, env }: Pick<CommandIo, "stdout" | "env">): TableTarget {
  const { isTTY, columns } = stdout as Partial<NodeJS.WriteStream>;
  const colour = !env.NO_COLOR && env.TERM !== "dumb";
  return isTTY === true ? { width: columns || 80, colour } : { width: undefined };
}

/** The table as lines ending in `\n`, heads first. Control characters are removed from cells. */
export function renderTable<Row>(
  columns: readonly TableColumn<Row>[],
  rows: readonly Row[],
  target: TableTarget = { width: undefined },
): string {
  const { heads, groups } = drawn(columns, [{ heading: "", rows }], target, 0);
  return heads + groups;
}

/** The same with a heading above each group and its rows indented; heads only where any group has rows. */
export function renderGroups<Row>(
  columns: readonly TableColumn<Row>[],
  given: readonly TableGroup<Row>[],
  target: TableTarget,
): string {
  const { heads, groups } = drawn(columns, given, target, GAP);
  return given.some(({ rows }) => rows.length > 0) ? heads + groups : groups;
}

function drawn<Row>(
  all: readonly TableColumn<Row>[],
  groups: readonly TableGroup<Row>[],
  { width = Number.POSITIVE_INFINITY, colour = false }: TableTarget,
  indent: number,
) {
  const paint = (style: Style | undefined, text: string) =>
    colour && style && width !== Number.POSITIVE_INFINITY ? styleText(style, text, { validateStream: false }) : text;
  const cells = new Map(
    groups.flatMap(({ rows }) => rows.map((row) => [row, all.map(({ cell }) => stripControls(cell(row)))] as const)),
  );
  const natural = all.map(({ head }, i) =>
    [...cells.values()].reduce((widest, row) => Math.max(widest, displayWidth(row[i] ?? "")), displayWidth(head)),
  );
  const widths = fitted(natural, all, width - indent);
  const lines = (texts: readonly string[], styleOf: (column: TableColumn<Row>) => Style | undefined) => {
    const parts = texts.map((text, i) => wrap(text, widths[i] ?? 0));
    const height = Math.max(...parts.map(({ length }, i) => (widths[i] ? length : 0)));
    return Array.from({ length: height }, (_, at) => {
      const shown = all.flatMap((column, i) => {
        const text = parts[i]?.[at] ?? "";
        const blank = " ".repeat(Math.max((widths[i] ?? 0) - displayWidth(text), 0));
        const painted = text && paint(styleOf(column), text);
        return widths[i] ? [column.align === "right" ? blank + painted : painted + blank] : [];
      });
      return `${" ".repeat(indent)}${shown.join(" ".repeat(GAP))}`.trimEnd();
    });
  };
  const body = groups.flatMap(({ heading, rows }) => [
    ...(heading === "" ? [] : wrap(stripControls(heading), width).map((line) => paint("bold", line))),
    ...rows.flatMap((row) => lines(cells.get(row) ?? [], ({ style }) => style?.(row))),
  ]);
  const heads = all.map(({ head }) => head);
  return { heads: asLines(lines(heads, () => "bold")), groups: asLines(body) };
}

function asLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** Broken between words; inside one only where it is longer than a line. */
function wrap(text: string, width: number): string[] {
  if (displayWidth(text) <= width) return [text];
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && displayWidth(line) + 1 + displayWidth(word) <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else if (line !== "") lines.push("");
    if (lines.at(-1) !== "") continue;
    for (const point of word) {
      const last = lines.at(-1) ?? "";
      if (displayWidth(last + point) <= width) lines[lines.length - 1] = last + point;
      else lines.push(point);
    }
  }
  return lines;
}

/**
 * 0 for a column that is left out; then takes from the widest column that wraps until the row fits, or none can give
 * any more.
 */
function fitted(natural: readonly number[], columns: readonly TableColumn<never>[], width: number): number[] {
  const widths = [...natural];
  const excessOf = (some: readonly number[]) => some.reduce((sum, one) => sum + (one && one + GAP), 0) - GAP - width;
  const least = () => widths.map((one, i) => (columns[i]?.wraps ? Math.min(one, COMFORTABLE_WIDTH) : one));
  for (let i = columns.length - 1; i >= 0 && excessOf(least()) > 0; i -= 1) if (columns[i]?.canDrop) widths[i] = 0;
  const spare = (i: number) => {
    const column = columns[i];
    return column?.wraps ? (widths[i] ?? 0) - Math.max(LEAST_WIDTH, column.head.length) : 0;
  };
  for (let excess = excessOf(widths); excess > 0; excess -= 1) {
    const widest = Math.max(...widths.filter((_, i) => spare(i) > 0));
    const index = widths.findIndex((one, i) => one === widest && spare(i) > 0);
    if (index < 0) break;
    widths[index] = widest - 1;
  }
  return widths;
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;

/** Columns on a terminal: wide scripts take two, combining marks none. */
function displayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const point of text) width += /\p{M}/u.test(point) ? 0 : WIDE.test(point) ? 2 : 1;
  return width;
}
