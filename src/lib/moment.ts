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
  const iso = /^(\d{4}-\d\d-\d\d)(?:[t ](\d\d:\d\d\S*))?$/.exec(given);
  const at = DateTime.fromISO(`${iso?.[1]}T${iso?.[2]?.toUpperCase() ?? "00:00"}`, { zone: here.zone });
  return iso && at.isValid ? at.toMillis() : undefined;
}
