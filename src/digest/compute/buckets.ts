/** The service's buckets inside a period, each with the time it covers. */
import type { UptimeBucket } from "../../health/recording.ts";
import { bucketLengthMs, SETTLING_MS } from "../../health/uptime.ts";
import type { Instant } from "../../lib/clock.ts";
import { type Interval, union } from "../../lib/intervals.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A bucket with the time it covers. */
export type TimedBucket = Interval & { readonly bucket: UptimeBucket };

/** The buckets in order, as far as they are settled by `now`. Hourly and daily ones may be mixed. */
export function timedBuckets(buckets: readonly UptimeBucket[], now: Instant): TimedBucket[] {
  const isSorted = buckets.every(({ startAt }, i) => i === 0 || startAt >= (buckets[i - 1]?.startAt ?? 0));
  const sorted = isSorted ? buckets : buckets.toSorted((a, b) => a.startAt - b.startAt);
  const length = bucketLengthMs(sorted);
  const hour = length < DAY - HOUR ? length : HOUR;
  const timed: TimedBucket[] = [];
  for (const [i, bucket] of sorted.entries()) {
    const from = bucket.startAt;
    const to = from + bucketLength(bucket, sorted[i - 1], sorted[i + 1], hour);
    if (to <= now - SETTLING_MS) timed.push({ bucket, from, to });
  }
  return timed;
}

/** The buckets of which more than half lies inside `bounds`, cut off there. */
export function bucketsWithin(timed: readonly TimedBucket[], bounds: Interval): TimedBucket[] {
  return timed.flatMap(({ bucket, from, to }) => {
    const middle = (from + to) / 2;
    if (middle < bounds.from || middle >= bounds.to) return [];
    return [{ bucket, from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) }];
  });
}

/**
 * The service does not give the length of a bucket. One a day from its neighbours covers its day, which may have 23 or
 * 25 hours; a closed one never does, so that it does not excuse a day of downtime.
 */
function bucketLength(
  { startAt, withinSchedule }: UptimeBucket,
  previous: UptimeBucket | undefined,
  next: UptimeBucket | undefined,
  hour: number,
): number {
  const isDay = (length: number) => length >= DAY - HOUR && length <= DAY + HOUR;
  const toNext = (next?.startAt ?? Number.POSITIVE_INFINITY) - startAt;
  if (!withinSchedule || toNext < DAY - HOUR) return Math.min(hour, toNext);
  if (isDay(toNext)) return toNext;
  return previous && isDay(startAt - previous.startAt) ? DAY : hour;
}

/** Time outside the schedule by the service's own buckets. */
export function closedTime(buckets: readonly TimedBucket[]): readonly Interval[] {
  return union(buckets.filter(({ bucket }) => !bucket.withinSchedule));
}

/** The time covered by hourly buckets. */
export function hourlyTime(buckets: readonly TimedBucket[]): readonly Interval[] {
  return union(buckets.filter(({ from, to }) => to - from <= HOUR));
}
