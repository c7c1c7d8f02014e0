/** Queries as requests; an invalid one throws ServiceError `bad_request` before anything is sent. */
import type { Instant } from "../lib/clock.ts";
import type { CoreRequest } from "./core-api.ts";
import { ServiceError } from "./errors.ts";
import type {
  AreaContextsQuery,
  AreaDataQuery,
  AverageDwellTimeQuery,
  ConversionRateQuery,
  Demographic,
  Demographics,
  EntriesQuery,
  PeriodQuery,
} from "./metric-types.ts";
import type { SocketRequest } from "./pending-requests.ts";

const DAY = /^\d{4}-\d\d-\d\d$/;
const AGES = /^\d{1,3}_\d{1,3}$/;

export function entriesRequest(query: EntriesQuery): SocketRequest {
  return metric("entries", query, query.facets, breakdownBody(query.breakdown ?? {}));
}

export function areaDataRequest(query: AreaDataQuery): SocketRequest {
  return metric("area/data", query, query.facets, {
    areaType: "taxonomy",
    taxonomy: nonEmpty("taxonomies", query.taxonomies),
    ...breakdownBody(query.breakdown ?? {}),
  });
}

export function averageDwellTimeRequest(query: AverageDwellTimeQuery): SocketRequest {
  return metric("average-dwell-time", query, query.facets, {
    areaType: "location-dwell",
    ...breakdownBody(query.breakdown ?? {}),
  });
}

export function conversionRateRequest(query: ConversionRateQuery): SocketRequest {
  return metric("transactions/conversion-rate", query, query.facets, breakdownBody({ entity: true }));
}

export function areaContextsRequest(query: AreaContextsQuery): SocketRequest {
  const body = { returnEntityType: "area_context", ...entitiesBody(query) };
  return { action: "detail", route: "detail/list", body };
}

export function statusRequest(query: AreaContextsQuery): SocketRequest {
  return { action: "status", route: "status/uptime", body: entitiesBody(query) };
}

/** GET /v1/recording/:id/uptime. */
export function recordingUptimeRequest(id: string, days: { start: string; end: string }): CoreRequest {
  checkDays(days);
  if (/^\.{0,2}$/.test(id)) throw refused("a recording id is needed");
  const query = new URLSearchParams({ start: days.start, end: days.end });
  return { method: "GET", path: `/v1/recording/${encodeURIComponent(id)}/uptime?${query}` };
}

/** POST /v1/recording/uptimes. Without `recids` it returns every recording, so an empty list is refused. */
export function uptimesRequest(query: { start: string; end: string; recids?: readonly string[] }): CoreRequest {
  checkDays(query);
  const { start, end, recids } = query;
  const json = recids === undefined ? { start, end } : { start, end, recids: nonEmpty("recids", recids) };
  return { method: "POST", path: "/v1/recording/uptimes", json };
}

/** The uptime endpoints take whole days only, `YYYY-MM-DD`, in order (contract: uptime rule 1). */
function checkDays({ start, end }: { start: string; end: string }): void {
  for (const day of [start, end]) {
    const real = DAY.test(day) && new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day);
    if (!real) throw refused("uptime takes days, YYYY-MM-DD without a time");
  }
  if (start > end) throw refused("the first day is after the last");
}

/** The ids unchanged; throws where there are none or one is empty. */
function nonEmpty(name: string, ids: readonly string[]): readonly string[] {
  if (ids.length === 0 || ids.includes("")) throw refused(`${name} needs at least one, none of them empty`);
  return ids;
}

function entitiesBody({ entities, entityType }: AreaContextsQuery) {
  return { entities: nonEmpty("entities", entities), entityType };
}

function metric(route: string, query: PeriodQuery, facets: readonly string[], more: object): SocketRequest {
  return {
    action: "metric",
    route,
    body: {
      ...period(query.start, query.end),
      entities: nonEmpty("locations", query.locations),
      entityType: "location",
      facets: nonEmpty("facets", facets),
      ...(query.aggregationPeriod ? { aggregationPeriod: query.aggregationPeriod } : {}),
      ...more,
    },
  };
}

/** Full ISO 8601 in UTC with milliseconds: the opposite of the uptime endpoints (contract: metric routes). */
function period(start: Instant, end: Instant): { start: string; end: string } {
  if (!(start < end)) throw refused("start must be before end");
  const [from, to] = [new Date(start), new Date(end)];
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) throw refused("start and end must be instants");
  return { start: from.toISOString(), end: to.toISOString() };
}

type Breakdown = Demographics & { readonly entity?: true; readonly taxonomy?: true };

/** A filter is a breakdown with values, so neither can be sent without the other (contract: "Rules" 1). */
function breakdownBody(breakdown: Breakdown): object {
  const { age, gender, role, taxonomy, entity } = breakdown;
  const dimensions = Object.entries({ taxonomy, age, gender, role, entity })
    .filter(([, split]) => split !== undefined)
    .map(([dimension]) => dimension);
  if (dimensions.length === 0) return {};
  return {
    breakdownByDimensions: dimensions,
    ...filter("ages", age),
    ...filter("genders", gender),
    ...filter("roles", role),
  };
}

function filter(name: "ages" | "genders" | "roles", split: Demographic | undefined): object {
  if (split === undefined || split === true) return {};
  nonEmpty(name, split);
  if (name === "ages" && !split.every((band) => AGES.test(band))) throw refused("ages have the shape 25_34");
  return { [name]: split };
}

function refused(why: string): ServiceError {
  return new ServiceError("bad_request", `The request was not sent: ${why}.`);
}
