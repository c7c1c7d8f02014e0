/** Arithmetic on intervals of time. Results are in order and do not overlap. */
import type { Instant } from "./clock.ts";

/** A span of time, `from` inclusive, `to` exclusive. */
export type Interval = { readonly from: Instant; readonly to: Instant };

/** The same time, in order, overlaps joined, empty ones left out. */
export function union(intervals: readonly Interval[]): Interval[] {
  if (intervals.length < 2) return intervals.filter(({ from, to }) => to > from);
  const joined: Interval[] = [];
  for (const interval of intervals.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && interval.from <= last.to)
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, interval.to) };
    else joined.push(interval);
  }
  return joined;
}

/** The parts of each interval inside `bounds`. */
export function clip(intervals: readonly Interval[], bounds: Interval): Interval[] {
  return union(intervals.map(({ from, to }) => ({ from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) })));
}

/** The time of `intervals` that is not in `holes`. */
export function subtract(intervals: readonly Interval[], holes: readonly Interval[]): Interval[] {
  const cuts = union(holes);
  return union(intervals).flatMap((interval) => {
    const pieces: Interval[] = [];
    let from = interval.from;
    for (const hole of cuts) {
      if (hole.to <= from || hole.from >= interval.to) continue;
      pieces.push({ from, to: hole.from });
      from = hole.to;
    }
    pieces.push({ from, to: interval.to });
    return pieces.filter((piece) => piece.to > piece.from);
  });
}

/** The length of `intervals` inside `bounds` and outside `holes`, ms; overlaps count once. */
export function lengthIn(intervals: readonly Interval[], bounds: Interval, holes: readonly Interval[] = []): number {
  return total(subtract(clip(intervals, bounds), holes));
}

/** Added up, ms; overlaps count once. */
export function total(intervals: readonly Interval[]): number {
  return union(intervals).reduce((sum, { from, to }) => sum + to - from, 0);
}
