/**
 * Time intervals as Alertmanager has them: an instant lies in one when every given field has a range for it, in the
 * interval's time zone. Where clocks go back an hour counts twice, where they go forward it is skipped.
 */
import { DateTime } from "luxon";
import { type Instant, MINUTE_MS } from "../lib/clock.ts";
import { clip, type Interval } from "../lib/intervals.ts";
import type { Suppression } from "./model.ts";

/** Both ends included. */
export type Range = { readonly from: number; readonly to: number };

/** An absent field matches at all times. */
export interface TimeInterval {
  /** Minutes of the day, the end exclusive: 1440 is midnight at the end of it. */
  readonly times?: readonly Range[] | undefined;
  /** 0 is Sunday. */
  readonly weekdays?: readonly Range[] | undefined;
  /** 1–31, or from the end: −1 is the last day. */
  readonly daysOfMonth?: readonly Range[] | undefined;
  /** 1–12. */
  readonly months?: readonly Range[] | undefined;
  readonly years?: readonly Range[] | undefined;
  /** IANA. */
  readonly location: string;
}

export interface NamedInterval {
  readonly name: string;
  /** Any of them. */
  readonly intervals: readonly TimeInterval[];
}

/** True if the instant lies in any interval of that name. */
export function isWithin({ intervals }: NamedInterval, at: Instant): boolean {
  return intervals.some((interval) => contains(interval, at));
}

/** The time inside the bounds that lies in any interval of that name. */
export function timesIn({ intervals }: NamedInterval, bounds: Interval): readonly Interval[] {
  const spans = intervals.flatMap((interval) => spansOf(interval, bounds));
  return clip(spans, bounds);
}

/** Day by day; where clocks change, minute by minute. */
function spansOf(interval: TimeInterval, { from, to }: Interval): Interval[] {
  const { times = [{ from: 0, to: MINUTES_OF_DAY }] } = interval;
  const spans: Interval[] = [];
  let day = DateTime.fromMillis(from, { zone: interval.location }).startOf("day");
  while (day.toMillis() < to) {
    const next = day.plus({ days: 1 }).startOf("day");
    const [start, end] = [day.toMillis(), next.toMillis()];
    if (end - start !== MINUTES_OF_DAY * MINUTE_MS) spans.push(...minutesOf(interval, { from: start, to: end }));
    else if (isOnDay(interval, day))
      spans.push(...times.map((one) => ({ from: start + one.from * MINUTE_MS, to: start + one.to * MINUTE_MS })));
    day = next;
  }
  return spans;
}

function minutesOf(interval: TimeInterval, { from, to }: Interval): Interval[] {
  const starts = Array.from({ length: (to - from) / MINUTE_MS }, (_, i) => from + i * MINUTE_MS);
  return starts.flatMap((at) => (contains(interval, at) ? [{ from: at, to: at + MINUTE_MS }] : []));
}

/** The times in which a route notifies: never its mute times, and where it has active times, those alone. */
export interface RouteTimes {
  readonly muteTimes?: readonly NamedInterval[] | undefined;
  readonly activeTimes?: readonly NamedInterval[] | undefined;
}

const MINUTES_OF_DAY = 1_440;
/** The time ahead in which the end of a mute time is searched: over the longest weekend. */
const SEARCHED_MS = 8 * 86_400_000;

/** By route: what mutes it in this minute. Local time in another zone is slow to compute. */
const answers = new WeakMap<RouteTimes, { readonly minute: Instant; readonly mute: Suppression | undefined }>();

/** The mute time of a route now; `until` where that is within the next eight days. Computed once per route and minute. */
export function muteOf(times: RouteTimes, now: Instant): Suppression | undefined {
  const minute = now - (now % MINUTE_MS);
  const known = answers.get(times);
  if (known?.minute === minute) return known.mute;
  const mute = muteIn(times, minute);
  answers.set(times, { minute, mute });
  return mute;
}

function muteIn(times: RouteTimes, minute: Instant): Suppression | undefined {
  const by = muter(times, minute);
  if (by === undefined) return undefined;
  const { muteTimes = [], activeTimes = [] } = times;
  const ahead = { from: minute, to: minute + SEARCHED_MS };
  const spans = [...muteTimes, ...activeTimes].flatMap((interval) => timesIn(interval, ahead));
  const changes = spans.flatMap(({ from, to }) => [from, to]).filter((at) => at > minute);
  const until = changes.sort((a, b) => a - b).find((at) => muter(times, at) === undefined);
  return until === undefined ? { reason: "muted", by } : { reason: "muted", by, until };
}

function muter({ muteTimes = [], activeTimes = [] }: RouteTimes, at: Instant): string | undefined {
  const muting = muteTimes.find((interval) => isWithin(interval, at));
  if (muting) return muting.name;
  if (activeTimes.length === 0 || activeTimes.some((interval) => isWithin(interval, at))) return undefined;
  return activeTimes[0]?.name;
}

function contains(interval: TimeInterval, at: Instant): boolean {
  const time = DateTime.fromMillis(at, { zone: interval.location });
  const minute = time.hour * 60 + time.minute;
  return (interval.times?.some(({ from, to }) => minute >= from && minute < to) ?? true) && isOnDay(interval, time);
}

function isOnDay({ weekdays, daysOfMonth, months, years }: TimeInterval, time: DateTime): boolean {
  return (
    isIn(weekdays, time.weekday % 7) &&
    (daysOfMonth?.some((range) => isDayIn(range, time)) ?? true) &&
    isIn(months, time.month) &&
    isIn(years, time.year)
  );
}

function isIn(ranges: readonly Range[] | undefined, value: number): boolean {
  return ranges?.some(({ from, to }) => value >= from && value <= to) ?? true;
}

/** Days beyond the month's last are cut to it; a range that begins beyond it has no day in this month. */
function isDayIn({ from, to }: Range, { day, daysInMonth = 31 }: DateTime): boolean {
  const [first, last] = [from, to].map((end) => (end < 0 ? daysInMonth + end + 1 : end)) as [number, number];
  return first <= daysInMonth && day >= Math.max(1, first) && day <= Math.min(last, daysInMonth);
}
