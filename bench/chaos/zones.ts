/**
 * Where the sun stands as a run needs it. Uploading schedules of the simulator are from 08:00 to 20:00 of a place's
 * own time; a zone is made in which they begin, end, or are long over at a given moment. Pure.
 */
import type { Instant } from "../../src/lib/clock.ts";
import type { Span } from "./timeline.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** No zone is off by a part of a quarter of an hour. */
export const QUARTER_MS = 900_000;
const FROM_HOUR = 8;
const UNTIL_HOUR = 20;

/** A zone without a name. */
export interface Zone {
  /** `+10:45`, as ECMAScript knows them. */
  readonly name: string;
  readonly offsetMs: number;
}

/** Where it is this hour of the day at a moment, to the quarter before it. */
export function zoneWhere(hour: number, at: Instant): Zone {
  const quarter = Math.floor(at / QUARTER_MS) * QUARTER_MS;
  const ahead = (((hour * HOUR_MS - quarter) % DAY_MS) + DAY_MS) % DAY_MS;
  const offsetMs = ahead > DAY_MS / 2 ? ahead - DAY_MS : ahead;
  const minutes = Math.abs(offsetMs) / 60_000;
  const two = (n: number) => String(Math.floor(n)).padStart(2, "0");
  return { name: `${offsetMs < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`, offsetMs };
}

/** Where schedules end, or begin, at a full quarter of an hour. */
export const zoneEnding = (at: Instant): Zone => zoneWhere(UNTIL_HOUR, at);
export const zoneBeginning = (at: Instant): Zone => zoneWhere(FROM_HOUR, at);

/** The times within the schedule that touch a span. */
export function hoursWithin({ offsetMs }: Zone, { from, to }: Span): Span[] {
  const hours: Span[] = [];
  for (let day = Math.floor((from + offsetMs) / DAY_MS) - 1; ; day++) {
    const midnight = day * DAY_MS - offsetMs;
    const open = { from: midnight + FROM_HOUR * HOUR_MS, to: midnight + UNTIL_HOUR * HOUR_MS };
    if (open.from > to) return hours;
    if (open.to > from) hours.push(open);
  }
}
