/**
 * Time zones for a run. Schedules of the simulator are from 08:00 to 20:00 local time; a zone is chosen in which they
 * begin, end, or are over at a given moment. Pure.
 */
import type { Instant } from "../../src/lib/clock.ts";
import type { Span } from "./timeline.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Offsets of zones are multiples of a quarter of an hour. */
export const QUARTER_MS = 900_000;
const FROM_HOUR = 8;
const UNTIL_HOUR = 20;

/** A zone by its offset. */
export interface Zone {
  /** `+10:45`, as ECMAScript knows them. */
  readonly name: string;
  readonly offsetMs: number;
}

/** The zone in which it is this hour of the day at a moment, rounded down to a quarter of an hour. */
export function zoneAtHour(hour: number, at: Instant): Zone {
  const quarter = Math.floor(at / QUARTER_MS) * QUARTER_MS;
  const ahead = (((hour * HOUR_MS - quarter) % DAY_MS) + DAY_MS) % DAY_MS;
  const offsetMs = ahead > DAY_MS / 2 ? ahead - DAY_MS : ahead;
  const minutes = Math.abs(offsetMs) / 60_000;
  const two = (n: number) => String(Math.floor(n)).padStart(2, "0");
  return { name: `${offsetMs < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`, offsetMs };
}

/** Zones in which schedules end, or begin, at a full quarter of an hour. */
export const zoneEnding = (at: Instant): Zone => zoneAtHour(UNTIL_HOUR, at);
export const zoneBeginning = (at: Instant): Zone => zoneAtHour(FROM_HOUR, at);

/** The spans of the schedule that touch a span. */
export function scheduleSpans({ offsetMs }: Zone, { from, to }: Span): Span[] {
  const hours: Span[] = [];
  for (let day = Math.floor((from + offsetMs) / DAY_MS) - 1; ; day++) {
    const midnight = day * DAY_MS - offsetMs;
    const open = { from: midnight + FROM_HOUR * HOUR_MS, to: midnight + UNTIL_HOUR * HOUR_MS };
    if (open.from > to) return hours;
    if (open.to > from) hours.push(open);
  }
}
