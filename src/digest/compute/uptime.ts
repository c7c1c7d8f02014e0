/** Uptime of any number of recordings over the period, and the time they were not meant to record. */
import type { UptimeBucket } from "../../health/recording.ts";
import type { Instant } from "../../lib/clock.ts";
import type { Span } from "../digest.ts";
import { union } from "./spans.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The service refreshes its figures every ten minutes: what ended later than this ago is not settled. */
const SETTLED_AFTER = 15 * 60_000;

/** A bucket with the time it stands for. */
export interface TimedBucket extends Span {
  readonly bucket: UptimeBucket;
}

/**
 * The buckets of which more than half lies inside `bounds`, cut off there, in order, as far as they are settled
 * by `now`. Hourly and daily ones may be mixed.
 */
export function timedBuckets(buckets: readonly UptimeBucket[], bounds: Span, now: Instant): TimedBucket[] {
  const sorted = buckets.toSorted((a, b) => a.startAt - b.startAt);
  const hour = shortestStep(sorted);
  return sorted.flatMap((bucket, i) => {
    const from = bucket.startAt;
    const to = from + bucketLength(bucket, sorted[i - 1], sorted[i + 1], hour);
    const middle = (from + to) / 2;
    if (middle < bounds.from || middle >= bounds.to || to > now - SETTLED_AFTER) return [];
    return [{ bucket, from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) }];
  });
}

/** The smallest distance between two buckets, at most an hour. */
function shortestStep(sorted: readonly UptimeBucket[]): number {
  return sorted.reduce((step, { startAt }, i) => {
    const gap = (sorted[i + 1]?.startAt ?? Number.POSITIVE_INFINITY) - startAt;
    return gap > 0 ? Math.min(step, gap) : step;
  }, HOUR);
}

/**
 * The service does not say how long a bucket is. One a day from its neighbours stands for its day, which may have
 * 23 or 25 hours; a closed one never does, so that no downtime is explained away.
 */
function bucketLength(
  { startAt, withinSchedule }: UptimeBucket,
  previous: UptimeBucket | undefined,
  next: UptimeBucket | undefined,
  hour: number,
): number {
  const isDay = (length: number) => length >= DAY - HOUR && length <= DAY + HOUR;
  const toNext = (next?.startAt ?? Number.POSITIVE_INFINITY) - startAt;
  if (!withinSchedule || toNext < DAY - HOUR) return hour;
  if (isDay(toNext)) return toNext;
  return previous && isDay(startAt - previous.startAt) ? DAY : hour;
}

/** Time outside the uploading schedule, as the service tells it bucket by bucket. */
export function closedTime(buckets: readonly TimedBucket[]): Span[] {
  return union(buckets.filter(({ bucket }) => !bucket.withinSchedule));
}

/** The time of which the service's word is kept hour by hour. */
export function hourlyTime(buckets: readonly TimedBucket[]): Span[] {
  return union(buckets.filter(({ from, to }) => to - from <= HOUR));
}

/**
 * Sums from which the mean of `dayRatio` (health) is made; they add up, so that a location's mean comes from the
 * buckets of all its recordings without holding them together.
 */
export interface UptimeTally {
  weighted: number;
  weight: number;
  plain: number;
  count: number;
}

export function emptyTally(): UptimeTally {
  return { weighted: 0, weight: 0, plain: 0, count: 0 };
}

/** Adds the buckets within schedule that have a figure, weighted by the segments expected in them. */
export function addBuckets(tally: UptimeTally, buckets: readonly TimedBucket[]): UptimeTally {
  for (const { bucket } of buckets) {
    if (!bucket.withinSchedule || bucket.overallUptime === undefined) continue;
    const weight = bucket.segmentsExpected ?? 0;
    tally.weighted += bucket.overallUptime * weight;
    tally.weight += weight;
    tally.plain += bucket.overallUptime;
    tally.count += 1;
  }
  return tally;
}

export function addTally(sum: UptimeTally, part: UptimeTally): UptimeTally {
  sum.weighted += part.weighted;
  sum.weight += part.weight;
  sum.plain += part.plain;
  sum.count += part.count;
  return sum;
}

/** The mean, 0–1; unweighted where no segment was expected, undefined where there was no bucket. */
export function meanUptime(tally: UptimeTally): number | undefined {
  if (tally.weight > 0) return tally.weighted / tally.weight;
  return tally.count > 0 ? tally.plain / tally.count : undefined;
}
