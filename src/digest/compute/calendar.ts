/** The days a digest looks back on, and which of them a moment falls into where a recording is. */
import { DateTime } from "luxon";
import type { Instant } from "../../lib/clock.ts";
import type { LocalHours } from "../../lib/local-hours.ts";
import type { DigestScope } from "../digest.ts";

/** Nine weeks: the period and the eight of each weekday before it. */
const DAYS_BACK = 63;
const WEEK = 7;

export interface Calendar {
  /** `YYYY-MM-DD`, oldest first, the period's last day last. */
  readonly dates: readonly string[];
  /** 1 Monday to 7 Sunday, in the same order. */
  readonly weekdays: readonly number[];
  /** Where the period's days begin in `dates`. */
  readonly periodFrom: number;
  /** Where the days shown by location begin: the period's own, at least a week. */
  readonly shownFrom: number;
  /** The place in `dates` of the local day that holds a moment; undefined: not among them. */
  indexAt(at: Instant, zone: string): number | undefined;
  /** Whether that local day is over at a moment. */
  isOver(index: number, at: Instant, zone: string): boolean;
}

export function createCalendar({ period, timezone }: DigestScope, localHours: LocalHours): Calendar {
  const last = DateTime.fromMillis(period.end - 1, { zone: timezone });
  const days = Array.from({ length: DAYS_BACK }, (_, i) => last.minus({ days: DAYS_BACK - 1 - i }));
  const dates = days.map((day) => day.toFormat("yyyy-MM-dd"));
  const places = new Map(dates.map((date, i) => [Number(date.replaceAll("-", "")), i]));
  const first = DateTime.fromMillis(period.start, { zone: timezone }).toFormat("yyyy-MM-dd");
  const periodFrom = Math.max(0, dates.indexOf(first));
  const dayOf = (at: Instant, zone: string) => Math.floor(localHours.at(at, zone).label / 100);
  return {
    dates,
    weekdays: days.map(({ weekday }) => weekday),
    periodFrom,
    shownFrom: Math.min(periodFrom, DAYS_BACK - WEEK),
    indexAt: (at, zone) => places.get(dayOf(at, zone)),
    isOver: (index, at, zone) => Number(dates[index]?.replaceAll("-", "")) < dayOf(at, zone),
  };
}
