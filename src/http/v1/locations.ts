/** `GET /api/v1/locations`: a row per location, its recordings counted by status. */
import { z } from "zod";
import { type FleetLocation, locationsOf } from "../../health/fleet-locations.ts";
import { recordingStatuses } from "../../health/recording.ts";
import { noCounts } from "../../health/shard-counts.ts";
import { type FleetSnapshot, STATES } from "../../health/shard-state.ts";
import { runYielding } from "../../lib/yield.ts";
import { listingOf, type PageQuery, pageParameters } from "../paging.ts";
import { repeated } from "../query.ts";
import { AlertRow, alertRows, type HandledAlerts, operation, pageSchema, readHandled } from "./operation.ts";

const Counts = z.record(z.enum(recordingStatuses), z.int().min(0)).readonly();

export const ApiLocation = z
  .strictObject({
    locationId: z.string(),
    location: z.string().describe("Its name; the id where the service gives none."),
    timezone: z.string().nullable().describe("IANA name; null where the service gives none."),
    recordings: Counts.describe("Recordings by status."),
    alerts: z.array(AlertRow).readonly().describe("Of the location itself, not of its recordings."),
  })
  .readonly();

export const listLocations = operation({
  id: "listLocations",
  method: "get",
  path: "/api/v1/locations",
  summary: "Every location with its recordings counted by status, by id.",
  query: z.strictObject({
    ...pageParameters,
    location: repeated(z.string()).describe("Id or full name, in any case; may be repeated."),
  }),
  answer: pageSchema(ApiLocation, { recordings: Counts.describe("The same of all pages together.") }),
  async handle(deps, { query, signal }) {
    const fleet = await deps.fleet(STATES);
    const handled = await readHandled(deps);
    const { items, nextCursor, recordings } = await runYielding(locationListing(fleet, query), signal);
    return { recordings, items: items.map((location) => rowOf(location, fleet, handled)), nextCursor };
  },
});

function* locationListing(fleet: FleetSnapshot, query: PageQuery & { readonly location: readonly string[] }) {
  const isWanted = namedIn(query.location);
  const recordings = noCounts();
  const keyOf = ({ id, counts }: FleetLocation) => {
    if (!isWanted(id, fleet.inventory.location(id)?.name)) return undefined;
    for (const status of recordingStatuses) recordings[status] += counts[status];
    return id;
  };
  return { ...(yield* listingOf((yield* locationsOf(fleet)).values(), query, keyOf)), recordings };
}

/** True for a row that is among the ids and names asked for, in any case; all are where none is asked for. */
export function namedIn(asked: readonly string[]): (id: string, name: string | undefined) => boolean {
  const wanted = new Set(asked.map((text) => text.toLowerCase()));
  return (id, name = "") => wanted.size === 0 || wanted.has(id.toLowerCase()) || wanted.has(name.toLowerCase());
}

function rowOf(
  { id, counts: recordings }: FleetLocation,
  { inventory, shards }: FleetSnapshot,
  handled: HandledAlerts,
) {
  const known = inventory.location(id);
  const state = shards.flatMap(({ locations }) => locations.get(id) ?? []).at(-1);
  const alerts = alertRows(state?.alerts, handled);
  return { locationId: id, location: known?.name || id, timezone: known?.timezone ?? null, recordings, alerts };
}
