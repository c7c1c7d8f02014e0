/** Hours and days of a time zone, across changes to and from daylight saving time. */
import { DateTime } from "luxon";
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import { dayOf } from "../lib/when.ts";

export interface CalendarHour {
  readonly startAt: Instant;
  /** Hour of the local day, 0–23. */
  readonly hour: number;
  /** 1 Monday to 7 Sunday. */
  readonly weekday: number;
  /** `YYYY-MM-DD` */
  readonly date: string;
  /** `YYYY-MM-DD HH:mm` */
  readonly index: string;
}

const CACHED_DAYS = 4_000;

/** The local hour of the day that holds an instant, and when it began. */
export function localHourOf(at: Instant, timezone: string): Omit<CalendarHour, "index"> {
  const local = DateTime.fromMillis(at, { zone: timezone });
  const { hour, weekday } = local;
  return { hour, weekday, date: local.toFormat("yyyy-MM-dd"), startAt: local.startOf("hour").toMillis() };
}

/** Days from one date to another, both included; 0 where they are reversed. */
export function daysBetween(start: string, end: string): number {
  return Math.max(0, (Date.parse(end) - Date.parse(start)) / (24 * HOUR_MS) + 1);
}

/** The dates from one to another, both included. */
export function datesBetween(start: string, end: string): string[] {
  const first = Date.parse(start);
  return Array.from({ length: daysBetween(start, end) }, (_, i) =>
    new Date(first + i * 24 * HOUR_MS).toISOString().slice(0, 10),
  );
}

export type HourCalendar = ReturnType<typeof createHourCalendar>;

export function createHourCalendar() {
  const days = new Map<string, readonly CalendarHour[]>();
  /** The hours of a local day: 24, or 23 and 25 where clocks change (one index then appears twice). */
  function hoursOf(date: string, timezone: string): readonly CalendarHour[] {
    const key = `${timezone} ${date}`;
    const known = days.get(key);
    if (known) return known;
    if (days.size >= CACHED_DAYS) days.clear();
    const hours = readDay(date, timezone);
    days.set(key, hours);
    return hours;
  }
  return {
    hoursOf,
    /** Hours that begin at or after `from` and before `to`. */
    hoursBetween(from: Instant, to: Instant, timezone: string): readonly CalendarHour[] {
      if (from >= to) return [];
      return datesBetween(dayOf(from, timezone), dayOf(to, timezone))
        .flatMap((date) => hoursOf(date, timezone))
        .filter((hour) => hour.startAt >= from && hour.startAt < to);
    },
  };
}

function readDay(date: string, timezone: string): CalendarHour[] {
  const start = DateTime.fromISO(date, { zone: timezone }).startOf("day");
  const end = start.plus({ days: 1 }).toMillis();
  const hours: CalendarHour[] = [];
  for (let at = start.toMillis(); at < end; at += HOUR_MS) {
    const local = DateTime.fromMillis(at, { zone: timezone });
    const { hour, weekday } = local;
    hours.push({ startAt: at, hour, weekday, date, index: `${date} ${local.toFormat("HH:mm")}` });
  }
  return hours;
}
