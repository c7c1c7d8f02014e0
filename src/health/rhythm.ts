/**
 * How far apart two good sweeps of a shard may be for the time between them to count. Sweeps that are merely slow count
 * by their own rhythm; a single long gap, a pause or a failure, never does.
 */
import type { Instant } from "../lib/clock.ts";
import type { ShardState } from "./shard-state.ts";

/** Two good readings further apart than this many intervals say nothing about the time between. */
export const GAP_INTERVALS = 3;
/** A gap longer than this many intervals is slow. */
const SLOW_INTERVALS = 2;
/** So many slow gaps in a row are a rhythm. */
const GAPS_MEASURED = 3;
const MAX_GAP_INTERVALS = 6;
const MAX_GAP_MS = 600_000;

type Rhythm = Pick<ShardState, "sweptAt" | "slowGaps">;

interface Moment {
  readonly now: Instant;
  /** Between two sweeps, as configured, ms. */
  readonly intervalMs: number;
}

/** No rhythm makes a longer gap count, ms. */
export function longestGapMs(intervalMs: number): number {
  return Math.max(MAX_GAP_MS, MAX_GAP_INTERVALS * intervalMs);
}

/** `slowGaps` after a good sweep at `now`. A gap that is not `unbroken`, with a failure or a start, is not measured. */
export function slowGapsAfter({ sweptAt, slowGaps }: Rhythm, { now, intervalMs }: Moment, unbroken = false) {
  const gapMs = now - sweptAt;
  if (gapMs <= SLOW_INTERVALS * intervalMs) return undefined;
  return unbroken ? [...(slowGaps ?? []), gapMs].slice(-GAPS_MEASURED) : slowGaps;
}

/** The longest time between two good readings that counts, ms: three intervals, or three times the rhythm. */
export function allowedGapMs(slowGaps: ShardState["slowGaps"], intervalMs: number): number {
  if (!slowGaps || slowGaps.length < GAPS_MEASURED) return GAP_INTERVALS * intervalMs;
  return Math.min(longestGapMs(intervalMs), GAP_INTERVALS * Math.min(...slowGaps));
}

/** The interval that three of make a reading stale, ms: that of the slowest shard that still keeps its rhythm. */
export function keptIntervalMs(shards: readonly Rhythm[], { now, intervalMs }: Moment): number {
  const gapsMs = shards.map(({ sweptAt, slowGaps }) => {
    const gapMs = allowedGapMs(slowGaps, intervalMs);
    return now - sweptAt <= gapMs ? gapMs : 0;
  });
  return gapsMs.reduce((longest, ms) => Math.max(longest, ms), GAP_INTERVALS * intervalMs) / GAP_INTERVALS;
}
