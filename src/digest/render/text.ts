/** A digest in plain text: the same words and figures as the HTML. */
import { counted, percent } from "../../lib/format.ts";
import { UP_ALL_THE_TIME } from "../digest.ts";
import type { DigestSection, SectionRow } from "./section.ts";
import type { DigestView } from "./view.ts";

/** Lines end in `\n`. */
export function renderDigestText(view: DigestView): string {
  const { head, about, figures, sections, notes, externalUrl } = view;
  const blocks = [
    [`${head.sentence}.`, ...(head.aside === "" ? [] : [`${head.aside}.`]), about.join(" · ")],
    figures.map(({ name, value, was }) => `${`${name}:`.padEnd(11)}${facts(value || "–", was)}`),
    ...sections.map(sectionLines),
    notes,
    externalUrl === undefined ? [] : [`Open the status page: ${externalUrl}`],
  ];
  const filled = blocks.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join("\n")).join("\n\n")}\n`.replaceAll("\u00a0", " ");
}

function sectionLines({ title, count, rows, explanation }: DigestSection): string[] {
  const heading = count === undefined ? title : `${title}: ${count}`;
  const lines = rows.filter(({ heat }) => heat?.low !== "").map(rowLine);
  const up = rows.length - lines.length;
  if (up > 0) lines.push(`${counted(up, "location")} with no day below ${percent(UP_ALL_THE_TIME)}`);
  return [heading, "-".repeat(heading.length), ...lines, ...(explanation === undefined ? [] : [explanation])];
}

function rowLine({ level, name = "", value = "", note = "", heat }: SectionRow): string {
  const cells = facts(value, heat?.low ?? note);
  return `${level === "inside" ? "  " : ""}${name}${name === "" || cells === "" ? "" : ": "}${cells}`;
}

function facts(...all: readonly string[]): string {
  return all.filter((fact) => fact !== "").join(", ");
}
