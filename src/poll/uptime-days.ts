/** Which days of uptime are asked for, and what is kept of them: buckets, and one ratio for each finished day. Pure. */
import { DateTime } from "luxon";
import type { UptimeBucket } from "../health/recording.ts";
import { mergeBuckets, ratioBetween } from "../health/uptime.ts";
import { DAY_MS, type Instant } from "../lib/clock.ts";
import { dayOf, utcDay } from "../lib/when.ts";
import type { DayUptime, UptimeHistory } from "../store/uptime-history.ts";

/** Local hour from which the service has finished the day before. */
const FINISHED_BY_HOUR = 6;
/** Local hour from which the last hours of the day before have settled: until it is finished it is not read again. */
const SETTLED_BY_HOUR = 2;
/** Days are kept as one ratio for this long: a month's digest and the month before it. */
const DAYS_KEPT = 62;

type DaysRead = Partial<Pick<UptimeHistory, "finishedDay" | "readFrom" | "isNextSettled">>;
type Calendar = ReturnType<typeof calendarOf>;

/** The first day to ask for: the one after the last that need not be read again, where all before it were read. */
export function firstDay(history: DaysRead = {}, calendar: Omit<Calendar, "days" | "now" | "retainMs">): string {
  const { today, oldest, oldestWhole } = calendar;
  const { finishedDay, readFrom } = history;
  const isWhole = finishedDay !== undefined && readFrom !== undefined && readFrom <= oldestWhole;
  const wanted = isWhole ? nextDay(hasSettled(history, calendar) ? nextDay(finishedDay) : finishedDay) : oldest;
  return later(wanted < today ? wanted : today, oldest);
}

/** True where the day after the last finished one was read already, and is not finished yet. */
function hasSettled(history: DaysRead | undefined, { finishedDay }: Pick<Calendar, "finishedDay">): boolean {
  return history?.isNextSettled === true && history.finishedDay === finishedDay;
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
  const oldest = dayOf(now - retainMs, zone);
  const oldestWhole = nextDay(oldest);
  for (let day = oldestWhole; day <= yesterday; day = nextDay(day)) {
    const start = DateTime.fromISO(day, { zone }).startOf("day");
    days.push({ day, from: start.toMillis(), to: start.plus({ days: 1 }).toMillis() });
  }
  const finishedDay = local.hour >= FINISHED_BY_HOUR ? yesterday : before;
  const settledDay = local.hour >= SETTLED_BY_HOUR ? yesterday : before;
  return { now, retainMs, days, today: local.toFormat("yyyy-MM-dd"), oldest, oldestWhole, finishedDay, settledDay };
}

/** The history with fresh buckets over it, all there is since `from`; finished days as one ratio each. Pure. */
export function advance(
  history: UptimeHistory | undefined,
  { from: first, buckets: fresh }: { readonly from: string; readonly buckets: readonly UptimeBucket[] },
  calendar: Calendar,
): UptimeHistory {
  const buckets = mergeBuckets(history?.buckets ?? [], fresh, calendar);
  const isSameDay = history?.finishedDay === calendar.finishedDay;
  const read = calendar.days.filter(({ day }) => day >= first || (!isSameDay && !history?.days[day]));
  const others = daysOf(buckets, read);
  const readFrom = later(readSince(history, first), calendar.oldestWhole);
  return {
    buckets,
    days: newestOf(history?.days ?? {}, others),
    finishedDay: calendar.finishedDay,
    isNextSettled:
      hasSettled(history, calendar) || (first <= calendar.settledDay && calendar.settledDay > calendar.finishedDay),
    readFrom,
  };
}

function daysOf(buckets: readonly UptimeBucket[], days: Calendar["days"]): (readonly [day: string, DayUptime])[] {
  return days.flatMap(({ day, from, to }) => {
    const one = dayUptime(buckets, from, to);
    return one ? [[day, one] as const] : [];
  });
}

/** The days with others over them, the newest of all. */
function newestOf(known: UptimeHistory["days"], others: ReturnType<typeof daysOf>): UptimeHistory["days"] {
  const days = Object.entries({ ...known, ...Object.fromEntries(others) });
  if (days.length > DAYS_KEPT) days.sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(days.slice(-DAYS_KEPT));
}

function readSince({ finishedDay, isNextSettled, readFrom }: DaysRead = {}, first: string): string {
  const days = isNextSettled ? 2 : 1;
  const joins = finishedDay !== undefined && Date.parse(first) <= Date.parse(finishedDay) + days * DAY_MS;
  return joins && readFrom !== undefined && readFrom < first ? readFrom : first;
}

function later(day: string, other: string): string {
  return day > other ? day : other;
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
  return utcDay(Date.parse(day) + DAY_MS);
}
