/** The days of a digest and of the weeks before, the uptime of a location on each, and times outside schedules. */
import { DateTime } from "luxon";
import { DAY_MS, type Instant } from "../../lib/clock.ts";
import { type Interval, union } from "../../lib/intervals.ts";
import { type LocalHours, localDay } from "../../lib/local-hours.ts";
import { dayOf } from "../../lib/when.ts";
import type { DigestScope, RecordingFigures } from "../digest.ts";

/** Nine weeks: the period and the eight of each weekday before it. */
const DAYS_BACK = 63;
const WEEK = 7;

export type DigestCalendar = ReturnType<typeof digestCalendar>;

/** The days, and those of instants in a zone. */
export function digestCalendar({ period, timezone }: DigestScope, localHours: LocalHours) {
  const last = DateTime.fromMillis(period.to - 1, { zone: timezone });
  const days = Array.from({ length: DAYS_BACK }, (_, i) => last.minus({ days: DAYS_BACK - 1 - i }));
  const dates: readonly string[] = days.map((day) => day.toFormat("yyyy-MM-dd"));
  const numbers = dates.map((date) => Date.parse(date) / DAY_MS);
  const indexes = new Map(numbers.map((number, i) => [number, i]));
  const periodFrom = Math.max(0, dates.indexOf(dayOf(period.from, timezone)));
  const numberOf = (at: Instant, zone: string) => localDay(localHours.at(at, zone).slot);
  return {
    /** `YYYY-MM-DD`, oldest first, the period's last day last. */
    dates,
    /** 1 Monday to 7 Sunday, in the same order. */
    weekdays: days.map(({ weekday }) => weekday),
    /** Index in `dates` of the period's first day. */
    periodFrom,
    /** Index of the first day shown by location: the period's own, at least a week. */
    shownFrom: Math.min(periodFrom, DAYS_BACK - WEEK),
    /** Index in `dates` of the local day of an instant; undefined: not among them. */
    indexAt: (at: Instant, zone: string) => indexes.get(numberOf(at, zone)),
    /** True where that local day is over at an instant. */
    isOver: (index: number, at: Instant, zone: string) => Number(numbers[index]) < numberOf(at, zone),
  };
}

type LocationDays = ReturnType<typeof emptyDays>;

/** Sums by index in the calendar's dates, in a kilobyte; `expected`: recordings with that day in their schedule. */
export function emptyDays({ dates: { length } }: DigestCalendar) {
  return { weighted: new Float64Array(length), weight: new Float64Array(length), expected: new Uint32Array(length) };
}

/** The weight of a day where no segment was expected anywhere; beside a real weight it is nothing. */
const TINY_WEIGHT = 1e-9;

/** Adds one recording's buckets; `zone` decides its days. */
export function addDays(
  days: LocationDays,
  { buckets, scheduleHours }: RecordingFigures,
  zone: string,
  calendar: DigestCalendar,
  schedules: ScheduleTimes,
): void {
  const { length } = calendar.dates;
  const open = new Uint8Array(length);
  const reported = new Uint8Array(length);
  let first = length;
  for (const { startAt, withinSchedule, overallUptime, segmentsExpected } of buckets) {
    const at = calendar.indexAt(startAt, zone);
    if (at === undefined) continue;
    reported[at] = 1;
    first = Math.min(first, at);
    if (!withinSchedule) continue;
    open[at] = 1;
    if (overallUptime === undefined) continue;
    const weight = segmentsExpected || TINY_WEIGHT;
    days.weighted[at] = (days.weighted[at] ?? 0) + overallUptime * weight;
    days.weight[at] = (days.weight[at] ?? 0) + weight;
  }
  for (let at = first; at < length; at += 1) {
    const weekday = calendar.weekdays[at] ?? 0;
    const isExpected = reported[at] ? open[at] : !schedules.isClosedOn(scheduleHours, weekday);
    if (isExpected) days.expected[at] = (days.expected[at] ?? 0) + 1;
  }
}

/** Ratio 0–1; undefined without a figure. */
export function dayUptime({ weighted, weight }: LocationDays, at: number): number | undefined {
  const sum = weight[at] ?? 0;
  return sum > 0 ? (weighted[at] ?? 0) / sum : undefined;
}

/** Every zone's offset is a multiple of a quarter of an hour. */
const QUARTER_MS = 900_000;
/** Most recordings have one of a few schedules. */
const CACHED = 500;
const HOURS_OF_DAY = 24;

export type ScheduleTimes = ReturnType<typeof createScheduleTimes>;

/** Answers from `RecordingFigures.scheduleHours`. */
export function createScheduleTimes(localHours: LocalHours) {
  const known = new Map<string, readonly Interval[]>();
  return {
    /** The hours known to be outside the schedule; without a schedule none. */
    closed(hours: string | undefined, timezone: string, bounds: Interval): readonly Interval[] {
      if (!hours?.includes("0")) return [];
      const key = `${bounds.from} ${bounds.to} ${timezone} ${hours}`;
      const found = known.get(key) ?? closedBetween(bounds, (at) => hours[localHours.at(at, timezone).ofWeek]);
      if (known.size >= CACHED) known.clear();
      known.set(key, found);
      return found;
    },
    /** True where all of that weekday (1 Monday) is known to be outside the schedule. */
    isClosedOn(hours: string | undefined, weekday: number): boolean {
      const day = hours?.slice((weekday - 1) * HOURS_OF_DAY, weekday * HOURS_OF_DAY);
      return day !== undefined && day.length === HOURS_OF_DAY && !/[^0]/.test(day);
    },
  };
}

function closedBetween(bounds: Interval, stateAt: (at: Instant) => string | undefined): readonly Interval[] {
  const spans: Interval[] = [];
  for (let from = bounds.from - (bounds.from % QUARTER_MS); from < bounds.to; from += QUARTER_MS) {
    if (stateAt(from) !== "0") continue;
    spans.push({ from: Math.max(from, bounds.from), to: Math.min(from + QUARTER_MS, bounds.to) });
  }
  return union(spans);
}
