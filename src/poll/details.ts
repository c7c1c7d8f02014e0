/**
 * What messages say beside the facts: the zones recordings cover and what locations usually count. Read in the
 * background, one small question at a time with long rests, and kept in Redis: no alert ever waits for it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { DateTime } from "luxon";
import type { Assigned } from "../cluster/shard-assignment.ts";
import type { Inventory } from "../health/shard-state.ts";
import {
  type DayEntries,
  type LocationZones,
  type UsualEntries,
  usualEntries,
} from "../health/usual-entries.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { cut, stripControls } from "../lib/text.ts";
import type { AreaContext, EntriesQuery, Service } from "../service/service.ts";
import type { UsualEntriesStore, ZoneStore } from "../store/location-details.ts";
import type { ShardStore } from "../store/shards.ts";

/** Habits are taken from so many weeks. */
const WEEKS = 8;
/** What a location usually counts is worked out anew after this long. */
const USUAL_FOR_MS = 20 * 3_600_000;
/** Two months of days of so many locations are one question. */
const LOCATIONS_PER_QUESTION = 5;
/** After each question a rest of so many times as long as it took. */
const REST_SHARE = 4;
const REST_MOST_MS = 10_000;
const ZONES_PER_RECORDING = 20;
const ZONE_LENGTH = 200;
/** No place has more visitors in a day. */
const MOST_ENTRIES = 10_000_000;

export interface RefreshDetailsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly service: Pick<Service, "areaContexts" | "entries">;
  readonly store: Pick<ShardStore, "read" | "noteAttempt">;
  readonly assigned: Pick<Assigned, "locations">;
  readonly inventory: Inventory;
  readonly zones: Pick<ZoneStore, "save">;
  readonly usualEntries: Pick<UsualEntriesStore, "read" | "save">;
  /** What is under way is broken off between two questions. */
  readonly signal: AbortSignal;
}

/** `not_swept`: nobody knows yet which recordings the shard has. */
export type DetailsOutcome = "done" | "failed" | "not_swept";

/** Gives `refresh(shard)`. That any shard fails is logged once, and what was known stays. */
export function createRefreshDetails(deps: RefreshDetailsDeps): (shard: number) => Promise<DetailsOutcome> {
  const failing = new Set<number>();

  async function refreshAll(locations: readonly string[], recordings: Placed): Promise<Error | undefined> {
    if (locations.length === 0) return undefined;
    const errors: Error[] = [];
    // A service that answers one of the two routes only is asked for that one all the same.
    for (const part of [refreshZones, refreshUsual]) {
      await part(deps, locations, recordings).catch((thrown: unknown) => errors.push(toError(thrown)));
    }
    return errors[0];
  }

  function note(shard: number, err: Error | undefined): void {
    const wereFailing = failing.size > 0;
    if (err) failing.add(shard);
    else failing.delete(shard);
    if (err && wereFailing) deps.log.debug({ err, shard }, "zones and usual entries are still not read");
    else if (err && !deps.signal.aborted)
      deps.log.warn({ err, shard }, "zones or usual entries could not be read; messages go out without them");
    else if (wereFailing && failing.size === 0)
      deps.log.info({ shard }, "zones and usual entries can be read again");
  }

  return async (shard) => {
    const { sweptAt, recordings } = (await deps.store.read(shard)).state;
    if (sweptAt === 0) return "not_swept";
    const error = await refreshAll(deps.assigned.locations(shard), recordings);
    note(shard, error);
    await deps.store.noteAttempt(`details:${shard}`, deps.clock.now(), error?.message);
    return error ? "failed" : "done";
  };
}

type Placed = ReadonlyMap<string, { readonly locationId: string }>;

async function refreshZones(
  deps: RefreshDetailsDeps,
  entities: readonly string[],
  recordings: Placed,
): Promise<void> {
  const { contexts } = await askSlowly(deps, () =>
    deps.service.areaContexts({ entities, entityType: "location" }, deps.signal),
  );
  await deps.zones.save(zonesByLocation(entities, contexts, recordings));
}

