/** The fleet by location, each recording once: while a location moves between shards, its recordings can be in both. */
import { type RecordingStatus, recordingStatuses } from "./recording.ts";
import { countByLocation, noCounts, type StatusCounts } from "./shard-counts.ts";
import { currentStatus, type FleetSnapshot, type RecordingState } from "./shard-state.ts";

export interface FleetLocation {
  readonly id: string;
  readonly counts: StatusCounts;
  /** Its recordings; in most cases of one shard. */
  readonly parts: readonly LocationPart[];
}

interface LocationPart {
  /** Its index in the fleet. */
  readonly shard: number;
  readonly states: readonly RecordingState[];
}

export type FleetLocations = ReadonlyMap<string, FleetLocation>;

const NONE: FleetLocation["parts"] = [];

/** The recordings of these locations by status. */
export function countsIn(locations: Iterable<Pick<FleetLocation, "counts">>): StatusCounts {
  const all = noCounts();
  for (const { counts } of locations) for (const status of recordingStatuses) all[status] += counts[status];
  return all;
}

/** A recording not in the last answer of its shard: it may be in another one by now. */
interface Absent {
  readonly shard: number;
  readonly state: RecordingState;
}

/** All locations; yields after each shard. */
export function* locationsOf(
  fleet: Pick<FleetSnapshot, "shards" | "now" | "statusIntervalMs" | "inventory">,
): Generator<void, FleetLocations> {
  const { shards, now, statusIntervalMs } = fleet;
  const all = new Map<string, FleetLocation>();
  const changed = new Set<string>();
  const absent: Absent[] = [];
  for (const [index, shard] of shards.entries()) {
    for (const [id, { counts, states }] of countByLocation(shard, now, statusIntervalMs)) {
      const { parts = NONE } = all.get(id) ?? {};
      if (parts.length > 0) changed.add(id);
      all.set(id, { id, counts, parts: [...parts, { shard: index, states }] });
      for (const state of states) if (state.absentSince !== undefined) absent.push({ shard: index, state });
    }
    for (const id of shard.locations.keys()) if (!all.has(id)) all.set(id, { id, counts: noCounts(), parts: NONE });
    yield;
  }
  const moved = movedAway(absent, all, fleet);
  for (const { locationId } of moved) changed.add(locationId);
  for (const id of changed) all.set(id, withoutDoubles(all.get(id) as FleetLocation, moved, fleet));
  return all;
}

/** Recordings not in the last answer of their shard that stand at the location where they are listed now. */
function movedAway(
  absent: readonly Absent[],
  all: FleetLocations,
  { inventory, shards }: Pick<FleetSnapshot, "inventory" | "shards">,
): ReadonlySet<RecordingState> {
  const moved = absent.filter(({ shard, state: { id, locationId } }) => {
    const now = inventory.recording(id)?.locationId;
    if (now === undefined || now === locationId) return false;
    return all.get(now)?.parts.some((part) => part.shard !== shard && shards[part.shard]?.recordings.has(id));
  });
  return new Set(moved.map(({ state }) => state));
}

function withoutDoubles(
  { id, parts }: FleetLocation,
  moved: ReadonlySet<RecordingState>,
  fleet: Pick<FleetSnapshot, "now" | "statusIntervalMs">,
): FleetLocation {
  const latest = new Map<string, RecordingState>();
  for (const state of statesAt([{ parts }])) {
    const other = latest.get(state.id);
    if (!moved.has(state) && (!other || other.readAt < state.readAt)) latest.set(state.id, state);
  }
  const counts = noCounts();
  for (const state of latest.values()) counts[statusOf(state, fleet)] += 1;
  const kept = parts.map((part) => ({ ...part, states: part.states.filter((one) => latest.get(one.id) === one) }));
  return { id, counts, parts: kept };
}

/** The recordings of these locations. */
export function* statesAt(
  locations: Iterable<Pick<FleetLocation, "parts"> | undefined>,
): Generator<RecordingState, void> {
  for (const location of locations) for (const { states } of location?.parts ?? NONE) yield* states;
}

export function statusOf(
  state: Pick<RecordingState, "status" | "readAt">,
  { now, statusIntervalMs }: Pick<FleetSnapshot, "now" | "statusIntervalMs">,
): RecordingStatus {
  return currentStatus(state, now, statusIntervalMs);
}
