/** Arithmetic on intervals of time. Results are in order and do not overlap. */
import type { Instant } from "./clock.ts";

/** A span of time, `from` inclusive, `to` exclusive. */
export type Interval = { readonly from: Instant; readonly to: Instant };

/** The same time, in order, overlaps joined, empty ones left out. */
export function union(intervals: readonly Interval[]): readonly Interval[] {
  if (areApart(intervals)) return intervals;
  const joined: Interval[] = [];
  for (const interval of intervals.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && interval.from <= last.to)
      joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, interval.to) };
    else joined.push(interval);
  }
  return joined;
}

function areApart(intervals: readonly Interval[]): boolean {
  let last = Number.NEGATIVE_INFINITY;
  for (const { from, to } of intervals) {
    if (to <= from || from <= last) return false;
    last = to;
  }
  return true;
}

/** The parts of each interval inside `bounds`. */
export function clip(intervals: readonly Interval[], bounds: Interval): readonly Interval[] {
  const inside: Interval[] = [];
  for (const { from, to } of intervals)
    if (from < bounds.to && to > bounds.from)
      inside.push({ from: Math.max(from, bounds.from), to: Math.min(to, bounds.to) });
  return union(inside);
}

/** The time of `intervals` that is not in `holes`. */
export function subtract(intervals: readonly Interval[], holes: readonly Interval[]): readonly Interval[] {
  const [whole, cuts] = [union(intervals), union(holes)];
  if (cuts.length === 0) return whole;
  const pieces: Interval[] = [];
  let next = 0;
  for (const interval of whole) {
    let { from } = interval;
    while ((cuts[next]?.to ?? Number.POSITIVE_INFINITY) <= from) next++;
    for (let i = next; i < cuts.length && from < interval.to; i++) {
      const cut = cuts[i] as Interval;
      if (cut.from >= interval.to) break;
      if (cut.from > from) pieces.push({ from, to: cut.from });
      from = cut.to;
    }
    if (from < interval.to) pieces.push({ from, to: interval.to });
  }
  return pieces;
}

/** The length of `intervals` inside `bounds` and outside `holes`, ms; overlaps count once. */
export function lengthIn(intervals: readonly Interval[], bounds: Interval, holes: readonly Interval[] = []): number {
  return total(subtract(clip(intervals, bounds), holes));
}

/** Added up, ms; overlaps count once. */
export function total(intervals: readonly Interval[]): number {
  return union(intervals).reduce((sum, { from, to }) => sum + to - from, 0);
}
