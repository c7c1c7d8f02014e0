/** `GET /api/v1/recordings`: the fleet now, a row per recording. */

import { z } from "zod";
import { type Recording, recordingStatuses } from "../../health/recording.ts";
import type { FleetOverview } from "../../health/shard-overview.ts";
import { type FleetSnapshot, type Inventory, type RecordingState, statusOf } from "../../health/shard-state.ts";
import { totalOf } from "../../health/status-counts.ts";
import { DAY_MS } from "../../lib/clock.ts";
import { eachRow, runYielding } from "../../lib/yield.ts";
import { pageParameters } from "../paging.ts";
import { isoTime, repeated } from "../query.ts";
import { recordingMatcher } from "../search.ts";
import { pageOfParts } from "../shard-paging.ts";
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
    lastStatus: z.enum(recordingStatuses).nullable().describe("While it is unknown: the last known one, if any."),
    since: timeSchema.nullable().describe("Start of that status; for `unknown`, the last good reading."),
    lastSeen: timeSchema.nullable(),
    averageQuality: ratio.describe("Null while the status is unknown: an old figure does not describe now."),
    overallUptime24h: ratio,
    cameraServer: z
      .strictObject({ id: z.string(), name: z.string().describe("Of the directory; else the id.") })
      .readonly()
      .nullable(),
    alerts: z.array(AlertRow).readonly().describe("Firing alerts first, then pending ones."),
  })
  .readonly();
export type ApiRecording = z.infer<typeof ApiRecording>;

export const listRecordings = operation({
  id: "listRecordings",
  method: "get",
  path: "/api/v1/recordings",
  summary: "Every recording with its status and alerts; a page is of one shard, by id, and may be short of `limit`.",
  query: RecordingsQuery,
  answer: pageSchema(ApiRecording, {}),
  async handle(deps, { query, signal }) {
    const [fleet, handled] = await Promise.all([deps.overview(), readHandled(deps)]);
    const shards = await runYielding(shardsWith(query, fleet), signal);
    const isWanted = wantedBy(query, fleet.inventory);
    const parts = [...shards].map((shard) => ({
      key: String(shard).padStart(8, "0"),
      isStored: true,
      async rows() {
        const here = await deps.shards([shard]);
        const states = here.shards.flatMap(({ recordings }) => [...recordings.values()]);
        const wanted = states.filter(
          (state) =>
            isWanted({ ...fleet.inventory.recording(state.id), ...state }) &&
            (query.status.length === 0 || query.status.includes(statusOf(state, here))),
        );
        return wanted.map((state) => [state.id, recordingRow(state, here, handled)] as const);
      },
    }));
    return pageOfParts(
      parts.sort((a, b) => (a.key < b.key ? -1 : 1)),
      query,
    );
  },
});

/** The shards that have what a query asks for, by their overviews and by names; yields every so many. */
function* shardsWith({ q, recording, location, status }: RecordingsQuery, { inventory, locations }: FleetOverview) {
  const isWantedLocation = namedIn(location);
  const shardAt = new Map<string, number>();
  for (const { id, shard, counts } of locations.values()) {
    const isOf = status.length === 0 ? totalOf(counts) > 0 : status.some((one) => counts[one] > 0);
    if (isOf && isWantedLocation(id, inventory.location(id)?.name)) shardAt.set(id, shard);
  }
  if (!q && recording.length === 0) return new Set(shardAt.values());
  const isWanted = wantedBy({ q, recording, location }, inventory);
  const shards = new Set<number>();
  yield* eachRow(inventory.recordings(), (one) => {
    const shard = shardAt.get(one.locationId);
    if (shard !== undefined && !shards.has(shard) && isWanted(one)) shards.add(shard);
  });
  return shards;
}

/** True for a recording with the names and words asked for. */
function wantedBy({ q, recording, location }: Omit<RecordingsQuery, "status" | "limit">, inventory: Inventory) {
  const isWanted = namedIn(recording);
  const isWantedLocation = namedIn(location);
  const matches = q ? recordingMatcher(q, inventory) : () => true;
  return (one: Partial<Recording> & Pick<Recording, "id" | "locationId">) =>
    isWantedLocation(one.locationId, inventory.location(one.locationId)?.name) &&
    isWanted(one.id, one.name) &&
    matches(one);
}

/** The row of a recording as it is now. */
export function recordingRow(state: RecordingState, fleet: FleetSnapshot, handled: HandledAlerts): ApiRecording {
  const status = statusOf(state, fleet);
  const { cameraServer: server } = fleet.inventory.recording(state.id) ?? {};
  const known = status !== "unknown";
  return {
    recordingId: state.id,
    recording: fleet.inventory.recording(state.id)?.name || state.id,
    locationId: state.locationId,
    location: fleet.inventory.location(state.locationId)?.name || state.locationId,
    status,
    lastStatus: (known ? undefined : state.status) ?? null,
    since: isoTime(known ? state.since : state.readAt || undefined),
    lastSeen: isoTime(state.lastSeenAt),
    averageQuality: (known ? state.averageQuality : undefined) ?? null,
    overallUptime24h: fleet.overallUptime(state.id, DAY_MS) ?? null,
    cameraServer: server ? { id: server, name: fleet.inventory.nameOf?.(server) ?? server } : null,
    alerts: alertRows(state.alerts, handled),
  };
}
