/** `GET /v1/location/list`: its shape is not documented, so every shape seen in practice is accepted. */
import { z } from "zod";
import type { Location } from "../health/recording.ts";
import type { ReportDeviation } from "./reporter.ts";
import { Id, Name, undocumented } from "./rows.ts";

const Row = z.union([
  Id.transform((id) => ({ id, _id: undefined, name: undefined, timezone: undefined })),
  z.object({
    id: Id.nullish(),
    _id: Id.nullish(),
    name: Name.nullish().catch(undefined),
    timezone: z.string().nullish().catch(undefined),
  }),
]);

const LISTS = ["locations", "data", "items", "results"] as const;

type LocationDeps = { readonly report: ReportDeviation; readonly isZone: (name: string) => boolean };

/** Throws ServiceError `bad_payload` where no list is found. `dropped` rows could not be read. */
export function parseLocations(payload: unknown, deps: LocationDeps): { locations: Location[]; dropped: number } {
  const rows = listIn(payload);
  if (!rows) throw undocumented("GET /v1/location/list", payload, deps.report);
  const locations = new Map<string, Location>();
  let dropped = 0;
  for (const row of rows) {
    const location = readRow(row, deps);
    if (!location) {
      dropped += 1;
      deps.report("bad_row", () => row);
    } else if (locations.has(location.id)) deps.report("duplicate_row", () => row);
    else locations.set(location.id, location);
  }
  return { locations: [...locations.values()], dropped };
}

function readRow(row: unknown, { report, isZone }: LocationDeps): Location | undefined {
  const { id, _id, name, timezone } = Row.safeParse(row).data ?? {};
  const known = id ?? _id;
  if (!known) return undefined;
  const isKnownZone = !timezone || isZone(timezone);
  if (!isKnownZone) report("bad_timezone", () => timezone);
  return { id: known, name: name || undefined, timezone: (isKnownZone && timezone) || undefined };
}

/** The payload itself, or the array under exactly one of the known names. */
function listIn(payload: unknown): unknown[] | undefined {
  if (Array.isArray(payload)) return payload;
  if (typeof payload !== "object" || payload === null) return undefined;
  const lists = LISTS.map((name) => (payload as Record<string, unknown>)[name]).filter(Array.isArray);
  return lists.length === 1 ? lists[0] : undefined;
}
