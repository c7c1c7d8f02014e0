/** Moments as people type them, in a form or on the command line. */
import { DateTime } from "luxon";
import type { Instant } from "./clock.ts";
import { parseDuration } from "./duration.ts";
import { inZone } from "./when.ts";

/** Completes "a time such as". */
export const MOMENT_EXAMPLES = "+2h, 22:00, tomorrow 22:00 or 2026-01-31 22:00";

/**
 * `+2h`, `22:00` (the next one), `today 22:00`, `tomorrow 22:00` or ISO 8601, with a space for its T and in the zone
 * unless it has an offset. Undefined for any other text.
 */
export function parseMoment(text: string, now: Instant, timezone: string): Instant | undefined {
  const given = text.trim().toLowerCase();
  if (given.startsWith("+")) {
    const ms = parseDuration(given.slice(1));
    return ms === undefined ? undefined : now + ms;
  }
  const here = inZone(now, timezone);
  const [, day, hour, minute] = /^(?:(today|tomorrow) )?([01]?\d|2[0-3]):([0-5]\d)$/.exec(given) ?? [];
  if (hour !== undefined && minute !== undefined) {
    const at = (days: number) => here.plus({ days }).set({ hour: +hour, minute: +minute, second: 0, millisecond: 0 });
    const isPast = day === undefined && at(0) <= here;
    return at(isPast || day === "tomorrow" ? 1 : 0).toMillis();
  }
  return parseIso(given, here)?.toMillis();
}

/** Completes "a day or time such as". */
export const PAST_EXAMPLES = "2026-01-31, 2026-01-31T08:00Z, yesterday, 7d or 24h";

/** A local day and its name, `YYYY-MM-DD`; or an instant, which ends where it starts and names no day. */
export type PastSpan = { readonly start: Instant; readonly end: Instant; readonly day: string | undefined };

/**
 * `today`, `yesterday` or an ISO date; `7d` or `2w`, the day so long ago; `24h` or `90m` ago; ISO 8601 with a time, in the
 * zone unless it has an offset. Undefined for any other text, and for days before the year 2000 or after 2199.
 */
export function parsePast(text: string, now: Instant, timezone: string): PastSpan | undefined {
  const given = text.trim().toLowerCase();
  const here = inZone(now, timezone);
  const days = given.replace(/^today$/, "0d").replace(/^yesterday$/, "1d");
  const [, many, unit] = /^(\d{1,4})([dw])$/.exec(days) ?? [];
  const ago = many === undefined ? undefined : +many * (unit === "w" ? 7 : 1);
  if (ago === undefined) {
    const ms = parseDuration(given);
    if (ms !== undefined) return ms <= now ? { start: now - ms, end: now - ms, day: undefined } : undefined;
  }
  const at = ago === undefined ? parseIso(given, here) : here.minus({ days: ago });
  if (!at || at.year < 2000 || at.year > 2199) return undefined;
  if (ago === undefined && given.length > "2026-01-31".length) return { start: +at, end: +at, day: undefined };
  const start = at.startOf("day");
  return { start: +start, end: +start.plus({ days: 1 }), day: start.toFormat("yyyy-MM-dd") };
}

function parseIso(given: string, { zone }: DateTime): DateTime | undefined {
  const iso = /^(\d{4}-\d\d-\d\d)(?:[t ](\d\d:\d\d\S*))?$/.exec(given);
  const at = DateTime.fromISO(`${iso?.[1]}T${iso?.[2]?.toUpperCase() ?? "00:00"}`, { zone });
  return iso && at.isValid ? at : undefined;
}
