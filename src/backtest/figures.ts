/** Uptime figures as they would have stood at every sweep: worked out every `uptime_interval`, in force until the next. */
import type { UptimeBucket } from "../health/recording.ts";
import { settledBefore, windowUptime } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import { type Setup, type Span, tickBefore, tickFrom, type UptimeWindow } from "./setup.ts";

/** What every sweep from `at` on reckons with, until the next one. */
export interface Figure {
  /** A sweep's instant. */
  readonly at: Instant;
  /** 0–1; undefined: there is none. */
  readonly ratio: number | undefined;
}

export interface FigureOptions extends Pick<Setup, "statusIntervalMs" | "uptimeIntervalMs"> {
  readonly span: Span;
  /** How long a bucket is, ms. */
  readonly lengthMs: number;
}

/**
 * Changes in order of time; the first is at the span's first sweep. Figures no rule has anything to say about are
 * one and the same.
 */
export function figuresAtSweeps(
  buckets: readonly UptimeBucket[],
  { overMs, fineFrom }: UptimeWindow,
  { span, lengthMs, statusIntervalMs, uptimeIntervalMs }: FigureOptions,
): Figure[] {
  const figures: Figure[] = [];
  const last = tickBefore(span.to, statusIntervalMs);
  let [first, end] = [0, 0];
  for (const now of workedOutAt(buckets, overMs, { span, lengthMs, uptimeIntervalMs })) {
    while (first < buckets.length && startOf(buckets, first) < now - overMs) first++;
    while (end < buckets.length && startOf(buckets, end) < settledBefore(now, lengthMs)) end++;
    const ratio = windowUptime(buckets, { now, overMs, lengthMs, first, end });
    const at = tickFrom(Math.max(now, span.from), statusIntervalMs);
    if (at > last) break;
    const before = figures.at(-1);
    if (before && isSame(before.ratio, ratio, fineFrom)) continue;
    if (before?.at === at) figures.pop();
    figures.push({ at, ratio });
  }
  return figures;
}

function isSame(a: number | undefined, b: number | undefined, fineFrom: number): boolean {
  return a === b || (a !== undefined && b !== undefined && a >= fineFrom && b >= fineFrom);
}

/**
 * The instants at which the window holds other buckets than at the one before: one has settled, or one was left
 * behind. The first is the last one that is not after the span's beginning.
 */
function* workedOutAt(
  buckets: readonly UptimeBucket[],
  overMs: number,
  { span, lengthMs, uptimeIntervalMs }: Omit<FigureOptions, "statusIntervalMs">,
): Generator<Instant> {
  const opening = tickBefore(span.from + 1, uptimeIntervalMs);
  yield opening;
  let last = opening;
  let [enters, leaves] = [0, 0];
  const settlesAt = (i: number) => startOf(buckets, i) + (span.from - settledBefore(span.from, lengthMs)) + 1;
  const leavesAt = (i: number) => startOf(buckets, i) + overMs + 1;
  for (;;) {
    while (enters < buckets.length && settlesAt(enters) <= last) enters++;
    while (leaves < buckets.length && leavesAt(leaves) <= last) leaves++;
    const next = tickFrom(Math.min(at(enters, settlesAt), at(leaves, leavesAt)), uptimeIntervalMs);
    if (next >= span.to) return;
    yield next;
    last = next;
  }

  function at(i: number, when: (i: number) => Instant): Instant {
    return i < buckets.length ? when(i) : Number.POSITIVE_INFINITY;
  }
}

function startOf(buckets: readonly UptimeBucket[], i: number): Instant {
  return buckets[i]?.startAt ?? 0;
}
