/**
 * The rhythm in which good readings of a shard come, whatever lies between them: slow sweeps, or requests that fail. It
 * decides for how long the time between two readings counts, and whether they come too rarely.
 */
import type { Instant } from "../lib/clock.ts";

/** Two good readings further apart than this many intervals say nothing about the time between. */
export const GAP_INTERVALS = 3;
const GAPS_KEPT = 5;
/** So many gaps are a rhythm. */
const FEWEST_GAPS = 3;
const MAX_GAP_INTERVALS = 6;
const MAX_GAP_MS = 600_000;

interface Rhythm {
  /** The last good sweep. */
  readonly sweptAt: Instant;
  /** The last gaps between good sweeps, ms, oldest first. */
  readonly gaps?: readonly number[] | undefined;
}

interface Moment {
  readonly now: Instant;
  /** Between two sweeps, as configured, ms. */
  readonly intervalMs: number;
}

/** No rhythm makes a longer gap count, ms. */
export function longestGapMs(intervalMs: number): number {
  return Math.max(MAX_GAP_MS, MAX_GAP_INTERVALS * intervalMs);
}

/** The last gaps after a good sweep at `now`, ms, oldest first. One with a start of lenswatch in it is not measured. */
export function gapsAfter({ sweptAt, gaps = [] }: Rhythm, now: Instant, isMeasured = false): readonly number[] {
  return isMeasured ? [...gaps, Math.max(0, now - sweptAt)].slice(-GAPS_KEPT) : gaps;
}

/** The longest time between two good readings that counts, ms: three intervals, or three times the middle gap. */
export function allowedGapMs(gaps: Rhythm["gaps"] = [], intervalMs: number): number {
  const middleMs = gaps.length < FEWEST_GAPS ? 0 : (ascending(gaps)[Math.floor(gaps.length / 2)] ?? 0);
  return GAP_INTERVALS * Math.max(intervalMs, Math.min(longestGapMs(intervalMs) / GAP_INTERVALS, middleMs));
}

/** The time between good readings, ms, where more than one of the last gaps was too long: a single one is over. */
export function lateMs(gaps: Rhythm["gaps"] = [], intervalMs: number): number | undefined {
  const second = ascending(gaps).at(-2) ?? 0;
  return second > GAP_INTERVALS * intervalMs ? second : undefined;
}

function ascending(gaps: readonly number[]): number[] {
  return gaps.toSorted((a, b) => a - b);
}

/** The interval that three of make a reading stale, ms: that of the slowest shard that still keeps its rhythm. */
export function keptIntervalMs(shards: readonly Rhythm[], { now, intervalMs }: Moment): number {
  const gapsMs = shards.map(({ sweptAt, gaps }) => {
    const gapMs = allowedGapMs(gaps, intervalMs);
    return now - sweptAt <= gapMs ? gapMs : 0;
  });
  return gapsMs.reduce((longest, ms) => Math.max(longest, ms), GAP_INTERVALS * intervalMs) / GAP_INTERVALS;
}
