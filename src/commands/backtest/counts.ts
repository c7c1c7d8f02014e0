/** Requests of a backtest for what was counted: hour by hour, of the asked span and of the eight weeks before it. */
import type { LocationZones } from "../../alerting/impact.ts";
import type { TimeSpan } from "../../backtest/setup.ts";
import type { CountedSite, CountSeries } from "../../counts/series.ts";
import { LATE } from "../../counts/track.ts";
import type { Location, Recording } from "../../health/recording.ts";
import { chunksOf } from "../../lib/chunks.ts";
import { DAY_MS, HOUR_MS, type Instant } from "../../lib/clock.ts";
import type { Interval } from "../../lib/intervals.ts";
import { askSlowly } from "../../poll/ask-slowly.ts";
import { askCounts } from "../../poll/counts-ask.ts";
import { type CountsRequest, costOf, HOURS_KEPT, localDays, ZONES_PER_REQUEST } from "../../poll/counts-plan.ts";
import { zonesByLocation } from "../../poll/details.ts";
import { type Service, ServiceError } from "../../service/service.ts";
import { withRetries } from "./history.ts";

export interface CountsDeps {
  readonly service: Pick<Service, "entries" | "areaData" | "conversionRate" | "areaContexts">;
  readonly signal: AbortSignal;
}

export interface CountedFleet {
  readonly locations: readonly Location[];
  readonly recordings: ReadonlyMap<string, Recording>;
  /** By recording id. */
  readonly outages: ReadonlyMap<string, readonly Interval[]>;
  readonly span: TimeSpan;
  readonly locationsPerRequest: number;
}

/** More take hours. */
export const MOST_REQUESTS = 20_000;
/** Entries, zones, and sales as a share of entries. */
const REQUESTS_AN_HOUR = 4;

/** The fewest requests: for locations in one time zone, with few zones. */
export function leastRequests(locations: number, span: TimeSpan, locationsPerRequest: number): number {
  const hours = HOURS_KEPT + (span.to - span.from) / HOUR_MS;
  return Math.ceil(locations / locationsPerRequest) * Math.ceil(hours) * REQUESTS_AN_HOUR;
}

/** The requests, and `read`, which makes them one after the other with pauses; it resolves to the routes refused. */
export async function planCountsHistory(deps: CountsDeps, fleet: CountedFleet) {
  const { recordings, locationsPerRequest } = fleet;
  const zones = new Map<string, LocationZones>();
  const byId = new Map([...recordings].map(([id, { locationId }]) => [id, { locationId }]));
  const ids = fleet.locations.map(({ id }) => id);
  for (const entities of chunksOf(ids, locationsPerRequest)) {
    const query = { entities, entityType: "location" } as const;
    const { contexts } = await withRetries(deps, () => deps.service.areaContexts(query, deps.signal));
    for (const [id, own] of zonesByLocation(entities, contexts, byId)) zones.set(id, own);
  }
  const pasts = fleet.locations.map((location) => createPast(location, zones.get(location.id) ?? new Map(), fleet));
  const requests = [...requestsFor(pasts, fleet)];
  return {
    cost: costOf(requests),
    sites: pasts.map(({ site }) => site),
    read: (progress: (cost: number) => void) => readAll(deps, pasts, requests, progress),
  };
}

type Past = ReturnType<typeof createPast>;

