/** `GET /api/v1/locations`: a row per location, its recordings counted by status. */
import { z } from "zod";
import { currentStatus, ROWS_PER_STEP, recordingsById } from "../../health/fleet-snapshot.ts";
import { type RecordingStatus, recordingStatuses } from "../../health/recording.ts";
import type { FleetSnapshot, LocationState } from "../../health/shard-state.ts";
import { type Page, PageCollector, pageParameters } from "../paging.ts";
import { repeated } from "../query.ts";
import { AlertRow, alertRows } from "./rows.ts";

/** `location` is an id or a name in full, upper or lower case alike; it may be repeated. */
export const LocationsQuery = z.strictObject({ ...pageParameters, location: repeated(z.string()) });
export type LocationsQuery = z.infer<typeof LocationsQuery>;

export const LocationRow = z
  .strictObject({
    locationId: z.string(),
    location: z.string().describe("Its name; the id where the service gives none."),
    timezone: z.string().nullable().describe("IANA name; null where the service does not say."),
    recordings: z
      .record(z.enum(recordingStatuses), z.int().min(0))
      .readonly()
      .describe("How many have each status."),
    alerts: z.array(AlertRow).readonly().describe("Of the location itself, not of its recordings."),
  })
  .readonly();
export type LocationRow = z.infer<typeof LocationRow>;

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
  const wanted = new Set(query.location.map((text) => text.toLowerCase()));
  for (const entry of found) if (isWanted(entry[0], wanted, fleet)) collector.offer(entry[0], entry);
  const { items, nextCursor } = collector.page();
  return { items: items.map(([id, location]) => rowOf(id, location, fleet)), nextCursor };
}

function isWanted(id: string, wanted: ReadonlySet<string>, { inventory }: FleetSnapshot): boolean {
  if (wanted.size === 0 || wanted.has(id.toLowerCase())) return true;
  return wanted.has(inventory.location(id)?.name?.toLowerCase() ?? "");
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
