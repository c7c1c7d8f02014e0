/** Arithmetic on uptime buckets. A bucket without data is never 0, one outside the schedule never counts. */

import { DAY_MS, HOUR_MS, type Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import type { Rule } from "./model.ts";
import type { UptimeBucket } from "./recording.ts";

/** The service refreshes its figures every 10 minutes: younger ones are not finished. */
export const SETTLING_MS = 15 * 60_000;

/** Buckets are kept for the longest window and this. */
const RETENTION_MARGIN_MS = 48 * HOUR_MS;

/**
 * A figure of a recording, a ratio 0–1, by its window in ms. A number alone: its uptime. `arrived`: of the segments
 * expected in the same buckets, those received. `online`: the same of the last full buckets, where it was online all the time.
 */
export type Figure = number | `${SegmentFigure}-${number}`;
type SegmentFigure = "arrived" | "online";

export interface KeptFigure {
  readonly key: Figure;
  readonly kind: "uptime" | SegmentFigure;
  readonly overMs: number;
  /** It is kept of recordings with an uptime below this ratio. */
  readonly below?: number;
}

/** Every figure that is kept: those of the rules, and the one shown. */
export function figuresOf(rules: readonly Rule[]): KeptFigure[] {
  const uptime = (overMs: number): KeptFigure => ({ key: overMs, kind: "uptime", overMs });
  const below = Math.max(...rules.map(({ when }) => (when.kind === "overall_uptime" ? when.clearAbove : 0)));
  const kept = rules.flatMap(({ when }): KeptFigure[] => {
    if (when.kind !== "overall_uptime" && when.kind !== "segments_received") return [];
    const { overMs } = when;
    if (when.kind === "segments_received") return [{ key: `online-${overMs}`, kind: "online", overMs }];
    return [uptime(overMs), { key: `arrived-${overMs}`, kind: "arrived", overMs, below }];
  });
  return [...new Map([uptime(DAY_MS), ...kept].map((figure) => [figure.key, figure])).values()];
}

/** The time for which buckets are kept, ms: the longest window and 48 h. */
export function uptimeRetentionMs(rules: readonly Rule[]): number {
  return Math.max(...figuresOf(rules).map(({ overMs }) => overMs)) + RETENTION_MARGIN_MS;
}

/**
 * History, oldest first, with fresh buckets over it, oldest first, none past retention and none that begins more than a
 * day from now, which no time zone explains. Of two with the same start each figure is the fresh one, where there is one.
 */
export function mergeBuckets(
  history: readonly UptimeBucket[],
  fresh: readonly UptimeBucket[],
  { now, retainMs }: { readonly now: Instant; readonly retainMs: number },
): UptimeBucket[] {
  const merged: UptimeBucket[] = [];
  const keep = (bucket: UptimeBucket) => {
    if (bucket.startAt >= now - retainMs && bucket.startAt <= now + DAY_MS) merged.push(bucket);
  };
  let i = 0;
  for (const bucket of fresh.toSorted((a, b) => a.startAt - b.startAt)) {
    let before: UptimeBucket | undefined;
    for (let old = history[i]; old && old.startAt <= bucket.startAt; old = history[++i])
      if (old.startAt < bucket.startAt) keep(old);
      else before = old;
    keep(before ? withFiguresOf(bucket, before) : bucket);
  }
  history.slice(i).forEach(keep);
  return merged;
}

/** The bucket with the figures of before where it has none: an answer that lacks a figure says nothing about it. */
function withFiguresOf(bucket: UptimeBucket, before: UptimeBucket): UptimeBucket {
  const { segmentsExpected, segmentsReceived, overallUptime } = bucket;
  if (segmentsExpected !== undefined && segmentsReceived !== undefined && overallUptime !== undefined) return bucket;
  return {
    ...bucket,
    segmentsExpected: segmentsExpected ?? before.segmentsExpected,
    segmentsReceived: segmentsReceived ?? before.segmentsReceived,
    overallUptime: overallUptime ?? before.overallUptime,
  };
}

/** A window that ends now; what is not given is found by reading every bucket. */
interface Window {
  readonly now: Instant;
  readonly overMs: number;
  /** The length of a bucket, ms. */
  readonly lengthMs?: number;
  /** The share of the recording's time that is within its schedule, 0–1. */
  readonly scheduled?: number | undefined;
  /** The places of the window's buckets among the others; the last of them is before `end`. */
  readonly first?: number | undefined;
  readonly end?: number | undefined;
}

/**
 * Ratio 0–1 over the window that ends now; undefined where it would stand on less than half of the time that a window of
 * this recording usually has within the schedule. Counts buckets that begin inside it and ended 15 minutes ago or earlier.
 */
export function windowUptime(
  buckets: readonly UptimeBucket[],
  { now, overMs, lengthMs = bucketLengthMs(buckets), scheduled = scheduledShare(buckets), first, end }: Window,
): number | undefined {
  const span = { from: now - reachMs(overMs, lengthMs), to: settledBefore(now, lengthMs), first, end };
  const { ratio, count } = meanBetween(buckets, span);
  return count * lengthMs * 2 < Math.max(overMs, lengthMs) * scheduled ? undefined : ratio;
}

/** The greatest age of a window's buckets, ms: one that is finished always fits in. */
export function reachMs(overMs: number, lengthMs: number): number {
  return Math.max(overMs, 2 * lengthMs + SETTLING_MS - 1);
}

/** The share of buckets that are within the schedule; 1 where there is none. */
export function scheduledShare(buckets: readonly UptimeBucket[]): number {
  let within = 0;
  for (const { withinSchedule } of buckets) if (withinSchedule) within++;
  return buckets.length > 0 ? within / buckets.length : 1;
}

/** The ratio of expected segments received in the buckets that `windowUptime` counts; undefined where one has no number. */
export function windowArrived(
  buckets: readonly UptimeBucket[],
  { now, overMs, lengthMs = bucketLengthMs(buckets) }: Window,
): number | undefined {
  const to = settledBefore(now, lengthMs);
  return arrivedIn(
    buckets.filter(
      (bucket) =>
        bucket.startAt >= now - reachMs(overMs, lengthMs) &&
        bucket.startAt < to &&
        bucket.withinSchedule &&
        bucket.overallUptime !== undefined,
    ),
  );
}

/**
 * The ratio of expected segments received in the last full buckets; undefined unless all of these buckets are known,
 * most of their time is within the schedule, and the recording was online since before the first of them.
 */
export function onlineArrived(
  buckets: readonly UptimeBucket[],
  {
    now,
    overMs,
    lengthMs = bucketLengthMs(buckets),
    onlineSince = now,
  }: Window & { readonly onlineSince?: Instant | undefined },
): number | undefined {
  const to = settledBefore(now, lengthMs);
  const spanMs = Math.max(overMs, lengthMs);
  const last = buckets.filter(({ startAt }) => startAt >= to - spanMs && startAt < to);
  const isOnline = onlineSince <= (last[0]?.startAt ?? Number.NEGATIVE_INFINITY);
  if (!isOnline || last.length < Math.floor(spanMs / lengthMs)) return undefined;
  const within = last.filter(({ withinSchedule }) => withinSchedule);
  const usual = Math.max(...buckets.map(({ segmentsExpected = 0 }) => segmentsExpected));
  const expected = within.reduce((sum, { segmentsExpected = 0 }) => sum + segmentsExpected, 0);
  return expected * 2 < usual * last.length ? undefined : arrivedIn(within);
}

function arrivedIn(buckets: readonly UptimeBucket[]): number | undefined {
  let [expected, received] = [0, 0];
  for (const { segmentsExpected, segmentsReceived } of buckets) {
    if (segmentsExpected === undefined || segmentsReceived === undefined) return undefined;
    expected += segmentsExpected;
    received += segmentsReceived;
  }
  return expected > 0 ? received / expected : undefined;
}

/**
 * The factor that an uptime is lost to, both ratios 0–1, as it is the product of the segments that arrived and of their own uptime.
 * Undefined where nothing is lost or the figures contradict each other.
 */
export function guiltyFactor(uptime: number | undefined, arrived: number | undefined): string | undefined {
  if (uptime === undefined || arrived === undefined) return undefined;
  const [missing, bad] = [1 - arrived, arrived - uptime];
  if (missing < 0 || bad < -ROUNDING || missing + bad < ROUNDING) return undefined;
  if (missing >= 2 * bad) return "segments missing";
  return bad >= 2 * missing ? "segments bad" : "segments missing and bad";
}

/** Figures may be rounded to two decimals. */
const ROUNDING = 0.01;

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
  span: Readonly<{ from: Instant; to: Instant }>,
): number | undefined {
  return meanBetween(buckets, span).ratio;
}

