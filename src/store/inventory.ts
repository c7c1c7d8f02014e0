/**
 * Names and zones of recordings and locations: read from Redis once, then kept in memory beside it. Every write is
 * counted and logged, so that the other replicas read again what changed, and only that.
 */
import type { ChainableCommander, Redis } from "ioredis";
import type { Location, Recording } from "../health/recording.ts";
import type { Inventory } from "../health/shard-state.ts";
import type { Keys } from "./keys.ts";

const PAGE = 1_000;
/** Who is further behind than this many writes reads everything anew. */
const WRITES_LOGGED = 100;

/** A write of names: which rows of which hash. */
interface Written {
  readonly of: "recordings" | "locations";
  readonly ids: readonly string[];
}

export interface InventoryStore extends Inventory {
  /** Reads everything anew. */
  load(): Promise<void>;
  /** Reads what other replicas wrote since the last time: one look where there is nothing. */
  follow(): Promise<void>;
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

  let revision = 0;
  let following: Promise<void> | undefined;

  const stored = async () => Number((await redis.get(keys.namesRevision)) ?? 0);

  async function load(): Promise<void> {
    const now = await stored();
    await scan<Recording>(keys.recordings, (row) => recordings.set(row.id, compact(row)));
    await loadLocations();
    revision = now;
  }

  async function follow(): Promise<void> {
    const now = await stored();
    const behind = now - revision;
    if (behind === 0) return;
    if (behind < 0 || behind > WRITES_LOGGED) return load();
    const writes = await redis.lrange(keys.namesLog, 0, behind - 1);
    for (const { of, ids } of writes.map((text) => JSON.parse(text) as Written)) {
      const rows = await redis.hmget(keys[of], ...ids);
      ids.forEach((id, i) => {
        keep(of, id, rows[i] ?? null);
      });
    }
    revision = now;
  }

  function keep(of: Written["of"], id: string, row: string | null): void {
    if (of === "locations") {
      if (row !== null) locations.set(id, JSON.parse(row) as Location);
    } else if (row === null) recordings.delete(id);
    else recordings.set(id, compact(JSON.parse(row) as Recording));
  }

  /** Writes as one; nobody sees the new names without the new revision. */
  async function write(written: Written, add: (batch: ChainableCommander) => ChainableCommander) {
    const replies = await add(redis.multi())
      .lpush(keys.namesLog, JSON.stringify(written))
      .ltrim(keys.namesLog, 0, WRITES_LOGGED - 1)
      .incr(keys.namesRevision)
      .exec();
    const now = Number(replies?.at(-1)?.[1]);
    if (now === revision + 1) revision = now;
  }

  const loadLocations = () => scan<Location>(keys.locations, (row) => locations.set(row.id, row));

  async function save<T extends { id: string }>(of: Written["of"], rows: readonly T[]): Promise<void> {
    for (let from = 0; from < rows.length; from += PAGE) {
      const page = rows.slice(from, from + PAGE);
      const fields = Object.fromEntries(page.map((row) => [row.id, JSON.stringify(row)]));
      await write({ of, ids: page.map(({ id }) => id) }, (batch) => batch.hset(keys[of], fields));
    }
  }

  return {
    recording: (id) => recordings.get(id),
    location: (id) => locations.get(id),
    locationIds: () => locations.keys(),

    load,

    follow() {
      following ??= follow().finally(() => {
        following = undefined;
      });
      return following;
    },

    loadLocations,

    async saveRecordings(rows) {
      const changed = rows.filter((row) => !same(recordings.get(row.id), row)).map(compact);
      for (const row of changed) recordings.set(row.id, row);
      await save("recordings", changed);
    },

    async saveLocations(rows) {
      const changed = rows.filter((row) => !sameLocation(locations.get(row.id), row));
      for (const row of changed) locations.set(row.id, row);
      await save("locations", changed);
    },

    async forget(ids) {
      for (const id of ids) recordings.delete(id);
      if (ids.length > 0)
        await write({ of: "recordings", ids }, (batch) => batch.hdel(keys.recordings, ...ids));
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
