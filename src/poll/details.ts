/**
 * What messages add to the facts: the zones that recordings cover and what locations usually count. Read in the
 * background, one small request at a time with long pauses, and stored: no alert ever waits for it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DateTime } from "luxon";
import { type DayEntries, type LocationZones, type UsualEntries, usualEntries } from "../alerting/impact.ts";
import type { Inventory } from "../health/shard-state.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { cut, stripControls } from "../lib/text.ts";
import { dayOfIndex } from "../lib/when.ts";
import type { MetricReplyRow } from "../service/metric-rows.ts";
import type { AreaContext, EntriesQuery, Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import type { PollContext } from "./commit.ts";

/** Usual entries are taken from so many weeks. */
const WEEKS = 8;
/** What a location usually counts is computed again after this long. */
const USUAL_FOR_MS = 20 * 3_600_000;
/** Two months of days of so many locations are one request. */
const LOCATIONS_PER_REQUEST = 5;
/** After each request a pause of so many times as long as it took. */
const PAUSE_SHARE = 4;
const MAX_PAUSE_MS = 10_000;
const ZONES_PER_RECORDING = 20;
const ZONE_LENGTH = 200;
/** More visitors in a day are an error. */
const MAX_ENTRIES = 10_000_000;
/** A failed request is repeated after this long, and longer and longer up to `inventory_interval`. */
const RETRY_MS = 60_000;

interface RefreshDetailsDeps extends Pick<PollContext, "clock" | "log"> {
  readonly service: Pick<Service, "areaContexts" | "entries">;
  readonly store: Pick<Store, "shards" | "inventory" | "zones" | "usualEntries">;
  readonly assigned: Pick<PollContext["assigned"], "locations">;
  readonly locationsPerRequest: number;
  /** Ends the work between two requests. */
  readonly signal: AbortSignal;
}

type DetailsWorkDeps = Omit<RefreshDetailsDeps, "signal"> &
  Pick<PollContext, "queues" | "assigned" | "statusIntervalMs"> & { readonly inventoryIntervalMs: number };

/** The worker of one shard at a time. `stop` ends what is under way before its next request. */
export function createDetailsWork(deps: DetailsWorkDeps): { start(): Promise<void>; stop(): void } {
  const { clock, queues, assigned, statusIntervalMs, inventoryIntervalMs } = deps;
  const stopping = new AbortController();
  const failures = new Map<number, number>();
  const refresh = createRefreshDetails({ ...deps, signal: stopping.signal });
  const retryMs = (failed: number) =>
    Math.min(RETRY_MS * 2 ** Math.min(20, failed - 1), Math.max(RETRY_MS, inventoryIntervalMs));

  async function again(shard: number, delayMs: number): Promise<void> {
    if (!assigned.shards().includes(shard)) return;
    const id = `details-${shard}-${Math.ceil((clock.now() + delayMs) / delayMs)}`;
    await queues.add("details", { shard }, { id, delayMs });
  }

  return {
    start: () =>
      queues.work("details", 1, async ({ data }) => {
        const shard = Number(data.shard);
        const outcome = await refresh(shard);
        const failed = outcome === "failed" ? (failures.get(shard) ?? 0) + 1 : 0;
        failures.set(shard, failed);
        // A shard that was not swept yet is asked for again.
        if (outcome === "not_swept") await again(shard, statusIntervalMs);
        if (failed > 0) await again(shard, retryMs(failed));
      }),
    stop: () => stopping.abort(),
  };
}

/**
 * Gives `refresh(shard)`. That any shard fails is logged once, and what was stored stays. `not_swept`: the recordings of
 * the shard are not known yet.
 */
export function createRefreshDetails(deps: RefreshDetailsDeps) {
  const { store, log, clock, signal } = deps;
  const failing = new Set<number>();

  function note(shard: number, err: Error | undefined): void {
    const wereFailing = failing.size > 0;
    if (err) failing.add(shard);
    else failing.delete(shard);
    if (err && wereFailing) log.debug({ err, shard }, "zones and usual entries still not read");
    else if (err && !signal.aborted)
      log.warn({ err, shard }, "zones or usual entries not read, sending messages without them");
    else if (wereFailing && failing.size === 0) log.info({ shard }, "zones and usual entries read again");
  }

  return async (shard: number): Promise<"done" | "failed" | "not_swept"> => {
    const { sweptAt, recordings } = (await store.shards.read(shard)).state;
    if (sweptAt === 0) return "not_swept";
    const error = await refreshLocations(deps, deps.assigned.locations(shard), recordings);
    note(shard, error);
    await store.shards.noteAttempt(`details:${shard}`, clock.now(), error?.message);
    return error ? "failed" : "done";
  };
}

type ByRecording = ReadonlyMap<string, { readonly locationId: string }>;

