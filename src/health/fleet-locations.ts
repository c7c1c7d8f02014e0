/** The fleet by location, each recording once: while a location moves between shards, its recordings can be in both. */
import { type RecordingStatus, recordingStatuses } from "./recording.ts";
import { Rows } from "./rows.ts";
import { noCounts, type StatusCounts } from "./shard-counts.ts";
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
  readonly rows: Rows;
  readonly places: readonly number[];
}

/** A recording, by its place: most are asked for no more than their names and status. */
export interface FleetRow {
  readonly shard: number;
  readonly rows: Rows;
  readonly place: number;
  readonly id: string;
  readonly locationId: string;
}

export type FleetLocations = ReadonlyMap<string, FleetLocation>;

const NONE: FleetLocation["parts"] = [];

/** The recordings of these locations by status. */
export function countsIn(locations: Iterable<Pick<FleetLocation, "counts">>): StatusCounts {
  const all = noCounts();
  for (const { counts } of locations) for (const status of recordingStatuses) all[status] += counts[status];
  return all;
}

/** All locations; yields after each shard. What was counted of a shard is counted again once it changed. */
export function* locationsOf(
  fleet: Pick<FleetSnapshot, "shards" | "now" | "statusIntervalMs" | "inventory">,
): Generator<void, FleetLocations> {
  const { shards, now, statusIntervalMs } = fleet;
  const all = new Map<string, FleetLocation>();
  const changed = new Set<string>();
  const gone: FleetRow[] = [];
  for (const [index, shard] of shards.entries()) {
    const rows = Rows.of(shard);
    const { locations, absent } = rows.counts(now, statusIntervalMs);
    for (const place of absent) gone.push(rowAt(index, rows, place));
    for (const [id, { counts, places }] of locations) {
      const { parts = NONE } = all.get(id) ?? {};
      if (parts.length > 0) changed.add(id);
      all.set(id, { id, counts, parts: [...parts, { shard: index, rows, places }] });
    }
    for (const id of shard.locations.keys()) if (!all.has(id)) all.set(id, { id, counts: noCounts(), parts: NONE });
    yield;
  }
  const moved = movedAway(gone, all, fleet.inventory);
  for (const { locationId } of moved) changed.add(locationId);
  const movedOf = new Map([...Map.groupBy(moved, ({ rows }) => rows)].map(([rows, some]) => [rows, placesOf(some)]));
  for (const id of changed) all.set(id, withoutDoubles(all.get(id) as FleetLocation, movedOf, fleet));
  return all;
}

/** Recordings not in the last answer of their shard that stand at the location where they are listed now. */
function movedAway(gone: readonly FleetRow[], all: FleetLocations, inventory: FleetSnapshot["inventory"]): FleetRow[] {
  return gone.filter(({ rows, id, locationId }) => {
    const now = inventory.recording(id)?.locationId;
    if (now === undefined || now === locationId) return false;
    return all.get(now)?.parts.some((part) => part.rows !== rows && part.rows.has(id));
  });
}

const placesOf = (rows: readonly FleetRow[]): ReadonlySet<number> => new Set(rows.map(({ place }) => place));

function withoutDoubles(
  location: FleetLocation,
  moved: ReadonlyMap<Rows, ReadonlySet<number>>,
  fleet: Pick<FleetSnapshot, "now" | "statusIntervalMs">,
): FleetLocation {
  const latest = new Map<string, FleetRow>();
  for (const row of rowsAt([location])) {
    if (moved.get(row.rows)?.has(row.place)) continue;
    const other = latest.get(row.id);
    if (!other || other.rows.readAt(other.place) < row.rows.readAt(row.place)) latest.set(row.id, row);
  }
  const counts = noCounts();
  for (const row of latest.values()) counts[statusOf(row, fleet)] += 1;
  const parts = location.parts.map((part) => ({
    ...part,
    places: [...latest.values()].flatMap(({ shard, place }) => (shard === part.shard ? place : [])),
  }));
  return { id: location.id, counts, parts };
}

/** The recordings of these locations. */
export function* rowsAt(locations: Iterable<Pick<FleetLocation, "parts">>): Generator<FleetRow, void> {
  for (const { parts } of locations)
    for (const { shard, rows, places } of parts) for (const place of places) yield rowAt(shard, rows, place);
}

/** The same, whole: with their last readings. */
export function statesAt(location: FleetLocation | undefined): RecordingState[] {
  return location ? [...rowsAt([location])].map(wholeOf) : [];
}

export function rowAt(shard: number, rows: Rows, place: number): FleetRow {
  const { ids, locationIds } = rows.states;
  return { shard, rows, place, id: ids[place] as string, locationId: locationIds[place] as string };
}

export function wholeOf({ rows, place }: FleetRow): RecordingState {
  return rows.at(place) as RecordingState;
}

export function statusOf(
  { rows, place }: FleetRow,
  { now, statusIntervalMs }: Pick<FleetSnapshot, "now" | "statusIntervalMs">,
): RecordingStatus {
  return currentStatus({ status: rows.states.statuses[place], readAt: rows.readAt(place) }, now, statusIntervalMs);
}
