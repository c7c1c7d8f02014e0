/** Uptime and outages as sums that add up, so that totals come from recordings without storing their buckets. */
import type { Interval } from "../../lib/intervals.ts";
import type { Outage } from "../digest.ts";
import type { TimedBucket } from "./buckets.ts";

type DigestTally = ReturnType<typeof newTally>;

/**
 * `weighted` to `count` give the mean of `ratioBetween` (health); the rest are outages. `recovered` did so inside the
 * period, after `downMs` together.
 */
export function newTally() {
  return { weighted: 0, weight: 0, plain: 0, count: 0, lostMs: 0, recovered: 0, downMs: 0 };
}

/**
 * One recording in one period: buckets inside the schedule that have a figure, weighted by the segments expected in
 * them; an outage counts where it has downtime, and recovers in the period in which it ended.
 */
export function tallyOf(buckets: readonly TimedBucket[], outages: readonly Outage[], bounds: Interval): DigestTally {
  const tally = newTally();
  for (const { bucket } of buckets) {
    if (!bucket.withinSchedule || bucket.overallUptime === undefined) continue;
    const weight = bucket.segmentsExpected ?? 0;
    tally.weighted += bucket.overallUptime * weight;
    tally.weight += weight;
    tally.plain += bucket.overallUptime;
    tally.count += 1;
  }
  for (const { startsAt, endsAt, lostMs, plannedMs, recovered } of outages) {
    tally.lostMs += lostMs;
    if (!recovered || endsAt === undefined || endsAt <= bounds.from || endsAt > bounds.to) continue;
    tally.recovered += 1;
    tally.downMs += endsAt - startsAt - plannedMs;
  }
  return tally;
}

/** Adds `part` to `sum` in place. */
export function addTally(sum: DigestTally, part: DigestTally): DigestTally {
  for (const key of Object.keys(sum) as (keyof DigestTally)[]) sum[key] += part[key];
  return sum;
}

/** The mean, 0–1; unweighted where no segment was expected, undefined where there was no bucket. */
export function meanUptime(tally: DigestTally): number | undefined {
  if (tally.weight > 0) return tally.weighted / tally.weight;
  return tally.count > 0 ? tally.plain / tally.count : undefined;
}

/** Mean time to recovery, ms; undefined where nothing recovered. */
export function meanRecovery({ recovered, downMs }: DigestTally): number | undefined {
  return recovered === 0 ? undefined : downMs / recovered;
}
