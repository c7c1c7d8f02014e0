/** `GET /api/v1/recordings`: the fleet now, a row per recording. */

import { z } from "zod";
import { type FleetLocation, locationsOf, statesAt, statusOf } from "../../health/fleet-locations.ts";
import { recordingStatuses } from "../../health/recording.ts";
import { currentStatus, type FleetSnapshot, type RecordingState } from "../../health/shard-state.ts";
import { DAY_MS } from "../../lib/clock.ts";
import { runYielding } from "../../lib/yield.ts";
import { type Listing, listingOf, pageParameters } from "../paging.ts";
import { isoTime, repeated } from "../query.ts";
import { recordingMatcher } from "../search.ts";
import { namedIn } from "./locations.ts";
import {
  AlertRow,
  alertRows,
  type HandledAlerts,
  operation,
  pageSchema,
  readHandled,
  timeSchema,
} from "./operation.ts";

const named = repeated(z.string()).describe("Id or full name, in any case; may be repeated.");

const RecordingsQuery = z.strictObject({
  ...pageParameters,
  location: named,
  recording: named,
  q: z
    .string()
    .max(256, "expected at most 256 characters")
    .transform((text) => text.trim())
    .optional()
    .meta({ type: "string", description: "Words in the names of it, its location, camera server and organisation." }),
  status: repeated(z.enum(recordingStatuses, { error: `expected one of ${recordingStatuses.join(", ")}` })),
});
type RecordingsQuery = z.infer<typeof RecordingsQuery>;

const ratio = z.number().min(0).max(1).nullable();

/** Null for what is not known. */
export const ApiRecording = z
  .strictObject({
    recordingId: z.string(),
    recording: z.string().describe("Its name; the id where the service gives none."),
    locationId: z.string(),
    location: z.string().describe("The location's name; the id where the service gives none."),
    status: z.enum(recordingStatuses),
    since: timeSchema.nullable().describe("Start of that status; for `unknown`, the last good reading."),
    lastSeen: timeSchema.nullable(),
    averageQuality: ratio.describe("Null while the status is unknown: an old figure does not describe now."),
    overallUptime24h: ratio,
    alerts: z.array(AlertRow).readonly().describe("Firing alerts first, then pending ones."),
  })
  .readonly();
export type ApiRecording = z.infer<typeof ApiRecording>;

export const listRecordings = operation({
  id: "listRecordings",
  method: "get",
  path: "/api/v1/recordings",
  summary: "Every recording with its status and alerts, by id.",
  query: RecordingsQuery,
  answer: pageSchema(ApiRecording, {}),
  async handle(deps, { query, signal }) {
    const fleet = await deps.fleet();
    const handled = await readHandled(deps);
    const { items, nextCursor } = await runYielding(recordingListing(fleet, query), signal);
    return { items: items.map((state) => recordingRow(state, fleet, handled)), nextCursor };
  },
});

type RecordingsPage = Pick<Listing<RecordingState>, "items" | "nextCursor">;

function* recordingListing(fleet: FleetSnapshot, query: RecordingsQuery): Generator<void, RecordingsPage> {
  const { q, recording, location, status, cursor = "" } = query;
  const { inventory } = fleet;
  const isWanted = namedIn(recording);
  const isWantedLocation = namedIn(location);
  const statuses = new Set(status);
  const matches = q ? recordingMatcher(q, fleet) : () => true;
  const hasWanted = ({ id, counts }: FleetLocation) =>
    (statuses.size === 0 || status.some((one) => counts[one] > 0)) &&
    isWantedLocation(id, inventory.location(id)?.name);
  const locations = [...(yield* locationsOf(fleet)).values()].filter(hasWanted);
  return yield* listingOf(statesAt(locations), query, (row) => {
    const { id } = row;
    if (id <= cursor || !isWanted(id, inventory.recording(id)?.name) || !matches(row)) return undefined;
    return statuses.size === 0 || statuses.has(statusOf(row, fleet)) ? id : undefined;
  });
}

/** The row of a recording as it is now. */
export function recordingRow(state: RecordingState, fleet: FleetSnapshot, handled: HandledAlerts): ApiRecording {
  const status = currentStatus(state, fleet.now, fleet.statusIntervalMs);
  const known = status !== "unknown";
  return {
    recordingId: state.id,
    recording: fleet.inventory.recording(state.id)?.name || state.id,
    locationId: state.locationId,
    location: fleet.inventory.location(state.locationId)?.name || state.locationId,
    status,
    since: isoTime(known ? state.since : state.readAt || undefined),
    lastSeen: isoTime(state.lastSeenAt),
    averageQuality: (known ? state.averageQuality : undefined) ?? null,
    overallUptime24h: fleet.overallUptime(state.id, DAY_MS) ?? null,
    alerts: alertRows(state.alerts, handled),
  };
}
