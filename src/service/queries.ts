/** Queries as requests; an invalid one throws ServiceError `bad_request` before anything is sent. */
import type { Instant } from "../lib/clock.ts";
import { ServiceError } from "./errors.ts";

export type SocketRequest = Readonly<{
  action: "metric" | "detail" | "status";
  route: string;
  body: unknown;
  /** Reads a reply in one part; undefined where it is to be parsed as any other. */
  read?: (text: Buffer) => unknown;
}>;

/** `path` starts with `/v1`. */
export type CoreRequest = Readonly<{ method: "GET" | "POST"; path: string; json?: unknown }>;

/** A dimension to split by: `true` gives a row per value, a list only those values (contract: "Rules" 1). */
type Demographic = true | readonly string[];

/** `age` has the shape `25_34`; `gender` and `role` are as the service names them (contract: not enumerated). */
interface Breakdown {
  readonly age?: Demographic;
  readonly gender?: Demographic;
  readonly role?: Demographic;
  /** A row per location. */
  readonly entity?: true;
}

interface MetricQuery<Facet extends string = "summary"> {
  readonly start: Instant;
  /** After `start`; may be left out (contract: only `start` is required). */
  readonly end?: Instant;
  /** Location ids, at least one. */
  readonly locations: readonly string[];
  readonly aggregationPeriod?: "day" | "month";
  readonly facets: readonly Facet[];
}

export type EntriesQuery = MetricQuery<"segments" | "summary" | "estimates"> & { readonly breakdown?: Breakdown };

export interface AreaDataQuery extends MetricQuery<"segments" | "summary"> {
  /** Zone taxonomies, `<Group>:<Subgroup>:<Name>`, at least one. */
  readonly taxonomies: readonly string[];
  /** `taxonomy` splits per zone. */
  readonly breakdown?: Breakdown & { readonly taxonomy?: true };
}

export type AverageDwellTimeQuery = MetricQuery & { readonly breakdown?: Breakdown };

/** Sales carry no visitor attributes (contract: "Rules" 3): always by entity, never filtered. */
export type ConversionRateQuery = MetricQuery;

/** At least one id of the given type. */
export type EntitiesQuery = { readonly entities: readonly string[]; readonly entityType: "location" | "recording" };

/** Days `YYYY-MM-DD`, both inclusive (contract: uptime rules 1 and 2). */
export type Days = { readonly start: string; readonly end: string };

const DAY = /^\d{4}-\d\d-\d\d$/;
const AGES = /^\d{1,3}_\d{1,3}$/;

export function entriesRequest(query: EntriesQuery): SocketRequest {
  return metric("entries", query, breakdownBody(query.breakdown));
}

export function areaDataRequest(query: AreaDataQuery): SocketRequest {
  return metric("area/data", query, {
    areaType: "taxonomy",
    taxonomy: nonEmpty("taxonomies", query.taxonomies),
    ...breakdownBody(query.breakdown),
  });
}

export function averageDwellTimeRequest(query: AverageDwellTimeQuery): SocketRequest {
  return metric("average-dwell-time", query, { areaType: "location-dwell", ...breakdownBody(query.breakdown) });
}

export function conversionRateRequest(query: ConversionRateQuery): SocketRequest {
  return metric("transactions/conversion-rate", query, breakdownBody({ entity: true }));
}

export function areaContextsRequest(query: EntitiesQuery): SocketRequest {
  const body = { returnEntityType: "area_context", ...entitiesBody(query) };
  return { action: "detail", route: "detail/list", body };
}

export function statusRequest(query: EntitiesQuery): SocketRequest {
  return { action: "status", route: "status/uptime", body: entitiesBody(query) };
}

/** GET /v1/recording/:id/uptime. */
export function recordingUptimeRequest(id: string, days: Days): CoreRequest {
  checkDays(days);
  if (/^\.{0,2}$/.test(id)) throw refused("a recording id is needed");
  const query = new URLSearchParams({ start: days.start, end: days.end });
  return { method: "GET", path: `/v1/recording/${encodeURIComponent(id)}/uptime?${query}` };
}

/** POST /v1/recording/uptimes. Without `recids` it returns every recording, so an empty list is refused. */
export function uptimesRequest(query: Days & { readonly recids?: readonly string[] }): CoreRequest {
  checkDays(query);
  const { start, end, recids } = query;
  const json = recids === undefined ? { start, end } : { start, end, recids: nonEmpty("recids", recids) };
  return { method: "POST", path: "/v1/recording/uptimes", json };
}

/** The uptime endpoints take whole days only, `YYYY-MM-DD`, in order (contract: uptime rule 1). */
function checkDays({ start, end }: Days): void {
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

function entitiesBody({ entities, entityType }: EntitiesQuery) {
  return { entities: nonEmpty("entities", entities), entityType };
}

function metric(route: string, query: MetricQuery<string>, more: object): SocketRequest {
  const { start, end, locations, aggregationPeriod, facets } = query;
  const body = {
    ...period(start, end),
    entities: nonEmpty("locations", locations),
    entityType: "location",
    facets: nonEmpty("facets", facets),
    ...(aggregationPeriod ? { aggregationPeriod } : {}),
    ...more,
  };
  return { action: "metric", route, body };
}

/** Full ISO 8601 in UTC with milliseconds: the opposite of the uptime endpoints (contract: metric routes). */
function period(start: Instant, end: Instant | undefined): Pick<Days, "start"> & Partial<Days> {
  if (end !== undefined && !(start < end)) throw refused("start must be before end");
  const [from, to] = [new Date(start), new Date(end ?? start)];
  if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime())) throw refused("start and end must be instants");
  return { start: from.toISOString(), ...(end === undefined ? {} : { end: to.toISOString() }) };
}

/** A filter is a breakdown with values, so neither can be sent without the other (contract: "Rules" 1). */
function breakdownBody(breakdown: NonNullable<AreaDataQuery["breakdown"]> = {}): object {
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
