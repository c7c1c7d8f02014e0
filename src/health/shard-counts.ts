/** The recordings of a shard counted by location and status. */
import type { Instant } from "../lib/clock.ts";
import type { RecordingStatus } from "./recording.ts";
import { currentStatus, type RecordingState, type ShardState } from "./shard-state.ts";

export type StatusCounts = Readonly<Record<RecordingStatus, number>>;

/** The recordings of a location in one shard. */
export interface LocationCounts {
  readonly counts: StatusCounts;
  readonly states: readonly RecordingState[];
}

export function noCounts(): Record<RecordingStatus, number> {
  return { online: 0, offline: 0, degraded: 0, unknown: 0 };
}

export function totalOf({ online, offline, degraded, unknown }: StatusCounts): number {
  return online + offline + degraded + unknown;
}

export function countByLocation(
  { recordings }: Pick<ShardState, "recordings">,
  now: Instant,
  statusIntervalMs: number,
): ReadonlyMap<string, LocationCounts> {
  const locations = new Map<string, { counts: Record<RecordingStatus, number>; states: RecordingState[] }>();
  for (const state of recordings.values()) {
    const here = locations.get(state.locationId) ?? { counts: noCounts(), states: [] };
    if (here.states.length === 0) locations.set(state.locationId, here);
    here.counts[currentStatus(state, now, statusIntervalMs)] += 1;
    here.states.push(state);
  }
  return locations;
}
