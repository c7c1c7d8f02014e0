/** An uptime history as buckets: the hours it still has, and one bucket for each older day. */
import { DateTime } from "luxon";
import type { UptimeBucket } from "../health/recording.ts";
import type { Instant } from "../lib/clock.ts";
import type { UptimeHistory } from "../store/uptime-history.ts";

/** Days and zones are few and recordings many: the bounds of a day are computed once. */
const DAYS_CACHED = 10_000;

/**
 * Gives `bucketsOf(history, zone, from)`: buckets from the day of `from` on, oldest first. A day whose hours are all
 * stored is given by its hours, an older one as a day.
 */
export function createDailyBuckets(): (history: UptimeHistory, zone: string, from: Instant) => UptimeBucket[] {
  const days = new Map<string, { readonly from: Instant; readonly to: Instant }>();

  function dayAt(day: string, zone: string) {
    const key = `${day} ${zone}`;
    const known = days.get(key);
    if (known) return known;
    const start = DateTime.fromISO(day, { zone }).startOf("day");
    const made = { from: start.toMillis(), to: start.plus({ days: 1 }).toMillis() };
    if (days.size >= DAYS_CACHED) days.clear();
    days.set(key, made);
    return made;
  }

  return (history, zone, from) => {
    const firstHour = history.buckets[0]?.startAt ?? Number.POSITIVE_INFINITY;
    let hoursFrom = from;
    const older = Object.entries(history.days).flatMap(([date, { ratio, segmentsExpected }]) => {
      const day = dayAt(date, zone);
      if (day.to <= from || day.from >= firstHour) return [];
      hoursFrom = Math.max(hoursFrom, day.to);
      return [dayBucket(day.from, ratio, segmentsExpected)];
    });
    older.sort((a, b) => a.startAt - b.startAt);
    return [...older, ...history.buckets.filter(({ startAt }) => startAt >= hoursFrom)];
  };
}

function dayBucket(startAt: Instant, ratio: number, segmentsExpected: number): UptimeBucket {
  return {
    startAt,
    withinSchedule: true,
    segmentsExpected,
    segmentsReceived: undefined,
    avgUptimeOnSegment: undefined,
    pcSegmentsReceived: undefined,
    overallUptime: ratio,
  };
}
