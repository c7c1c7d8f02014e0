/** The one shape of a digest's sections: rows of ready words and figures, which HTML and plain text both render. */
import { counted } from "../../lib/format.ts";
import type { DigestPart, LocationDigest } from "../digest.ts";

export interface DigestSection {
  readonly title: string;
  /** Beside the title: `3 recordings`. */
  readonly count?: string;
  readonly part?: DigestPart;
  readonly rows: readonly SectionRow[];
  /** Below the rows. */
  readonly explanation?: string;
}

/** A row; a cell is an empty string, or left out, where there is nothing to say. */
export interface SectionRow {
  /** `inside`: below the location above it. */
  readonly level?: "location" | "inside";
  /** Empty: the note is all there is. */
  readonly name?: string;
  readonly value?: string;
  readonly note?: string;
  /** Uptime by day in place of a note; plain text lists only a row with a `low` day. */
  readonly heat?: { readonly days: LocationDigest["days"]; readonly low: string };
}

/** `most` rows, then how many more there are. */
export function firstRows<T>(all: readonly T[], most: number, noun: string, row: (one: T) => SectionRow): SectionRow[] {
  const left = all.length - most;
  const more = left > 0 ? [{ note: `and ${counted(left, `more ${noun}`)}` }] : [];
  return [...all.slice(0, most).map(row), ...more];
}
