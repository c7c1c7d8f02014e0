/** Runs a query: the requests of its route, one after another, and their replies as rows. Command line and API share it. */

import { DateTime } from "luxon";
import type { Labels } from "../health/alert.ts";
import type { Recording } from "../health/recording.ts";
import { completed } from "../health/reported-recording.ts";
import { chunksOf } from "../lib/chunks.ts";
import { DAY_MS, type Instant } from "../lib/clock.ts";
import { createLocalHours } from "../lib/local-hours.ts";
import type { MetricReply } from "../service/metric-rows.ts";
import type { Service } from "../service/service.ts";
import { type Ask, pickNamed, pickPlaces, QueryError, type QuerySpan, spanIn } from "./ask.ts";
import {
  columnOf,
  columnsOf,
  estimateCells,
  headCells,
  metricCells,
  periodName,
  placeOf,
  type QueryPlace,
  type QueryRow,
  traitCells,
  uptimeCells,
} from "./columns.ts";
import { type Directory, type Requests, recordingIds } from "./service-directory.ts";

export interface QueryDeps extends Requests<Exclude<keyof Service, "close" | "checkStatus">> {
  readonly directory: Directory;
  /** The labels of locations, where a directory of shops has some. */
  labelsOf?(place: QueryPlace): Labels | undefined;
  readonly now: Instant;
  readonly mostRows: number;
  /** Requests that were answered. */
  onProgress?(answered: number): void;
}

export interface QueryAnswer {
  readonly columns: readonly string[];
  readonly items: readonly QueryRow[];
  /** Column → unit, as the service states it. */
  readonly units: Readonly<Record<string, string>>;
  /** Rows of the service that could not be read. */
  readonly dropped: number;
}

/** The rows of one answered request. */
type Part = {
  readonly rows: readonly QueryRow[];
  readonly dropped: number;
  readonly units?: MetricReply<string>["units"];
};
type Parts = AsyncGenerator<Part, void>;

/** By location, by name. Throws QueryError, ServiceError, or the signal's reason. */
export async function runQuery(ask: Ask, deps: QueryDeps): Promise<QueryAnswer> {
  const listed = await deps.directory.locations();
  const named = listed.map(placeOf).sort((a, b) => collator.compare(a.name, b.name));
  const places = pickPlaces(named, ask.locations, deps.labelsOf ?? (() => undefined));
  const rows: QueryRow[] = [];
  const units: Record<string, string> = {};
  let dropped = 0;
  let answered = 0;
  for await (const part of partsOf(ask, places, deps)) {
    deps.signal.throwIfAborted();
    deps.onProgress?.(++answered);
    if (rows.length + part.rows.length > deps.mostRows) throw tooMuch(`more than ${deps.mostRows} rows`);
    rows.push(...part.rows);
    dropped += part.dropped;
    for (const [measure, unit] of Object.entries(part.units ?? {})) units[columnOf(measure)] = unit;
  }
  const order = new Map(places.map(({ id }, i) => [id, i]));
  const at = ({ locationId }: QueryRow) => order.get(String(locationId)) ?? order.size;
  rows.sort((a, b) => at(a) - at(b));
  const columns = columnsOf(ask);
  const more = ask.estimates ? new Set(rows.flatMap((row) => Object.keys(row))) : [];
  return { columns: [...new Set([...columns, ...more])], items: rows, units, dropped };
}

const collator = new Intl.Collator("en-GB", { numeric: true });

function tooMuch(what: string): QueryError {
  return new QueryError("too_much", `the answer has ${what}: name fewer locations, a shorter span or a longer every`);
}

function partsOf(ask: Ask, places: readonly QueryPlace[], deps: QueryDeps): Parts {
  switch (ask.route) {
    case "locations":
      return locationParts(places);
    case "status":
    case "areas":
      return recordingParts(ask, places, deps);
    case "uptime":
      return uptimeParts(ask, places, deps);
    default:
      return metricParts(ask, places, deps);
  }
}

