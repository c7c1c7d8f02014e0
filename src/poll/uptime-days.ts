/** Which days of uptime are asked for, and what is kept of them: buckets, and one ratio for each finished day. Pure. */
import { DateTime } from "luxon";
import type { UptimeBucket } from "../health/recording.ts";
import { mergeBuckets, ratioBetween } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import { dayOf } from "../lib/when.ts";
import type { DayUptime, UptimeHistory } from "../store/uptime-history.ts";

/** Local hour from which the service has finished the day before. */
const FINISHED_BY_HOUR = 6;
/** Days are kept as one ratio for this long: a month's digest and the month before it. */
const DAYS_KEPT = 62;

/** The first day to ask for: the one after the last day that all of them have finished. */
export function firstDay(
  finished: readonly (string | undefined)[],
  now: Instant,
  zone: string,
  retainMs: number,
): string {
  const oldest = dayOf(now - retainMs, zone);
  const wanted = finished.map((day) => (day === undefined ? oldest : nextDay(day)));
  const [first = oldest] = [...wanted, dayOf(now, zone)].sort();
  return [first, oldest].sort()[1] ?? oldest;
}

/**
 * The days of a zone at an instant, computed once for thousands of recordings: those that are over and whose buckets are
 * all kept, oldest first, and the last one the service has finished.
 */
export function calendarOf(now: Instant, zone: string, retainMs: number) {
  const local = DateTime.fromMillis(now, { zone });
  const yesterday = local.minus({ days: 1 }).toFormat("yyyy-MM-dd");
  const before = local.minus({ days: 2 }).toFormat("yyyy-MM-dd");
  const days: { readonly day: string; readonly from: Instant; readonly to: Instant }[] = [];
  for (let day = nextDay(dayOf(now - retainMs, zone)); day <= yesterday; day = nextDay(day)) {
    const start = DateTime.fromISO(day, { zone }).startOf("day");
    days.push({ day, from: start.toMillis(), to: start.plus({ days: 1 }).toMillis() });
  }
  return { now, retainMs, days, finishedDay: local.hour >= FINISHED_BY_HOUR ? yesterday : before };
}

/** The history with fresh buckets over it, finished days as one ratio each. Pure. */
export function advance(
  history: UptimeHistory | undefined,
  fresh: readonly UptimeBucket[],
  calendar: ReturnType<typeof calendarOf>,
): UptimeHistory {
  const buckets = mergeBuckets(history?.buckets ?? [], fresh, calendar);
  const days: Record<string, DayUptime> = { ...history?.days };
  for (const { day, from, to } of calendar.days) {
    const one = dayUptime(buckets, from, to);
    if (one) days[day] = one;
  }
  const kept = Object.keys(days);
  if (kept.length > DAYS_KEPT) for (const day of kept.sort().slice(0, -DAYS_KEPT)) delete days[day];
  return { buckets, days, finishedDay: calendar.finishedDay };
}

function dayUptime(buckets: readonly UptimeBucket[], from: Instant, to: Instant): DayUptime | undefined {
  const ratio = ratioBetween(buckets, { from, to });
  if (ratio === undefined) return undefined;
  let segmentsExpected = 0;
  for (const bucket of buckets) {
    const counts = bucket.withinSchedule && bucket.startAt >= from && bucket.startAt < to;
    if (counts) segmentsExpected += bucket.segmentsExpected ?? 0;
  }
  return { ratio, segmentsExpected };
}

function nextDay(day: string): string {
  return DateTime.fromISO(day, { zone: "UTC" }).plus({ days: 1 }).toFormat("yyyy-MM-dd");
}