/** The same, with the number of buckets that it is the mean of. */
function meanBetween(
  buckets: readonly UptimeBucket[],
  { from, to, first = 0, end = buckets.length }: Pick<Window, "first" | "end"> & { from: Instant; to: Instant },
): { ratio: number | undefined; count: number } {
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
  if (weight > 0) return { ratio: weighted / weight, count };
  return { ratio: count > 0 ? sum / count : undefined, count };
}

/** A local day may be an hour longer than others. */
const LONGEST_MS = DAY_MS + HOUR_MS;

/** The service does not say how long a bucket is: the most frequent step between two, up to a day; else an hour, ms. */
export function bucketLengthMs(buckets: readonly UptimeBucket[]): number {
  const seen = new Map<number, number>();
  let [length, most] = [HOUR_MS, 0];
  for (let i = 1; i < buckets.length; i++) {
    const step = (buckets[i] as UptimeBucket).startAt - (buckets[i - 1] as UptimeBucket).startAt;
    if (step <= 0 || step > LONGEST_MS) continue;
    const times = (seen.get(step) ?? 0) + 1;
    seen.set(step, times);
    if (times > most || (times === most && step < length)) [length, most] = [step, times];
  }
  return length;
}

/** With less of what was expected, an hour or a day was not recorded. */
const RECORDED = 0.5;

/** The time in which hardly any segment arrived: of a bucket that runs, the time whose segments must have come. */
export function unrecordedIn(buckets: readonly UptimeBucket[], now: Instant): Interval[] {
  const lengthMs = bucketLengthMs(buckets);
  return buckets.flatMap(({ startAt, withinSchedule, segmentsExpected = 0, segmentsReceived }) => {
    const to = Math.min(startAt + lengthMs, now - SETTLING_MS);
    const isOutage = withinSchedule && segmentsReceived !== undefined && segmentsReceived < RECORDED * segmentsExpected;
    return isOutage && to > startAt ? [{ from: startAt, to }] : [];
  });
}
