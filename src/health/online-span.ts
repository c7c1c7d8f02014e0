/**
 * How long a recording has been seen online without a break, as the refreshes of its uptime saw it: what it was between
 * readings too far apart is not known.
 */
import type { Instant } from "../lib/clock.ts";
import type { RecordingState } from "./shard-state.ts";

/** An older reading says nothing about now. */
export const READING_FRESH_MS = 10 * 60_000;
/** Refreshes further apart than this, ms, leave a gap: three of the default interval. */
const GAP_MS = 30 * 60_000;

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
): OnlineSpan | undefined {
  if (state?.status !== "online" || now - state.readAt > READING_FRESH_MS) return undefined;
  const [from, to] = [Math.ceil(now / 60_000) * 60_000, Math.floor(now / 60_000) * 60_000];
  const isUnbroken = before && now >= before.from && now - before.to <= GAP_MS && state.since <= before.to;
  return { from: isUnbroken ? before.from : from, to };
}