async function* locationParts(places: readonly QueryPlace[]): Parts {
  yield { rows: places.map((place) => ({ ...headCells(place), timezone: place.timezone ?? null })), dropped: 0 };
}

const ID = /^[0-9a-f]{24}$/i;

/** The recordings asked for, all of these locations where none is asked for. */
async function readRecordings({ recordings, locations }: Ask, places: readonly QueryPlace[], { directory }: QueryDeps) {
  const ids = recordings.length > 0 && recordings.every((text) => ID.test(text)) ? recordings : [];
  const listed = await directory.recordings({ locations: places.map(({ id }) => id), ids });
  const here = new Set(places.map(({ id }) => id));
  const known = listed.filter(({ locationId }) => locations.length === 0 || here.has(locationId));
  return new Map(pickNamed("recording", known, recordings).map((one) => [one.id, one]));
}

/** Status and zones, a row for each recording or zone; by recording where some are asked for, else by location. */
async function* recordingParts(ask: Ask, places: readonly QueryPlace[], deps: QueryDeps): Parts {
  const recordings = await readRecordings(ask, places, deps);
  const placeAt = placesById(places);
  const entityType = ask.recordings.length > 0 ? "recording" : "location";
  const all = entityType === "recording" ? [...recordings.keys()] : places.map(({ id }) => id);
  const head = (id: string | undefined, locationId: string | undefined) => {
    if (id === undefined) return { ...headCells(undefined), recordingId: null, recording: null };
    const known = recordings.get(id);
    return headCells(placeAt(locationId ?? known?.locationId), { id, name: known?.name ?? id });
  };
  for (const entities of chunksOf(all, deps.locationsPerRequest)) {
    const query = { entities, entityType } as const;
    if (ask.route === "areas") {
      const { contexts, dropped } = await deps.attempt(() => deps.service.areaContexts(query, deps.signal));
      const rows = contexts.map(({ areaType, taxonomy, recordingId }) => ({
        ...head(recordingId, undefined),
        ...{ areaType, zone: taxonomy ?? null },
      }));
      yield { rows, dropped };
      continue;
    }
    const { readings, unreadable } = await deps.attempt(() => deps.service.statusUptime(query, deps.signal));
    const rows = readings.map(({ recordingId, locationId, status, lastSeenAt, averageQuality }) => ({
      ...head(recordingId, locationId),
      ...{
        status,
        lastSeen: lastSeenAt === undefined ? null : new Date(lastSeenAt).toISOString(),
        averageQuality: averageQuality ?? null,
      },
      ...traitCells(recordings.get(recordingId)),
    }));
    yield { rows, dropped: unreadable.length };
  }
}

function placesById(places: readonly QueryPlace[]) {
  const byId = new Map(places.map((place) => [place.id, place]));
  return (id: string | undefined) => (id ? (byId.get(id) ?? { id, name: id, timezone: undefined }) : undefined);
}

/** The places with a time zone: one without its own has that of one of its recordings. */
function zonedBy(recordings: readonly Recording[], places: readonly QueryPlace[]): readonly QueryPlace[] {
  const zones = new Map(recordings.map(({ locationId, timezone }) => [locationId, timezone]));
  return places.map((place) => ({ ...place, timezone: place.timezone ?? zones.get(place.id) }));
}

async function withZones({ timezone: asked }: Ask, places: readonly QueryPlace[], { directory }: QueryDeps) {
  const unknown = asked === undefined ? places.filter(({ timezone }) => timezone === undefined) : [];
  const locations = unknown.map(({ id }) => id);
  return locations.length === 0 ? places : zonedBy(await directory.recordings({ locations, ids: [] }), places);
}

/** One reply is parsed at once: other work waits for so many rows at most. */
const ROWS_PER_REQUEST = 2_000;
/** About how many values are served; the contract shows no list. */
const VALUES = { age: 8, gender: 2, role: 5 };
const ZONES_PER_LOCATION = 10;

