/** `GET /api/v1/recordings`: the fleet now, a row per recording. */
import { z } from "zod";
import { currentStatus, ROWS_PER_STEP, recordingsById } from "../../health/fleet-snapshot.ts";
import { recordingStatuses } from "../../health/recording.ts";
import type { FleetSnapshot, RecordingState } from "../../health/shard-state.ts";
import { type Page, PageCollector, pageParameters } from "../paging.ts";
import { repeated } from "../query.ts";
import { AlertRow, alertRows, iso, share, time } from "./rows.ts";

const DAY_MS = 86_400_000;

/** `location` and `recording` are ids or names in full, upper or lower case alike; filters may be repeated. */
export const RecordingsQuery = z.strictObject({
  ...pageParameters,
  location: repeated(z.string()),
  recording: repeated(z.string()),
  status: repeated(z.enum(recordingStatuses, { error: `expected one of ${recordingStatuses.join(", ")}` })),
});
export type RecordingsQuery = z.infer<typeof RecordingsQuery>;

/** Times in ISO 8601 UTC, ratios 0–1, null for what is not known. */
export const RecordingRow = z
  .strictObject({
    recordingId: z.string(),
    recording: z.string().describe("Its name; the id where the service gives none."),
    locationId: z.string(),
    location: z.string().describe("The location's name; the id where the service gives none."),
    status: z.enum(recordingStatuses),
    since: time.nullable().describe("Since when it has that status; for `unknown`, the last good reading."),
    lastSeen: time.nullable(),
    averageQuality: share
      .nullable()
      .describe("Null while the status is unknown: an old figure says nothing about now."),
    overallUptime24h: share.nullable(),
    alerts: z.array(AlertRow).readonly().describe("Pending and firing, those that fire first."),
  })
  .readonly();
export type RecordingRow = z.infer<typeof RecordingRow>;

/** One page, by recording id; yields every so many rows. */
export function* recordingsPage(
  fleet: FleetSnapshot,
  query: RecordingsQuery,
): Generator<void, Page<RecordingRow>> {
  const recordings = yield* recordingsById(fleet);
  const collector = new PageCollector<RecordingState>(query);
  const wanted = filterOf(fleet, query);
  let seen = 0;
  for (const state of recordings.values()) {
    if (wanted(state)) collector.offer(state.id, state);
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  const { items, nextCursor } = collector.page();
  return { items: items.map((state) => rowOf(state, fleet)), nextCursor };
}

function filterOf(fleet: FleetSnapshot, query: RecordingsQuery): (state: RecordingState) => boolean {
  const locations = new Set(query.location.map((text) => text.toLowerCase()));
  const recordings = new Set(query.recording.map((text) => text.toLowerCase()));
  const statuses = new Set(query.status);
  const isNamed = ({ id }: RecordingState) =>
    recordings.size === 0 ||
    recordings.has(id.toLowerCase()) ||
    recordings.has(fleet.inventory.recording(id)?.name.toLowerCase() ?? "");
  return (state) => {
    if (!isNamed(state)) return false;
    if (statuses.size > 0 && !statuses.has(currentStatus(state, fleet.now, fleet.statusIntervalMs))) {
      return false;
    }
    if (locations.size === 0 || locations.has(state.locationId.toLowerCase())) return true;
    const name = fleet.inventory.location(state.locationId)?.name;
    return name !== undefined && locations.has(name.toLowerCase());
  };
}

function rowOf(state: RecordingState, fleet: FleetSnapshot): RecordingRow {
  const status = currentStatus(state, fleet.now, fleet.statusIntervalMs);
  const known = status !== "unknown";
  return {
    recordingId: state.id,
    recording: fleet.inventory.recording(state.id)?.name || state.id,
    locationId: state.locationId,
    location: fleet.inventory.location(state.locationId)?.name || state.locationId,
    status,
    since: iso(known ? state.since : state.readAt || undefined),
    lastSeen: iso(state.lastSeenAt),
    averageQuality: (known ? state.averageQuality : undefined) ?? null,
    overallUptime24h: fleet.overallUptime(state.id, DAY_MS) ?? null,
    alerts: alertRows(state.alerts),
  };
}
