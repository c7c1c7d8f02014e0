/** Arithmetic on uptime buckets. A bucket without data is never 0, one outside the schedule never counts. */
import type { Instant } from "../lib/clock.ts";
import type { UptimeBucket } from "./recording.ts";
import type { Rule } from "./rule.ts";

const HOUR_MS = 3_600_000;

/** The service refreshes its figures every 10 minutes: younger ones are not finished. */
export const SETTLING_MS = 15 * 60_000;

/** How much longer than the longest window buckets are kept. */
const RETENTION_MARGIN_MS = 48 * HOUR_MS;

/** The window of the metric and the pages, kept whatever the rules ask. */
const DAY_MS = 24 * HOUR_MS;

/** Every window a figure is kept for, ms: those of the rules, and the one shown. */
export function windowsOf(rules: readonly Rule[]): number[] {
  const asked = rules.flatMap(({ when }) => (when.kind === "overall_uptime" ? [when.overMs] : []));
  return [...new Set([DAY_MS, ...asked])];
}

/** How long buckets are kept, ms: the longest window and 48 h. */
export function uptimeRetentionMs(rules: readonly Rule[]): number {
  return Math.max(...windowsOf(rules)) + RETENTION_MARGIN_MS;
}

/**
 * History with fresh buckets over it (same start: the fresh one counts), oldest first, none past retention and none
 * that begins more than a day from now, which no time zone explains.
 */
export function mergeBuckets(
  history: readonly UptimeBucket[],
  fresh: readonly UptimeBucket[],
  { now, retainMs }: { readonly now: Instant; readonly retainMs: number },
): UptimeBucket[] {
  const byStart = new Map<Instant, UptimeBucket>();
  for (const bucket of history) byStart.set(bucket.startAt, bucket);
  for (const bucket of fresh) byStart.set(bucket.startAt, bucket);
  return [...byStart.values()]
    .filter(({ startAt }) => startAt >= now - retainMs && startAt <= now + DAY_MS)
    .sort((a, b) => a.startAt - b.startAt);
}

/** A window that ends now; what is not given is found by reading every bucket. */
export interface Window {
  readonly now: Instant;
  readonly overMs: number;
  /** How long a bucket is, ms. */
  readonly lengthMs?: number;
  /** Where the buckets of the window stand among the others; the last of them is before `end`. */
  readonly first?: number | undefined;
  readonly end?: number | undefined;
}

/**
 * Ratio 0–1 over the window that ends now; undefined without a figure. Counts buckets that begin inside it and
 * ended 15 minutes ago or earlier.
 */
export function windowUptime(
  buckets: readonly UptimeBucket[],
  { now, overMs, lengthMs = bucketLengthMs(buckets), first, end }: Window,
): number | undefined {
  return ratioBetween(buckets, { from: now - overMs, to: settledBefore(now, lengthMs), first, end });
}

/** Buckets that begin before this are finished at `now`. */
export function settledBefore(now: Instant, lengthMs: number): Instant {
  return now - SETTLING_MS - lengthMs + 1;
}

/**
 * The mean of `overallUptime` over buckets within schedule that begin in [from, to), weighted by the segments
 * expected; unweighted where none is expected. Ratio 0–1, undefined without a figure.
 */
export function ratioBetween(
  buckets: readonly UptimeBucket[],
  { from, to, first = 0, end = buckets.length }: Pick<Window, "first" | "end"> & { from: Instant; to: Instant },
): number | undefined {
  let weight = 0;
  let weighted = 0;
  let count = 0;
  let sum = 0;
  for (let i = first; i < end; i++) {
    const { startAt, withinSchedule, overallUptime, segmentsExpected } = buckets[i] as UptimeBucket;
    if (!withinSchedule || overallUptime === undefined || startAt < from || startAt >= to) continue;
    const expected = segmentsExpected ?? 0;
    weight += expected;
    weighted += expected * overallUptime;
    count++;
    sum += overallUptime;
  }
  if (weight > 0) return weighted / weight;
  return count > 0 ? sum / count : undefined;
}

/** The service does not say how long a bucket is: the shortest step between two, at most an hour, ms. */
export function bucketLengthMs(buckets: readonly UptimeBucket[]): number {
  let shortest = HOUR_MS;
  for (let i = 1; i < buckets.length; i++) {
    const step = (buckets[i]?.startAt ?? 0) - (buckets[i - 1]?.startAt ?? 0);
    if (step > 0 && step < shortest) shortest = step;
  }
  return shortest;
}
