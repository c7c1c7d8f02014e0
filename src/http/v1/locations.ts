/** `GET /api/v1/locations`: a row per location, its recordings counted by status. */
import { z } from "zod";
import { currentStatus, ROWS_PER_STEP, recordingsById } from "../../health/fleet.ts";
import { type RecordingStatus, recordingStatuses } from "../../health/recording.ts";
import type { FleetSnapshot, LocationState } from "../../health/state.ts";
import { type Page, PageCollector, pageParameters } from "../paging.ts";
import { type AlertRow, alertRows } from "./rows.ts";

export const LocationsQuery = z.strictObject(pageParameters);
export type LocationsQuery = z.infer<typeof LocationsQuery>;

export interface LocationRow {
  readonly locationId: string;
  readonly location: string;
  /** IANA name; null where the service does not say. */
  readonly timezone: string | null;
  /** How many recordings have each status. */
  readonly recordings: Readonly<Record<RecordingStatus, number>>;
  /** Of the location itself, not of its recordings. */
  readonly alerts: readonly AlertRow[];
}

interface Found {
  readonly counts: Record<RecordingStatus, number>;
  state: LocationState | undefined;
}

/** One page, by location id; yields every so many rows. */
export function* locationsPage(
  fleet: FleetSnapshot,
  query: LocationsQuery,
): Generator<void, Page<LocationRow>> {
  const found = new Map<string, Found>();
  const at = (id: string): Found => {
    const known = found.get(id) ?? { counts: noCounts(), state: undefined };
    found.set(id, known);
    return known;
  };
  let seen = 0;
  for (const shard of fleet.shards) {
    for (const location of shard.locations.values()) {
      at(location.id).state = location;
      if (++seen % ROWS_PER_STEP === 0) yield;
    }
  }
  const recordings = yield* recordingsById(fleet);
  for (const state of recordings.values()) {
    at(state.locationId).counts[currentStatus(state, fleet.now, fleet.statusIntervalMs)] += 1;
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  const collector = new PageCollector<[string, Found]>(query);
  for (const entry of found) collector.offer(entry[0], entry);
  const { items, nextCursor } = collector.page();
  return { items: items.map(([id, location]) => rowOf(id, location, fleet)), nextCursor };
}

function noCounts(): Record<RecordingStatus, number> {
  return Object.fromEntries(recordingStatuses.map((status) => [status, 0])) as Record<
    RecordingStatus,
    number
  >;
}

function rowOf(id: string, { counts, state }: Found, fleet: FleetSnapshot): LocationRow {
  const known = fleet.inventory.location(id);
  return {
    locationId: id,
    location: known?.name || id,
    timezone: known?.timezone ?? null,
    recordings: counts,
    alerts: alertRows(state?.alerts),
  };
}
