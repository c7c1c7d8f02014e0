/** Asks the service for counts. Figures that cannot be true are no data, like those it does not have. */
import { chunksOf } from "../lib/chunks.ts";
import type { MetricReplyRow } from "../service/metric-rows.ts";
import type { Service } from "../service/service.ts";
import { type CountsRequest, ZONES_PER_REQUEST } from "./counts-plan.ts";

/** More visitors are an error. */
const MOST_COUNTED = 10_000_000;

export type CountsService = Pick<Service, "entries" | "areaData" | "conversionRate">;

/** By location id and taxonomy, "" of its entries and its sales; `null` is no data. Of every location asked for. */
export type ServedCounts = ReadonlyMap<string, ReadonlyMap<string, number | null>>;

/** Asks in `cost` requests, each of them made by `ask`. */
export async function askCounts(
  service: CountsService,
  request: CountsRequest,
  { zonesOf, ask }: { zonesOf(locationId: string): readonly string[]; ask<T>(call: () => Promise<T>): Promise<T> },
): Promise<ServedCounts> {
  const { route, locations, from: start, to: end } = request;
  const query = { start, end, locations, facets: ["summary"] as const };
  if (route === "zones") {
    const counted = new Map(locations.map((id) => [id, new Map<string, number | null>(nothing(zonesOf(id)))]));
    for (const taxonomies of chunksOf([...new Set(locations.flatMap(zonesOf))], ZONES_PER_REQUEST)) {
      const asked = { ...query, taxonomies, breakdown: { taxonomy: true, entity: true } as const };
      const { summary = [] } = await ask(() => service.areaData(asked));
      for (const row of rowsOf(summary, locations)) {
        const own = counted.get(row.location);
        if (own?.has(row.taxonomy ?? "")) own.set(row.taxonomy ?? "", plausible(row.values.area_total_entries));
      }
    }
    return counted;
  }
  const entries = async () => {
    const { summary = [] } = await ask(() => service.entries({ ...query, breakdown: { entity: true } }));
    return figures(summary, locations, ({ entries }) => entries);
  };
  if (route === "entries") {
    const counted = await entries();
    return ofLocations(locations, (id) => counted.get(id));
  }
  const { summary = [] } = await ask(() => service.conversionRate(query));
  const rates = figures(summary, locations, ({ sales_conversion_rate }) => sales_conversion_rate);
  const visitors = await entries();
  return ofLocations(locations, (id) => (rates.get(id) ?? Number.NaN) * (visitors.get(id) ?? Number.NaN));
}

type Row<Measure extends string> = MetricReplyRow<Measure>;

/** Rows of the locations asked for; one that names none is of the only one. */
function rowsOf<Measure extends string>(rows: readonly Row<Measure>[], locations: readonly string[]) {
  const only = locations.length === 1 ? locations[0] : "";
  return rows.map((row) => ({ ...row, location: row.location ?? only ?? "" }));
}

function figures<Measure extends string>(
  rows: readonly Row<Measure>[],
  locations: readonly string[],
  measure: (values: Row<Measure>["values"]) => number | undefined,
): Map<string, number | undefined> {
  return new Map(rowsOf(rows, locations).map(({ location, values }) => [location, measure(values)]));
}

function ofLocations(locations: readonly string[], count: (id: string) => number | undefined): ServedCounts {
  return new Map(locations.map((id) => [id, new Map([["", plausible(count(id))]])]));
}

function nothing(zones: readonly string[]): [string, null][] {
  return zones.map((zone) => [zone, null]);
}

function plausible(count: number | undefined): number | null {
  return count !== undefined && count >= 0 && count <= MOST_COUNTED ? Math.round(count) : null;
}
