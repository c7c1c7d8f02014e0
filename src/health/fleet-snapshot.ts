/** Reading a FleetSnapshot: what counts as known, and each recording once. */
import type { Instant } from "../lib/clock.ts";
import type { RecordingStatus } from "./recording.ts";
import type { FleetSnapshot, RecordingState } from "./shard-state.ts";

/** A good reading older than this many status intervals says nothing about now. */
export const FRESH_INTERVALS = 3;

/** Rows between two yields of a walk over the fleet. */
export const ROWS_PER_STEP = 256;

/** The status of a recording at `now`: `unknown` without a good reading in 3 intervals. */
export function currentStatus(
  state: Pick<RecordingState, "status" | "readAt">,
  now: Instant,
  statusIntervalMs: number,
): RecordingStatus {
  if (state.status === undefined) return "unknown";
  return now - state.readAt > FRESH_INTERVALS * statusIntervalMs ? "unknown" : state.status;
}

/**
 * Every recording once, by id; yields every ROWS_PER_STEP rows. While a location moves between shards a
 * recording can stand in both: the later reading counts.
 */
export function* recordingsById(
  fleet: Pick<FleetSnapshot, "shards">,
): Generator<void, ReadonlyMap<string, RecordingState>> {
  const byId = new Map<string, RecordingState>();
  let rows = 0;
  for (const shard of fleet.shards) {
    for (const [id, state] of shard.recordings) {
      const other = byId.get(id);
      if (!other || other.readAt < state.readAt) byId.set(id, state);
      if (++rows % ROWS_PER_STEP === 0) yield;
    }
  }
  return byId;
}