/** The places by time zone, in batches of one request, with the span in that zone. */
function* batchesOf(ask: Ask, places: readonly QueryPlace[], { locationsPerRequest, now, mostRows }: QueryDeps) {
  const zones = Map.groupBy(places, ({ timezone }) => ask.timezone ?? timezone ?? "UTC");
  for (const [zone, within] of zones) {
    const span = spanIn(ask, zone, now);
    const each = rowsOfOne(ask, span);
    if (each > mostRows) throw tooMuch(`about ${each} rows a location`);
    const size = Math.min(locationsPerRequest, Math.max(1, Math.floor(ROWS_PER_REQUEST / each)));
    for (const batch of chunksOf(within, size)) yield { zone, span, batch };
  }
}

/** About how many rows one location has in a reply. */
function rowsOfOne(ask: Ask, { start, end }: QuerySpan): number {
  const periods = isSegmented(ask) ? (end - start) / DAY_MS / (ask.every === "month" ? 28 : 1) : 1;
  const split = Object.keys(ask.split).reduce((rows, name) => rows * VALUES[name as keyof typeof VALUES], 1);
  return Math.ceil(periods * split * (ask.route === "zones" ? ZONES_PER_LOCATION : 1));
}

/** About 7,200 buckets, 1 MB. */
const RECORDING_DAYS_PER_REQUEST = 300;
const MOST_RECORDINGS_PER_REQUEST = 50;

async function* uptimeParts(ask: Ask, places: readonly QueryPlace[], deps: QueryDeps): Parts {
  const { service, signal } = deps;
  const placeAt = placesById(places);
  const hours = createLocalHours();
  const some = ask.recordings.length > 0 ? [...(await readRecordings(ask, places, deps)).values()] : undefined;
  const read = async (ids: readonly string[], days: QuerySpan["days"]) => {
    if (some?.length !== 1) return service.uptimes({ ...days, recids: ids }, signal);
    return { results: [await service.recordingUptime(ids[0] ?? "", days, signal)], dropped: 0 };
  };
  const held = some && [...new Set(some.map(({ locationId }) => locationId))].flatMap((id) => placeAt(id) ?? []);
  const zoned = held ? zonedBy(some, held) : await withZones(ask, places, deps);
  for (const { span, batch } of batchesOf(ask, zoned, deps)) {
    const here = new Set(batch.map(({ id }) => id));
    const ids =
      some?.filter(({ locationId }) => here.has(locationId)).map(({ id }) => id) ?? (await recordingIds(here, deps));
    const days = Math.ceil((span.end - span.start) / DAY_MS);
    const size = Math.min(MOST_RECORDINGS_PER_REQUEST, Math.floor(RECORDING_DAYS_PER_REQUEST / days));
    for (const page of chunksOf(ids, Math.max(1, size))) {
      const { results, dropped } = await deps.attempt(() => read(page, span.days));
      const rows = results.flatMap(({ recording: reported, buckets }) => {
        const recording = completed(reported);
        const head = headCells(placeAt(recording.locationId), recording);
        const periods = uptimeCells(buckets, ask.every, recording.timezone, hours);
        return periods.map((figures) => ({ ...head, ...figures, ...traitCells(recording) }));
      });
      yield { rows, dropped };
    }
  }
}

async function* metricParts(ask: Ask, places: readonly QueryPlace[], deps: QueryDeps): Parts {
  const batches = [...batchesOf(ask, await withZones(ask, places, deps), deps)];
  const placeAt = placesById(places);
  const zones = ask.route === "zones" ? await zonesOf(ask, batches, deps) : [];
  for (const [i, { zone, span, batch }] of batches.entries()) {
    const taxonomies = zones[i] ?? [];
    if (ask.route === "zones" && taxonomies.length === 0) continue;
    const byId = new Map(batch.map((place) => [place.id, place]));
    for (const { start, end, period } of periodsOf(ask, span, zone)) {
      const reply = await deps.attempt(() =>
        requestMetric(ask, { start, end, locations: [...byId.keys()], taxonomies }, deps),
      );
      const { segments, summary, estimates, units } = reply;
      if (ask.estimates) {
        const rows = [estimates ?? []].flat().map((row) => estimateCells(row, placeAt));
        yield { rows, dropped: reply.dropped, units };
        continue;
      }
      const served = (isSegmented(ask) ? segments : summary) ?? [];
      const rows = served.flatMap((row) => {
        const place = byId.get(row.location ?? (byId.size === 1 ? (batch[0]?.id ?? "") : ""));
        return place ? [{ ...headCells(place), ...metricCells(row, ask, { zone, period }) }] : [];
      });
      yield { rows, dropped: reply.dropped + served.length - rows.length, units };
    }
  }
}

