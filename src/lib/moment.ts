/** Times as people type them, in a form or on the command line: the same words ahead of now and in the past. */
import { DateTime } from "luxon";
import type { Instant } from "./clock.ts";
import { parseDuration } from "./duration.ts";
import { inZone } from "./when.ts";

/** Completes "a time such as". */
export const MOMENT_EXAMPLES = "2h, 22:00, tomorrow 22:00 or 2026-01-31 22:00";

/** Completes "a day or time such as". */
export const PAST_EXAMPLES = "7d, 24h, 20:00, yesterday, now, 2026-01-31 or 2026-01-31 08:00";

/** A local day and its name, `YYYY-MM-DD`; or an instant, which ends where it starts and names no day, except for now. */
export type PastSpan = { readonly start: Instant; readonly end: Instant; readonly day: string | undefined };

/** A time ahead: `2h` or `+2h` from now, `22:00` the next one; a day is its start. Undefined for any other text. */
export function parseMoment(text: string, now: Instant, timezone: string): Instant | undefined {
  return parseTime(text, now, timezone, true)?.start;
}

/** A time of a day that is further away is not taken for that of the next day. */
const NEAR_MS = 12 * 3_600_000;

/** The next 08:00 in the zone that is at least an hour away. */
export function nextMorning(now: Instant, timezone: string): Instant {
  return parseMoment("08:00", now + 3_600_000 - 1, timezone) ?? now;
}

/** The time to come at which somebody expects to be done, or the words on why it is none. */
export function parseEta(text: string, now: Instant, timezone: string): Instant | string {
  const given = text.trim();
  const at = parseMoment(given, now, timezone);
  if (at === undefined || at <= now) return `expected a time to come such as ${MOMENT_EXAMPLES}`;
  if (/^\d+:/.test(given) && at - now > NEAR_MS) return `${given} has passed; tomorrow's is "tomorrow ${given}"`;
  return at;
}

/**
 * A time of the past: `24h` or `90m` ago, `20:00` the last one, `7d` or `2w` the whole day so long ago. Undefined for any
 * other text, and for days before the year 2000 or after 2199.
 */
export function parsePast(text: string, now: Instant, timezone: string): PastSpan | undefined {
  return parseTime(text, now, timezone, false);
}

const DAYS = { yesterday: -1, today: 0, tomorrow: 1 } as const;
const TIME = /^(?:(yesterday|today|tomorrow) )?([01]?\d|2[0-3]):([0-5]\d)$/;
const DAY = /^(\d{4}-\d\d-\d\d)(?:[t ](\d\d:\d\d\S*))?$/;

/** `now`, a span, a time of a day, a day, or ISO 8601: with a space for its T, and in the zone unless it has an offset. */
function parseTime(text: string, now: Instant, timezone: string, isAhead: boolean): PastSpan | undefined {
  const given = text.trim().toLowerCase();
  const here = inZone(now, timezone);
  if (given === "now") return { start: now, end: now, day: here.toFormat("yyyy-MM-dd") };
  if (Object.hasOwn(DAYS, given)) return dayAt(here.plus({ days: DAYS[given as keyof typeof DAYS] }));
  const [, many, unit] = (!isAhead && /^(\d{1,4})([dw])$/.exec(given)) || [];
  if (many !== undefined) return dayAt(here.minus({ days: +many * (unit === "w" ? 7 : 1) }));
  const ms = parseDuration(isAhead ? given.replace(/^\+/, "") : given);
  if (ms !== undefined) return instantAt(here.plus(isAhead ? ms : -ms));
  const [, day, hour, minute] = TIME.exec(given) ?? [];
  if (hour !== undefined && minute !== undefined) {
    const at = (days: number) => here.plus({ days }).set({ hour: +hour, minute: +minute, second: 0, millisecond: 0 });
    const other = isAhead === at(0) > here ? 0 : isAhead ? 1 : -1;
    return instantAt(at(day === undefined ? other : DAYS[day as keyof typeof DAYS]));
  }
  const [, date, time] = DAY.exec(given) ?? [];
  const at = DateTime.fromISO(`${date}T${time?.toUpperCase() ?? "00:00"}`, { zone: here.zone });
  if (date === undefined || !at.isValid) return undefined;
  return time === undefined ? dayAt(at) : instantAt(at);
}

function instantAt(at: DateTime): PastSpan | undefined {
  return isUsual(at) ? { start: +at, end: +at, day: undefined } : undefined;
}

function dayAt(at: DateTime): PastSpan | undefined {
  const start = at.startOf("day");
  return isUsual(at) ? { start: +start, end: +start.plus({ days: 1 }), day: start.toFormat("yyyy-MM-dd") } : undefined;
}

function isUsual({ year }: DateTime): boolean {
  return year >= 2000 && year <= 2199;
}