/** Every location asked for, those without a zone as well; rows of recordings that nobody knows are left out. */
export function zonesByLocation(
  locations: readonly string[],
  contexts: readonly AreaContext[],
  recordings: Placed,
): Map<string, LocationZones> {
  const zones = new Map(locations.map((id) => [id, new Map<string, string[]>()]));
  for (const { recordingId = "", taxonomy } of contexts) {
    const here = zones.get(recordings.get(recordingId)?.locationId ?? "");
    const zone = cut(stripControls((taxonomy ?? "").slice(0, 4 * ZONE_LENGTH)).trim(), ZONE_LENGTH);
    if (!here || zone === "") continue;
    const known = here.get(recordingId) ?? [];
    if (known.length < ZONES_PER_RECORDING && !known.includes(zone)) here.set(recordingId, [...known, zone]);
  }
  return zones;
}

/** Of the locations whose habits are not known, or were worked out long ago. */
async function refreshUsual(
  deps: RefreshDetailsDeps,
  locations: readonly string[],
  recordings: Placed,
): Promise<void> {
  const known = await deps.usualEntries.read(locations);
  const before = deps.clock.now() - USUAL_FOR_MS;
  const wanted = locations.filter((id) => (known.get(id)?.at ?? 0) <= before);
  const zoneOf = createZoneOf(deps.inventory, recordings);
  for (const [zone, all] of Map.groupBy(wanted, zoneOf)) {
    for (let from = 0; from < all.length; from += LOCATIONS_PER_QUESTION) {
      const page = all.slice(from, from + LOCATIONS_PER_QUESTION);
      const query = weeksOf(page, zone, deps.clock.now());
      const { segments = [] } = await askSlowly(deps, () => deps.service.entries(query, deps.signal));
      await deps.usualEntries.save(usualByLocation(page, segments, query, zone), deps.clock.now());
    }
  }
}

/** A location's own zone, else that of one of its recordings. */
function createZoneOf(inventory: Inventory, recordings: Placed): (locationId: string) => string {
  const ofRecordings = new Map<string, string>();
  for (const [id, { locationId }] of recordings) {
    const zone = inventory.recording(id)?.timezone;
    if (zone !== undefined) ofRecordings.set(locationId, zone);
  }
  return (id) => inventory.location(id)?.timezone ?? ofRecordings.get(id) ?? "UTC";
}

/** Whole local days: today is not over, and would count for little. */
function weeksOf(locations: readonly string[], zone: string, now: Instant): EntriesQuery {
  const today = DateTime.fromMillis(now, { zone }).startOf("day");
  return {
    start: today.minus({ weeks: WEEKS }).toMillis(),
    end: today.toMillis(),
    locations,
    facets: ["segments"],
    aggregationPeriod: "day",
    breakdown: { entity: true },
  };
}

interface DayRow {
  readonly index: string | undefined;
  readonly location: string | undefined;
  readonly values: { readonly entries: number | undefined };
}

/**
 * Every location asked for; days the service has no count of are no days on which nobody came. A day is the one its
 * index names: whose midnight that is the contract leaves open.
 */
export function usualByLocation(
  locations: readonly string[],
  rows: readonly DayRow[],
  { start, end }: Pick<EntriesQuery, "start" | "end">,
  zone: string,
): Map<string, UsualEntries> {
  const dayAt = (at: Instant) => DateTime.fromMillis(at, { zone }).toISODate() ?? "";
  const [first, after] = [dayAt(start), dayAt(end)];
  const days = new Map(locations.map((id) => [id, new Map<string, DayEntries>()]));
  for (const { index = "", location = locations.length === 1 ? locations[0] : "", values } of rows) {
    const day = /^(\d{4}-\d{2}-\d{2})(?:T|$)/.exec(index)?.[1];
    const { entries } = values;
    if (day === undefined || day < first || day >= after) continue;
    if (entries === undefined || !(entries >= 0 && entries <= MOST_ENTRIES)) continue;
    days.get(location ?? "")?.set(day, { day, entries });
  }
  return new Map([...days].map(([id, all]) => [id, usualEntries([...all.values()])]));
}

/** Watching goes first: the service is left alone for most of the time. */
async function askSlowly<T>({ signal }: RefreshDetailsDeps, ask: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const began = performance.now();
  const answer = await ask();
  const rest = Math.min(REST_MOST_MS, REST_SHARE * (performance.now() - began));
  await sleep(rest, undefined, { signal }).catch(() => {});
  return answer;
}
