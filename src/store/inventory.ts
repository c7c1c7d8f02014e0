/** Names, kept in memory beside Redis. Writes are logged, so that other replicas read only what changed. */
import type { ChainableCommander, Redis } from "ioredis";
import type { Location, Recording } from "../health/recording.ts";
import { chunksOf } from "../lib/chunks.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import { scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";

const PAGE = 1_000;
/** A replica further behind than this many writes reads everything again. */
const WRITES_LOGGED = 100;

type NamesWrite = { readonly of: "recordings" | "locations"; readonly ids: readonly string[] };

export function createInventoryStore(redis: Redis, keys: Keys) {
  const names = createNames();
  const reader = createNamesReader(redis, keys, names);

  /** Writes in one step, so that no replica reads new names without the new revision. */
  async function write(written: NamesWrite, add: (batch: ChainableCommander) => void): Promise<void> {
    const batch = redis.multi();
    add(batch);
    const replies = await batch
      .lpush(keys.namesLog, JSON.stringify(written))
      .ltrim(keys.namesLog, 0, WRITES_LOGGED - 1)
      .incr(keys.namesRevision)
      .exec();
    reader.counted(Number(replies?.at(-1)?.[1]));
  }

  async function save<Row extends { readonly id: string }>(
    of: NamesWrite["of"],
    rows: readonly Row[],
    encode: (row: Row) => unknown = (row) => row,
  ): Promise<void> {
    for (const page of chunksOf(rows, PAGE)) {
      const fields = Object.fromEntries(page.map((row) => [row.id, JSON.stringify(encode(row))]));
      await write({ of, ids: page.map(({ id }) => id) }, (batch) => batch.hset(keys[of], fields));
    }
  }

  return {
    recording: (id: string) => names.recordings.get(id),
    location: (id: string) => names.locations.get(id),
    recordings: () => names.recordings.values(),
    revision: names.revision,
    /** All location ids with a name or zone. */
    locationIds: () => names.locations.keys(),
    /** Reads everything again. */
    load: reader.load,
    /** Reads locations again: another replica may have listed them. */
    loadLocations: reader.loadLocations,

    /** Reads what other replicas wrote since the last time: one command where there is nothing. */
    follow: reader.follow,

    /** Stores new or changed recordings. */
    async saveRecordings(rows: readonly Recording[]): Promise<void> {
      const changed = rows.filter((row) => isChanged(names.recordings.get(row.id), row));
      await save("recordings", changed.map(names.keepRecording), toRow);
    },

    /** Stores new or changed locations. */
    async saveLocations(rows: readonly Location[]): Promise<void> {
      const changed = rows.filter((row) => isChanged(names.locations.get(row.id), row));
      for (const row of changed) names.locations.set(row.id, row);
      await save("locations", changed);
    },

    /** Deletes recordings that left the fleet. */
    async forget(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return;
      for (const id of ids) names.keepRow("recordings", id, null);
      await write({ of: "recordings", ids }, (batch) => batch.hdel(keys.recordings, ...ids));
    },
  };
}

/** Of a recording, stored under its id as a list without names. */
const FIELDS = ["name", "organisation", "cameraServer", "locationId", "useUploadingSchedule", "timezone"] as const;

const toRow = (recording: Recording) => FIELDS.map((field) => recording[field]);

/** Earlier builds stored the recording itself. */
function fromRow(id: string, row: readonly unknown[] | Recording): Recording {
  if (!Array.isArray(row)) return row as Recording;
  return Object.assign({ id }, ...FIELDS.map((field, i) => ({ [field]: row[i] }))) as Recording;
}

function isChanged<Row extends object>(known: Row | undefined, row: Row): boolean {
  return !known || (Object.keys(row) as (keyof Row)[]).some((field) => known[field] !== row[field]);
}

/** Names in memory: one string for the thousands of recordings that share an organisation, server, location or zone. */
function createNames() {
  const recordings = new Map<string, Recording>();
  const locations = new Map<string, Location>();
  const shared = new Map<string, string>();
  let revision = 0;
  const share = (text: string): string => {
    const known = shared.get(text);
    if (known === undefined) shared.set(text, text);
    return known ?? text;
  };

  function keepRecording({ id, name, useUploadingSchedule, ...recording }: Recording): Recording {
    const organisation = share(recording.organisation);
    const cameraServer = share(recording.cameraServer);
    const locationId = share(recording.locationId);
    const timezone = share(recording.timezone);
    const compact = { id, name, organisation, cameraServer, locationId, useUploadingSchedule, timezone };
    recordings.set(id, compact);
    revision++;
    return compact;
  }

  function keepRow(of: NamesWrite["of"], id: string, row: string | null): void {
    if (of === "locations") {
      if (row !== null) locations.set(id, JSON.parse(row) as Location);
    } else if (row !== null) keepRecording(fromRow(id, JSON.parse(row) as readonly unknown[] | Recording));
    else if (recordings.delete(id)) revision++;
  }

  return { recordings, locations, keepRecording, keepRow, revision: () => revision };
}

/** Reads names: all of them, or those that other replicas wrote since the last time. */
function createNamesReader(redis: Redis, keys: Keys, names: ReturnType<typeof createNames>) {
  let revision = 0;

  const storedRevision = async () => Number((await redis.get(keys.namesRevision)) ?? 0);
  const scan = (of: NamesWrite["of"]) => scanHash(redis, keys[of], (id, row) => names.keepRow(of, id, row));
  const loadLocations = () => scan("locations");

  async function load(): Promise<void> {
    const now = await storedRevision();
    await scan("recordings");
    await loadLocations();
    revision = now;
  }

  async function readWritten(): Promise<void> {
    const now = await storedRevision();
    const behind = now - revision;
    if (behind === 0) return;
    if (behind < 0 || behind > WRITES_LOGGED) return load();
    for (const text of await redis.lrange(keys.namesLog, 0, behind - 1)) {
      const { of, ids } = JSON.parse(text) as NamesWrite;
      const rows = await redis.hmget(keys[of], ...ids);
      for (const [i, id] of ids.entries()) names.keepRow(of, id, rows[i] ?? null);
    }
    revision = now;
  }

  /** An own write, by the revision it made, need not be read again. */
  function counted(written: number): void {
    if (written === revision + 1) revision = written;
  }

  return { load, loadLocations, follow: oneAtATime(readWritten), counted };
}
