/** `last_seen_utc`: ISO 8601, shown with and without the trailing `Z`, always UTC (field notes). */
import type { Instant } from "../lib/clock.ts";

const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/i;
const HAS_ZONE = /(?:Z|[+-]\d\d:?\d\d)$/i;

/** The instant, or NaN where the text is no timestamp. An offset, where one is given, is honoured. */
export function parseUtc(text: string): Instant {
  if (looksExact(text)) return Date.parse(text.length === 24 ? text : `${text}Z`);
  if (text.length > 40 || !ISO.test(text)) return Number.NaN;
  return Date.parse(text.length > 10 && HAS_ZONE.test(text.slice(10)) ? text : `${text}Z`);
}

const DASH = 45;
const COLON = 58;
const DOT = 46;
const LETTER_T = 84;
const LETTER_Z = 90;

/** `YYYY-MM-DDTHH:mm:ss.sss` with or without `Z`: every row has it, so no regular expression runs for it. */
function looksExact(text: string): boolean {
  return (
    (text.length === 23 || (text.length === 24 && text.charCodeAt(23) === LETTER_Z)) &&
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(10) === LETTER_T &&
    text.charCodeAt(16) === COLON &&
    text.charCodeAt(19) === DOT
  );
}
