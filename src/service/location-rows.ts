/** `GET /v1/location/list`: its shape is not documented, so every shape seen in practice is accepted. */
import { z } from "zod";
import type { Location } from "../health/recording.ts";
import { ServiceError } from "./errors.ts";
import { Id } from "./id.ts";
import type { ReportDeviation } from "./reporter.ts";

/** Longer names are cut: every alert of the location stores them. */
const MAX_NAME = 1_000;
const Row = z.union([
  Id.transform((id) => ({ id, name: undefined, timezone: undefined })),
  z
    .object({
      id: Id.nullish(),
      _id: Id.nullish(),
      name: z.string().nullish().catch(undefined),
      timezone: z.string().nullish().catch(undefined),
    })
    .transform(({ id, _id, name, timezone }) => ({
      id: id ?? _id,
      name: name?.slice(0, MAX_NAME).toWellFormed() || undefined,
      timezone: timezone || undefined,
    })),
]);

const LISTS = ["locations", "data", "items", "results"] as const;

/** Throws ServiceError `bad_payload` where no list is found. `dropped` rows could not be read. */
export function parseLocations(
  payload: unknown,
  deps: { report: ReportDeviation; isZone: (name: string) => boolean },
): { locations: Location[]; dropped: number } {
  const rows = listIn(payload);
  if (!rows) {
    deps.report("bad_payload", () => payload);
    throw new ServiceError("bad_payload", "GET /v1/location/list got a reply without a list: see the log.");
  }
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

function readRow(
  row: unknown,
  deps: { report: ReportDeviation; isZone: (name: string) => boolean },
): Location | undefined {
  const parsed = Row.safeParse(row);
  if (!parsed.success || !parsed.data.id) return undefined;
  const { id, name, timezone } = parsed.data;
  if (timezone === undefined || deps.isZone(timezone)) return { id, name, timezone };
  deps.report("bad_timezone", () => timezone);
  return { id, name, timezone: undefined };
}

/** The payload itself, or the array under exactly one of the known names. */
function listIn(payload: unknown): unknown[] | undefined {
  if (Array.isArray(payload)) return payload;
  if (typeof payload !== "object" || payload === null) return undefined;
  const lists = LISTS.map((name) => (payload as Record<string, unknown>)[name]).filter(Array.isArray);
  return lists.length === 1 ? lists[0] : undefined;
}
