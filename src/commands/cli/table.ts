/** Tables for commands: fitted to a terminal's width, plain text where the output is not one. */
import { stripVTControlCharacters, styleText } from "node:util";
import { stripControls } from "../../lib/text.ts";

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

interface Terminal {
  readonly stdout: NodeJS.WritableStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The target of a command's output: its terminal's columns, and colours unless `NO_COLOR` is set. */
export function tableTarget({ stdout, env }: Terminal): TableTarget {
  const { isTTY, columns } = stdout as Partial<NodeJS.WriteStream>;
  const colour = !env.NO_COLOR && env.TERM !== "dumb";
  return isTTY === true ? { width: columns || 80, colour } : { width: undefined };
}

/** The same of another stream, without colours. */
export function targetOf(stream: NodeJS.WritableStream): TableTarget {
  return tableTarget({ stdout: stream, env: { NO_COLOR: "1" } });
}

const MOST_INDENT = 24;

/** Lines broken between words, never inside one; the rest of a line stands below what follows its time or id. */
export function fitLines(text: string, { width = Number.POSITIVE_INFINITY }: TableTarget): string {
  const fit = (line: string) => {
    if (displayWidth(line) <= width) return line;
    const [lead = ""] = /^ *(?:\S+(?: \S+)? {2,})?/.exec(line) ?? [];
    const indent = " ".repeat(Math.min(lead.length, MOST_INDENT));
    const lines = [lead];
    for (const word of line.slice(lead.length).split(" ")) {
      const last = lines.at(-1) ?? "";
      const isFirst = last === lead || last === indent;
      const longer = isFirst ? last + word : `${last} ${word}`;
      if (isFirst || displayWidth(longer) <= width) lines[lines.length - 1] = longer;
      else lines.push(indent + word);
    }
    return lines.join("\n");
  };
  return text.split("\n").map(fit).join("\n");
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
  const words = all.map((_, i) =>
    Math.max(...[...cells.values()].flatMap((row) => (row[i] ?? "").split(" ").map(displayWidth)), 0),
  );
  const widths = fitted(natural, all, width - indent, words);
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
 * any more: words are broken last.
 */
function fitted(
  natural: readonly number[],
  columns: readonly TableColumn<never>[],
  width: number,
  words: readonly number[],
): number[] {
  const widths = [...natural];
  const excessOf = (some: readonly number[]) => some.reduce((sum, one) => sum + (one && one + GAP), 0) - GAP - width;
  const least = () => widths.map((one, i) => (columns[i]?.wraps ? Math.min(one, COMFORTABLE_WIDTH) : one));
  for (let i = columns.length - 1; i >= 0 && excessOf(least()) > 0; i -= 1) if (columns[i]?.canDrop) widths[i] = 0;
  const spare = (i: number, keepsWords: boolean) => {
    const column = columns[i];
    const least = Math.max(LEAST_WIDTH, column?.head.length ?? 0, keepsWords ? (words[i] ?? 0) : 0);
    return column?.wraps ? (widths[i] ?? 0) - least : 0;
  };
  for (const keepsWords of [true, false])
    for (let excess = excessOf(widths); excess > 0; excess -= 1) {
      const widest = Math.max(...widths.filter((_, i) => spare(i, keepsWords) > 0));
      const index = widths.findIndex((one, i) => one === widest && spare(i, keepsWords) > 0);
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
  for (const point of stripVTControlCharacters(text)) width += /\p{M}/u.test(point) ? 0 : WIDE.test(point) ? 2 : 1;
  return width;
}