/** A service that answers only one of the two routes is asked for that one all the same. Gives the first error. */
async function refreshLocations(
  deps: RefreshDetailsDeps,
  locations: readonly string[],
  recordings: ByRecording,
): Promise<Error | undefined> {
  if (locations.length === 0) return undefined;
  const errors: Error[] = [];
  for (const part of [refreshZones, refreshUsual]) {
    await part(deps, locations, recordings).catch((thrown: unknown) => errors.push(toError(thrown)));
  }
  return errors[0];
}

async function refreshZones(deps: RefreshDetailsDeps, locations: readonly string[], recordings: ByRecording) {
  for (const entities of chunksOf(locations, deps.locationsPerRequest)) {
    const { contexts } = await askSlowly(deps, () =>
      deps.service.areaContexts({ entities, entityType: "location" }, deps.signal),
    );
    await deps.store.zones.save(zonesByLocation(entities, contexts, recordings));
  }
}

/** Every location asked for, those without a zone as well; rows of unknown recordings are left out. */
export function zonesByLocation(
  locations: readonly string[],
  contexts: readonly AreaContext[],
  recordings: ByRecording,
): Map<string, LocationZones> {
  const zones = new Map(locations.map((id) => [id, new Map<string, string[]>()]));
  for (const { recordingId = "", taxonomy } of contexts) {
    const own = zones.get(recordings.get(recordingId)?.locationId ?? "");
    const zone = cut(stripControls((taxonomy ?? "").slice(0, 4 * ZONE_LENGTH)).trim(), ZONE_LENGTH);
    if (!own || zone === "") continue;
    const known = own.get(recordingId) ?? [];
    if (known.length < ZONES_PER_RECORDING && !known.includes(zone)) own.set(recordingId, [...known, zone]);
  }
  return zones;
}

async function refreshUsual(deps: RefreshDetailsDeps, locations: readonly string[], recordings: ByRecording) {
  const { clock, store, service, signal } = deps;
  const known = await store.usualEntries.read(locations);
  const before = clock.now() - USUAL_FOR_MS;
  const wanted = locations.filter((id) => (known.get(id)?.at ?? 0) <= before);
  for (const [zone, all] of Map.groupBy(wanted, createZoneOf(store.inventory, recordings))) {
    for (const page of chunksOf(all, LOCATIONS_PER_REQUEST)) {
      const query = weeksOf(page, zone, clock.now());
      const { segments = [] } = await askSlowly(deps, () => service.entries(query, signal));
      await store.usualEntries.save(usualByLocation(page, segments, query, zone), clock.now());
    }
  }
}

/** A location's own time zone, else that of one of its recordings. */
function createZoneOf(inventory: Inventory, recordings: ByRecording): (locationId: string) => string {
  const ofRecordings = new Map<string, string>();
  for (const [id, { locationId }] of recordings) {
    const zone = inventory.recording(id)?.timezone;
    if (zone !== undefined) ofRecordings.set(locationId, zone);
  }
  return (id) => inventory.location(id)?.timezone ?? ofRecordings.get(id) ?? "UTC";
}

/** Whole local days: today is not over, and would count for little. */
function weeksOf(locations: readonly string[], zone: string, now: Instant) {
  const today = DateTime.fromMillis(now, { zone }).startOf("day");
  return {
    start: today.minus({ weeks: WEEKS }).toMillis(),
    end: today.toMillis(),
    locations,
    facets: ["segments"],
    aggregationPeriod: "day",
    breakdown: { entity: true },
  } satisfies EntriesQuery;
}

/** Every location asked for; a day without a count is not a day without visitors. */
export function usualByLocation(
  locations: readonly string[],
  rows: readonly Pick<MetricReplyRow<"entries">, "index" | "location" | "values">[],
  { start, end }: { readonly start: Instant; readonly end: Instant },
  zone: string,
): Map<string, UsualEntries> {
  const dayAt = (at: Instant) => DateTime.fromMillis(at, { zone }).toISODate() ?? "";
  const [first, after] = [dayAt(start), dayAt(end)];
  const days = new Map(locations.map((id) => [id, new Map<string, DayEntries>()]));
  for (const { index = "", location = locations.length === 1 ? locations[0] : "", values } of rows) {
    const day = dayOfIndex(index, zone);
    const { entries } = values;
    if (day === undefined || day < first || day >= after) continue;
    if (entries === undefined || !(entries >= 0 && entries <= MAX_ENTRIES)) continue;
    days.get(location ?? "")?.set(day, { day, entries });
  }
  return new Map([...days].map(([id, all]) => [id, usualEntries([...all.values()])]));
}

/** Sweeps go first: the service is left alone for most of the time. */
async function askSlowly<T>({ signal }: RefreshDetailsDeps, ask: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const began = performance.now();
  const answer = await ask();
  const pauseMs = Math.min(MAX_PAUSE_MS, PAUSE_SHARE * (performance.now() - began));
  await sleep(pauseMs, undefined, { signal }).catch(() => {});
  return answer;
}
