/** Documents: what people read of a message, which each channel renders with its own markup and limits. */
import { count } from "../lib/format.ts";
import type { Tone } from "./tone.ts";

export type Link = { readonly label: string; readonly url: string };

/** Plain lines, not escaped: that depends on the channel's markup. */
export interface Document {
  /** The subject, first line and lock screen: how bad, what and where. */
  readonly title: string;
  readonly tone: Tone;
  /** Whole sentences before the list. */
  readonly lead: readonly string[];
  readonly sections: readonly Section[];
  /** Notes on all of it, after the sections. */
  readonly notes: readonly string[];
  readonly actions: readonly Link[];
}

export interface Section {
  /** With the number of alerts; undefined where the title suffices. */
  readonly heading: string | undefined;
  /** The first ones, up to the limit. */
  readonly rows: readonly Row[];
  readonly total: number;
  readonly unit: "alert" | "location";
}

export interface Row {
  /** Empty where the title names it. */
  readonly name: string;
  readonly text: string;
  /** Further lines. */
  readonly notes: readonly string[];
  readonly links: readonly Link[];
}

/** A part of a document below its title. */
export type Part =
  | { readonly kind: "lead" | "heading" | "rest" | "note"; readonly text: string }
  | { readonly kind: "row"; readonly row: Row }
  | { readonly kind: "action"; readonly link: Link };

/** The parts below the title, in the order in which they are read. */
export function partsOf({ lead, sections, notes, actions }: Document): Part[] {
  const texts = (kind: "lead" | "note", all: readonly string[]) => all.map((text): Part => ({ kind, text }));
  return [
    ...texts("lead", lead),
    ...sections.flatMap((section): Part[] => {
      const { heading, rows, total } = section;
      return [
        ...(heading === undefined ? [] : [{ kind: "heading" as const, text: heading }]),
        ...rows.map((row) => ({ kind: "row" as const, row })),
        ...(total > rows.length ? [{ kind: "rest" as const, text: restOf(section, rows.length) }] : []),
      ];
    }),
    ...texts("note", notes),
    ...actions.map((link): Part => ({ kind: "action", link })),
  ];
}

/** Everything below the title as plain text; a row is its name, and the lines below it. */
export function plainText(document: Document): string {
  const written = ({ label, url }: Link) => `${label}: ${url}`;
  const parts = partsOf(document).map((part) => {
    if (part.kind === "action") return written(part.link);
    if (part.kind !== "row") return part.text;
    const { name, text, notes, links } = part.row;
    const lines = [text, ...notes, ...links.map(written)];
    return (name === "" ? lines : [name, ...lines.map((line) => `  ${line}`)]).join("\n");
  });
  return parts.join("\n\n");
}

/** `and 37 more`: those beyond the first `shown`. */
export function restOf({ total, unit }: Section, shown: number): string {
  const left = count(total - shown);
  const noun = unit === "alert" ? "" : total - shown === 1 ? " location" : " locations";
  return shown === 0 ? `${left}${noun}, too many to list here` : `and ${left} more${noun}`;
}