function createPast({ id, timezone: ofLocation }: Location, zones: LocationZones, fleet: CountedFleet) {
  const own = [...fleet.recordings.values()].filter(({ locationId }) => locationId === id);
  const timezone = ofLocation ?? own[0]?.timezone ?? "UTC";
  const organisation = own.find((one) => one.organisation)?.organisation;
  const taxonomies = [...new Set([...zones.values()].flat())];
  const series = (zone?: string) => {
    const hours = new Map<Instant, number | null>();
    const counted: CountSeries = { locationId: id, zone, timezone, hours, readings: [] };
    return { hours, counted };
  };
  const [entries, sales] = [series(), series()];
  const ofZones = new Map(taxonomies.map((zone) => [zone, series(zone)]));
  const site: CountedSite = {
    locationId: id,
    entries: entries.counted,
    zones: [...ofZones.values()].map(({ counted }) => counted),
    sales: sales.counted,
    recordings: own.map(({ id: recordingId }) => ({
      recordingId,
      zones: zones.get(recordingId) ?? [],
      outages: fleet.outages.get(recordingId) ?? [],
    })),
    groups: { timezone, ...(organisation !== undefined && { organisation }) },
  };
  /** Sold since then, by when it was asked until. */
  const sold = new Map<string, number | null>();
  const hoursOf = (zone: string) => (zone === "" ? entries : ofZones.get(zone))?.hours;
  return { ...{ id, timezone, taxonomies, site }, note: createNote({ hoursOf, sales: sales.hours, sold }) };
}

/** Keeps an answer. Sales of an hour are the difference of two since the day before: of an hour without entries none are known. */
function createNote(kept: {
  hoursOf(zone: string): Map<Instant, number | null> | undefined;
  readonly sales: Map<Instant, number | null>;
  readonly sold: Map<string, number | null>;
}) {
  return ({ route, from, to }: CountsRequest, counted: ReadonlyMap<string, number | null>): void => {
    if (route !== "sales") {
      for (const [zone, count] of counted) kept.hoursOf(zone)?.set(from, count);
      return;
    }
    const [before, until] = [kept.sold.get(`${from}/${to - HOUR_MS}`), counted.get("") ?? null];
    kept.sold.delete(`${from}/${to - HOUR_MS}`);
    kept.sold.set(`${from}/${to}`, until);
    if (before === undefined) return;
    kept.sales.set(to - HOUR_MS, before === null || until === null ? null : Math.max(0, until - before));
  };
}

/** Hour by hour. Hours begin at the same time where zones differ by whole hours. */
function* requestsFor(pasts: readonly Past[], { span, locationsPerRequest }: CountedFleet): Generator<CountsRequest> {
  for (const [shift, all] of Map.groupBy(pasts, ({ timezone }) => localDays(timezone, span.from).today % HOUR_MS)) {
    for (let from = span.from + shift - HOURS_KEPT * HOUR_MS; from + HOUR_MS <= span.to - LATE.most; from += HOUR_MS) {
      const to = from + HOUR_MS;
      const today = Math.floor(from / DAY_MS) * DAY_MS + shift;
      for (const some of chunksOf(all, locationsPerRequest)) {
        const locations = some.map(({ id }) => id);
        const zones = new Set(some.flatMap(({ taxonomies }) => taxonomies)).size;
        const sales = { route: "sales", kind: "reading", from: today - DAY_MS, locations, cost: 2 } as const;
        yield { route: "entries", kind: "hour", from, to, locations, cost: 1 };
        if (zones > 0)
          yield { route: "zones", kind: "hour", from, to, locations, cost: Math.ceil(zones / ZONES_PER_REQUEST) };
        if (from === today) yield { ...sales, to: from };
        yield { ...sales, to };
      }
    }
  }
}

async function readAll(
  { service, signal }: CountsDeps,
  pasts: readonly Past[],
  requests: readonly CountsRequest[],
  progress: (cost: number) => void,
): Promise<ReadonlySet<CountsRequest["route"]>> {
  const byId = new Map(pasts.map((past) => [past.id, past]));
  const refused = new Set<CountsRequest["route"]>();
  const how = {
    zonesOf: (id: string) => byId.get(id)?.taxonomies ?? [],
    ask: <T>(call: () => Promise<T>) => askSlowly(signal, () => withRetries({ signal }, call)),
  };
  for (const request of requests) {
    if (refused.has(request.route)) continue;
    try {
      for (const [id, counted] of await askCounts(service, request, how)) byId.get(id)?.note(request, counted);
    } catch (thrown) {
      const isRefused = thrown instanceof ServiceError && !thrown.retryable && thrown.code === "bad_request";
      if (!isRefused || request.route === "entries") throw thrown;
      refused.add(request.route);
    }
    progress(request.cost);
  }
  return refused;
}
