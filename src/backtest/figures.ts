/** Uptime ratios at every sweep: computed every `uptime_interval`, valid until the next. */
import type { UptimeBucket } from "../health/recording.ts";
import { settledBefore, windowUptime } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import { tickBefore, tickFrom, type UptimeWindow } from "./setup.ts";
import type { SweepOptions } from "./statuses.ts";

/** The uptime ratio at every sweep from `at` until the next change. */
export interface UptimeFigure {
  /** A sweep's instant. */
  readonly at: Instant;
  readonly window: UptimeWindow;
  /** 0–1; undefined: unknown. */
  readonly ratio: number | undefined;
}

/** Changes in order of time, the first at the span's first sweep. Ratios that no rule distinguishes are not changes. */
export function figuresAtSweeps(
  buckets: readonly UptimeBucket[],
  window: UptimeWindow,
  options: SweepOptions,
): UptimeFigure[] {
  const { overMs, fineFrom } = window;
  const { span, lengthMs, statusIntervalMs } = options;
  const figures: UptimeFigure[] = [];
  const last = tickBefore(span.to, statusIntervalMs);
  const startOf = (i: number) => buckets[i]?.startAt ?? Number.POSITIVE_INFINITY;
  let [first, end] = [0, 0];
  for (const now of windowChanges(buckets, overMs, options)) {
    while (startOf(first) < now - overMs) first++;
    while (startOf(end) < settledBefore(now, lengthMs)) end++;
    const ratio = windowUptime(buckets, { now, overMs, lengthMs, first, end });
    const at = tickFrom(Math.max(now, span.from), statusIntervalMs);
    if (at > last) break;
    const before = figures.at(-1);
    if (before && isSame(before.ratio, ratio, fineFrom)) continue;
    if (before?.at === at) figures.pop();
    figures.push({ at, window, ratio });
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
function windowChanges(
  buckets: readonly UptimeBucket[],
  overMs: number,
  { span, lengthMs, uptimeIntervalMs }: SweepOptions,
): ReadonlySet<Instant> {
  const opening = tickBefore(span.from + 1, uptimeIntervalMs);
  const settlingMs = span.from - settledBefore(span.from, lengthMs);
  const changes = [settlingMs, overMs].flatMap((afterMs) =>
    buckets.map(({ startAt }) => tickFrom(startAt + afterMs + 1, uptimeIntervalMs)),
  );
  return new Set([opening, ...changes.filter((at) => at > opening && at < span.to).sort((a, b) => a - b)]);
}
