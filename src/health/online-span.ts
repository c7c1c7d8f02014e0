/**
 * The time for which a recording has been seen online without a break, as the refreshes of its uptime saw it: what it was between
 * readings too far apart is not known.
 */
import { type Instant, MINUTE_MS } from "../lib/clock.ts";
import type { RecordingState } from "./shard-state.ts";

/** The intervals of statuses and uptime, ms. */
export interface ReadEvery {
  readonly statusIntervalMs: number;
  readonly uptimeIntervalMs: number;
}

/** A reading still says something about now: one of the last three, or of the last ten minutes. */
export function isReadingFresh(
  { readAt }: Pick<RecordingState, "readAt">,
  now: Instant,
  every: Pick<ReadEvery, "statusIntervalMs">,
): boolean {
  return now - readAt <= Math.max(10 * MINUTE_MS, 3 * every.statusIntervalMs);
}

/** Refreshes that are late by more leave a gap: two of the default interval. */
const LATE_MS = 20 * MINUTE_MS;

/** From the first to the last refresh that saw it online; whole minutes. */
export interface OnlineSpan {
  readonly from: Instant;
  readonly to: Instant;
}

/** The span after a refresh at `now`; undefined where the recording is not online. */
export function noteOnline(
  before: OnlineSpan | undefined,
  state: Pick<RecordingState, "status" | "since" | "readAt"> | undefined,
  now: Instant,
  every: ReadEvery,
): OnlineSpan | undefined {
  if (state?.status !== "online" || !isReadingFresh(state, now, every)) return undefined;
  const [from, to] = [Math.ceil(now / MINUTE_MS) * MINUTE_MS, Math.floor(now / MINUTE_MS) * MINUTE_MS];
  const gapMs = Math.max(10 * MINUTE_MS, every.uptimeIntervalMs) + LATE_MS;
  const isUnbroken = before && now >= before.from && now - before.to <= gapMs && state.since <= before.to;
  return { from: isUnbroken ? before.from : from, to };
}