/** The zones of each batch that are asked for; by their last part too. Throws QueryError for one that no batch has. */
async function zonesOf(
  ask: Ask,
  batches: readonly { readonly batch: readonly QueryPlace[] }[],
  deps: QueryDeps,
): Promise<string[][]> {
  const found: string[][] = [];
  for (const { batch } of batches) {
    const query = { entities: batch.map(({ id }) => id), entityType: "location" } as const;
    const { contexts } = await deps.attempt(() => deps.service.areaContexts(query, deps.signal));
    found.push([...new Set(contexts.flatMap(({ taxonomy }) => taxonomy || []))].sort());
  }
  if (ask.zones.length === 0) return found;
  const last = (zone: string) => zone.split(":").at(-1) ?? zone;
  const known = [...new Set(found.flat())].map((zone) => ({ id: zone, name: last(zone) }));
  const wanted = new Set(pickNamed("zone", known, ask.zones).map(({ id }) => id));
  return found.map((zones) => zones.filter((zone) => wanted.has(zone)));
}

/** Dwell and conversion have no segments, and weeks are none (contract: "Routes"): each period is a request of its own. */
function isSegmented({ route, every }: Ask): boolean {
  return (every === "day" || every === "month") && (route === "entries" || route === "zones");
}

type Period = Pick<QuerySpan, "start" | "end"> & { readonly period: string | undefined };
const MOST_PERIODS = 400;

function periodsOf(ask: Ask, { start, end }: QuerySpan, zone: string): Period[] {
  const unit = ask.every === "month" || ask.every === "week" ? ask.every : "day";
  if (ask.every === undefined || isSegmented(ask)) return [{ start, end, period: undefined }];
  if (end - start > MOST_PERIODS * DAY_MS) throw tooMuch(`more than ${MOST_PERIODS} days of single requests`);
  const periods: Period[] = [];
  for (let at = start; at < end; ) {
    const from = DateTime.fromMillis(at, { zone });
    const next = Math.min(end, +from.startOf(unit).plus({ [unit]: 1 }));
    periods.push({ start: at, end: next, period: periodName(from, unit) });
    at = next;
  }
  return periods;
}

interface MetricSpan extends Pick<QuerySpan, "start" | "end"> {
  readonly locations: readonly string[];
  readonly taxonomies: readonly string[];
}

type AnyReply = Pick<MetricReply<string>, "summary" | "units" | "dropped"> & Partial<MetricReply<string>>;

function requestMetric(
  ask: Ask,
  { taxonomies, ...span }: MetricSpan,
  { service, signal }: QueryDeps,
): Promise<AnyReply> {
  const aggregationPeriod = ask.every === "month" ? ("month" as const) : ("day" as const);
  const period = isSegmented(ask) ? { aggregationPeriod } : {};
  const breakdown = { ...ask.split, entity: true } as const;
  const facet = isSegmented(ask) ? ("segments" as const) : ("summary" as const);
  switch (ask.route) {
    case "entries":
      return service.entries({ ...span, ...period, breakdown, facets: [ask.estimates ? "estimates" : facet] }, signal);
    case "zones":
      return service.areaData(
        { ...span, ...period, taxonomies, breakdown: { ...breakdown, taxonomy: true }, facets: [facet] },
        signal,
      );
    case "dwell":
      return service.averageDwellTime({ ...span, breakdown, facets: ["summary"] }, signal);
    default:
      return service.conversionRate({ ...span, facets: ["summary"] }, signal);
  }
}
