/** Uptime ratios at every sweep: computed every `uptime_interval`, valid until the next. */
import type { UptimeBucket } from "../health/recording.ts";
import { settledBefore, windowUptime } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import { type ReplaySetup, type TimeSpan, tickBefore, tickFrom, type UptimeWindow } from "./setup.ts";

/** The uptime ratio at every sweep from `at` until the next change. */
export interface UptimeFigure {
  /** A sweep's instant. */
  readonly at: Instant;
  /** 0–1; undefined: unknown. */
  readonly ratio: number | undefined;
}

interface FigureOptions extends Pick<ReplaySetup, "statusIntervalMs" | "uptimeIntervalMs"> {
  readonly span: TimeSpan;
  /** The length of a bucket, ms. */
  readonly lengthMs: number;
}

/** Changes in order of time, the first at the span's first sweep. Ratios that no rule distinguishes are not changes. */
export function figuresAtSweeps(
  buckets: readonly UptimeBucket[],
  { overMs, fineFrom }: UptimeWindow,
  { span, lengthMs, statusIntervalMs, uptimeIntervalMs }: FigureOptions,
): UptimeFigure[] {
  const figures: UptimeFigure[] = [];
  const last = tickBefore(span.to, statusIntervalMs);
  let [first, end] = [0, 0];
  for (const now of windowChanges(buckets, overMs, { span, lengthMs, uptimeIntervalMs })) {
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
 * The instants at which the window's buckets change: one becomes complete, or one leaves it. The first is the last one
 * that is not after the span's start.
 */
function* windowChanges(
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
