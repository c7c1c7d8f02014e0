/** `GET /api/v1/locations`: a row per location, its recordings counted by status. */
import { z } from "zod";
import { recordingStatuses } from "../../health/recording.ts";
import type { FleetOverview, LocationOverview } from "../../health/shard-overview.ts";
import { noCounts } from "../../health/status-counts.ts";
import type { ActiveAlert } from "../deps.ts";
import { listingOf, type PageQuery, pageParameters } from "../paging.ts";
import { repeated } from "../query.ts";
import { AlertRow, alertRow, operation, pageSchema } from "./operation.ts";

const Counts = z.record(z.enum(recordingStatuses), z.int().min(0)).readonly();

export const ApiLocation = z
  .strictObject({
    locationId: z.string(),
    location: z.string().describe("Its name; the id where the service gives none."),
    timezone: z.string().nullable().describe("IANA name; null where the service gives none."),
    recordings: Counts.describe("Recordings by status."),
    alerts: z.array(AlertRow).readonly().describe("Firing alerts of the location itself, not of its recordings."),
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
  async handle(deps, { query }) {
    const [fleet, active] = await Promise.all([deps.overview(), deps.alerts()]);
    const { items, nextCursor, recordings } = locationListing(fleet, query);
    const firing = active.filter(({ alert }) => alert.subject.kind === "location" && alert.state === "firing");
    const own = Map.groupBy(firing, ({ alert }) => alert.subject.id);
    return { recordings, items: items.map((one) => rowOf(one, fleet, own.get(one.id) ?? [])), nextCursor };
  },
});

function locationListing(fleet: FleetOverview, query: PageQuery & { readonly location: readonly string[] }) {
  const isWanted = namedIn(query.location);
  const recordings = noCounts();
  const keyOf = ({ id, counts }: LocationOverview) => {
    if (!isWanted(id, fleet.inventory.location(id)?.name)) return undefined;
    for (const status of recordingStatuses) recordings[status] += counts[status];
    return id;
  };
  return { ...listingOf(fleet.locations.values(), query, keyOf), recordings };
}

/** True for a row that is among the ids and names asked for, in any case; all are where none is asked for. */
export function namedIn(asked: readonly string[]): (id: string, name: string | undefined) => boolean {
  const wanted = new Set(asked.map((text) => text.toLowerCase()));
  return (id, name = "") => wanted.size === 0 || wanted.has(id.toLowerCase()) || wanted.has(name.toLowerCase());
}

function rowOf(
  { id, counts: recordings }: LocationOverview,
  { inventory }: FleetOverview,
  active: readonly ActiveAlert[],
) {
  const known = inventory.location(id);
  const alerts = active.map((one) => alertRow(one.alert, one)).sort((a, b) => a.alertname.localeCompare(b.alertname));
  return { locationId: id, location: known?.name || id, timezone: known?.timezone ?? null, recordings, alerts };
}
