/** The service's buckets inside a period, each with the time it covers, and the period as slots: a bar in the digest. */
import type { UptimeBucket } from "../../health/recording.ts";
import { bucketLengthMs, SETTLING_MS } from "../../health/uptime.ts";
import type { Instant } from "../../lib/clock.ts";
import { type Interval, lengthIn, union } from "../../lib/intervals.ts";
import type { SlotState, TimelineRun } from "../digest.ts";

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

/** Some segments are always lost: below this a slot is shown as low. */
const LOW_BELOW = 0.95;

interface TimelineInput extends Record<"down" | "plannedDown" | "unreachable", readonly Interval[]> {
  readonly bounds: Interval;
  readonly buckets: readonly TimedBucket[];
  /** Up without a break since then; undefined: not up now. */
  readonly upSince: Instant | undefined;
  /** The end of the bar: after `bounds` for what is down now, with slots of the same length. */
  readonly until: Instant;
}

/** Equal neighbours are joined, so that a day without change is one run. */
export function timeline(input: TimelineInput): TimelineRun[] {
  const { from, to } = input.bounds;
  const length = (to - from) / slotCount(to - from);
  const runs: { state: SlotState; slots: number }[] = [];
  const slots = Math.ceil((input.until - from) / length - 1e-6);
  for (let i = 0; i < slots; i += 1) {
    const slot = { from: from + i * length, to: Math.min(from + (i + 1) * length, input.until) };
    const state = slotState(input, slot);
    const last = runs.at(-1);
    if (last?.state === state) last.slots += 1;
    else runs.push({ state, slots: 1 });
  }
  return runs;
}

/** Half an hour of a day, two hours of a week, half a day of a month. */
function slotCount(lengthMs: number): number {
  if (lengthMs <= 26 * HOUR) return 48;
  return lengthMs <= 8 * 24 * HOUR ? 84 : 62;
}

/** The worst state in the slot; `unreachable` only where it covers at least half of it. */
function slotState({ down, plannedDown, unreachable, buckets, upSince }: TimelineInput, slot: Interval): SlotState {
  if (lengthIn(down, slot) > 0) return "down";
  if (lengthIn(plannedDown, slot) > 0) return "planned";
  if (lengthIn(unreachable, slot) >= (slot.to - slot.from) / 2) return "unreachable";
  const middle = (slot.from + slot.to) / 2;
  const timed = buckets.find(({ from, to }) => from <= middle && middle < to);
  if (timed && !timed.bucket.withinSchedule) return "closed";
  if (timed?.bucket.overallUptime !== undefined) {
    // The bucket's downtime has slots of its own: it explains part of a low figure.
    const downShare = lengthIn([...down, ...plannedDown], timed) / (timed.to - timed.from);
    return timed.bucket.overallUptime + downShare < LOW_BELOW ? "low" : "up";
  }
  return upSince !== undefined && upSince <= slot.from ? "up" : "none";
}
