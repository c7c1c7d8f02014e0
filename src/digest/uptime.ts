/** Uptime of any number of recordings over the period, and the time they were not meant to record. */
import type { UptimeBucket } from "../health/recording.ts";
import type { Instant } from "../lib/clock.ts";
import type { Span } from "./digest.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The service refreshes its figures every ten minutes: what ended later than this ago is not settled. */
const SETTLED_AFTER = 15 * 60_000;

/** A bucket with the time it stands for. */
export interface TimedBucket extends Span {
  readonly bucket: UptimeBucket;
}

/** The buckets that start inside `bounds` and are settled by `now`, in order; hourly and daily ones alike. */
export function timedBuckets(buckets: readonly UptimeBucket[], bounds: Span, now: Instant): TimedBucket[] {
  const inside = buckets
    .filter(({ startAt }) => startAt >= bounds.from && startAt < bounds.to)
    .sort((a, b) => a.startAt - b.startAt);
  const width = bucketWidth(inside);
  return inside
    .map((bucket, i) => {
      const next = inside[i + 1]?.startAt ?? bounds.to;
      return { bucket, from: bucket.startAt, to: Math.min(next, bucket.startAt + width, bounds.to) };
    })
    .filter(({ to }) => to <= now - SETTLED_AFTER);
}

/** The smallest distance between two buckets; days may have 25 hours, and a bucket on its own may be one. */
function bucketWidth(buckets: readonly UptimeBucket[]): number {
  let width = DAY + HOUR;
  buckets.forEach(({ startAt }, i) => {
    const gap = (buckets[i + 1]?.startAt ?? Number.POSITIVE_INFINITY) - startAt;
    if (gap > 0 && gap < DAY - HOUR) width = Math.min(width, gap);
  });
  return width;
}

/** Time outside the uploading schedule, as the service tells it bucket by bucket. */
export function closedTime(buckets: readonly TimedBucket[]): Span[] {
  return buckets.filter(({ bucket }) => !bucket.withinSchedule);
}

/** Sums from which a mean is made: so that a location's comes from the buckets of all its recordings. */
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
