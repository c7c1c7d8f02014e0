/** A history as buckets: the hours it still has, and one bucket for each older day. Pure. */
import { DateTime } from "luxon";
import type { UptimeBucket } from "../health/recording.ts";
import type { Instant } from "../lib/clock.ts";
import type { UptimeHistory } from "../store/uptime.ts";

/**
 * Buckets from `from` on, oldest first, with the day it falls into; a day of which an hour is kept is not also given
 * as a day.
 */
export function dailyBuckets(history: UptimeHistory, zone: string, from: Instant): UptimeBucket[] {
  const firstHour = history.buckets[0]?.startAt ?? Number.POSITIVE_INFINITY;
  const days = Object.entries(history.days).flatMap(([day, { ratio, segmentsExpected }]) => {
    const start = DateTime.fromISO(day, { zone });
    const end = start.plus({ days: 1 }).toMillis();
    if (end <= from || end > firstHour) return [];
    return [dayBucket(start.toMillis(), ratio, segmentsExpected)];
  });
  return [...days, ...history.buckets.filter(({ startAt }) => startAt >= from)].sort(
    (a, b) => a.startAt - b.startAt,
  );
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
