/** The days of a digest and of the weeks before, and the day of an instant in a zone. */
import { DateTime } from "luxon";
import type { Instant } from "../../lib/clock.ts";
import type { LocalHours } from "../../lib/local-hours.ts";
import type { DigestScope } from "../digest.ts";

/** Nine weeks: the period and the eight of each weekday before it. */
const DAYS_BACK = 63;
const WEEK = 7;

export interface DigestCalendar {
  /** `YYYY-MM-DD`, oldest first, the period's last day last. */
  readonly dates: readonly string[];
  /** 1 Monday to 7 Sunday, in the same order. */
  readonly weekdays: readonly number[];
  /** Index in `dates` of the period's first day. */
  readonly periodFrom: number;
  /** Index of the first day shown by location: the period's own, at least a week. */
  readonly shownFrom: number;
  /** Index in `dates` of the local day of an instant; undefined: not among them. */
  indexAt(at: Instant, zone: string): number | undefined;
  /** Whether that local day is over at an instant. */
  isOver(index: number, at: Instant, zone: string): boolean;
}

export function digestCalendar({ period, timezone }: DigestScope, localHours: LocalHours): DigestCalendar {
  const last = DateTime.fromMillis(period.end - 1, { zone: timezone });
  const days = Array.from({ length: DAYS_BACK }, (_, i) => last.minus({ days: DAYS_BACK - 1 - i }));
  const dates = days.map((day) => day.toFormat("yyyy-MM-dd"));
  const indexes = new Map(dates.map((date, i) => [Number(date.replaceAll("-", "")), i]));
  const first = DateTime.fromMillis(period.start, { zone: timezone }).toFormat("yyyy-MM-dd");
  const periodFrom = Math.max(0, dates.indexOf(first));
  const dayOf = (at: Instant, zone: string) => Math.floor(localHours.at(at, zone).label / 100);
  return {
    dates,
    weekdays: days.map(({ weekday }) => weekday),
    periodFrom,
    shownFrom: Math.min(periodFrom, DAYS_BACK - WEEK),
    indexAt: (at, zone) => indexes.get(dayOf(at, zone)),
    isOver: (index, at, zone) => Number(dates[index]?.replaceAll("-", "")) < dayOf(at, zone),
  };
}
