/** `last_seen_utc`: ISO 8601, with or without the trailing `Z`, always UTC. */
import type { Instant } from "../lib/clock.ts";

const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i;

/** The instant, or NaN where the text is no timestamp. An offset, where one is given, is honoured. */
export function parseUtc(text: string): Instant {
  const match = ISO.exec(text.slice(0, 41));
  if (!match) return Number.NaN;
  return Date.parse(match[1] ? text : `${text}Z`);
}
