/**
 * Names and zones of recordings and locations: read from Redis once, then kept in memory beside it. A replica
 * that did not write them itself reads them again when the inventory job says so.
 */
import type { Redis } from "ioredis";
import type { Location, Recording } from "../health/recording.ts";
import type { Inventory } from "../health/state.ts";
import type { Keys } from "./keys.ts";

const PAGE = 1_000;

export interface InventoryStore extends Inventory {
  /** Reads everything anew. */
  load(): Promise<void>;
  /** Reads locations anew: another replica may have listed them. */
  loadLocations(): Promise<void>;
  /** Keeps what is new or changed. */
  saveRecordings(recordings: readonly Recording[]): Promise<void>;
  saveLocations(locations: readonly Location[]): Promise<void>;
  /** Forgets recordings that left the fleet. */
  forget(ids: readonly string[]): Promise<void>;
  /** All location ids with a name or zone. */
  locationIds(): Iterable<string>;
}

export function createInventoryStore(redis: Redis, keys: Keys): InventoryStore {
  const recordings = new Map<string, Recording>();
  const locations = new Map<string, Location>();
  /** One string for the thousands of recordings that share an organisation, server, location or zone. */
  const shared = new Map<string, string>();
  const share = (text: string): string => {
    const known = shared.get(text);
    if (known === undefined) shared.set(text, text);
    return known ?? text;
  };
  const compact = (recording: Recording): Recording => ({
    id: recording.id,
    name: recording.name,
    organisation: share(recording.organisation),
    cameraServer: share(recording.cameraServer),
    locationId: share(recording.locationId),
    useUploadingSchedule: recording.useUploadingSchedule,
    timezone: share(recording.timezone),
  });

  async function scan<T>(key: string, visit: (value: T) => void): Promise<void> {
    let cursor = "0";
    do {
      const [next, flat] = await redis.hscan(key, cursor, "COUNT", PAGE);
      for (let i = 1; i < flat.length; i += 2) visit(JSON.parse(flat[i] ?? "null") as T);
      cursor = next;
    } while (cursor !== "0");
  }

  const loadLocations = () => scan<Location>(keys.locations, (row) => locations.set(row.id, row));

  async function save<T extends { id: string }>(key: string, rows: readonly T[]): Promise<void> {
    for (let from = 0; from < rows.length; from += PAGE) {
      const page = rows.slice(from, from + PAGE);
      await redis.hset(key, Object.fromEntries(page.map((row) => [row.id, JSON.stringify(row)])));
    }
  }

  return {
    recording: (id) => recordings.get(id),
    location: (id) => locations.get(id),
    locationIds: () => locations.keys(),

    async load() {
      await scan<Recording>(keys.recordings, (row) => recordings.set(row.id, compact(row)));
      await loadLocations();
    },

    loadLocations,

    async saveRecordings(rows) {
      const changed = rows.filter((row) => !same(recordings.get(row.id), row)).map(compact);
      for (const row of changed) recordings.set(row.id, row);
      await save(keys.recordings, changed);
    },

    async saveLocations(rows) {
      const changed = rows.filter((row) => !sameLocation(locations.get(row.id), row));
      for (const row of changed) locations.set(row.id, row);
      await save(keys.locations, changed);
    },

    async forget(ids) {
      for (const id of ids) recordings.delete(id);
      if (ids.length > 0) await redis.hdel(keys.recordings, ...ids);
    },
  };
}

function same(a: Recording | undefined, b: Recording): boolean {
  return (
    a !== undefined &&
    a.name === b.name &&
    a.locationId === b.locationId &&
    a.timezone === b.timezone &&
    a.cameraServer === b.cameraServer &&
    a.organisation === b.organisation &&
    a.useUploadingSchedule === b.useUploadingSchedule
  );
}

function sameLocation(a: Location | undefined, b: Location): boolean {
  return a !== undefined && a.name === b.name && a.timezone === b.timezone;
}
