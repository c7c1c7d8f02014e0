/** A digest in plain text: the same words and figures as the HTML. */
import { counted, percent } from "../../lib/format.ts";
import { UP_ALL_THE_TIME } from "../digest.ts";
import type { DigestSection, DigestView, SectionRow } from "./view.ts";
import { namedFigure } from "./words.ts";

/** Lines end in `\n`. */
export function renderDigestText(view: DigestView): string {
  const { head, about, figures, troubled, others, notes, externalUrl } = view;
  const blocks = [
    [`${head.sentence}.`, ...(head.aside === "" ? [] : [`${head.aside}.`]), about.join(" · ")],
    figures.map(({ name, value, was }) => `${`${name}:`.padEnd(10)}${facts(value || "–", was)}`),
    ...[...troubled, ...others].map(sectionLines),
    notes,
    externalUrl === undefined ? [] : [`Open the status page: ${externalUrl}`],
  ];
  const filled = blocks.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join("\n")).join("\n\n")}\n`.replaceAll("\u00a0", " ");
}

function sectionLines({ title, count, rows, explanation }: DigestSection): string[] {
  const heading = count === undefined ? title : `${title}: ${count}`;
  const lines = rows.flatMap(rowLines);
  const up = rows.filter((row) => row.kind === "days" && row.low === undefined).length;
  if (up > 0) lines.push(`${counted(up, "location")} with no day below ${percent(UP_ALL_THE_TIME)}`);
  return [heading, "-".repeat(heading.length), ...lines, ...(explanation === undefined ? [] : [explanation])];
}

function rowLines(row: SectionRow): string[] {
  switch (row.kind) {
    case "location":
      return [facts(row.name, row.uptime, row.note)];
    case "recording":
      return [`  ${row.name}: ${facts(row.value, row.times, row.uptime)}`];
    case "together":
      return [`  ${row.text}`];
    case "names":
      return [`  ${[...row.names.map(namedFigure), row.more].filter((part) => part !== "").join(" · ")}`];
    case "entry":
      return [`${row.name}: ${facts(row.value, row.note)}`];
    case "days":
      return row.low === undefined ? [] : [`${row.name}: ${facts(row.uptime, row.low)}`];
    case "more":
      return [row.within ? `  ${row.text}` : row.text];
  }
}

function facts(...all: readonly string[]): string {
  return all.filter((fact) => fact !== "").join(", ");
}
