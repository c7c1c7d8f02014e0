/**
 * Names: of all locations, and of the recordings that somebody here asked for lately, kept in memory beside Redis. Writes
 * are logged, so that other replicas read only what changed.
 */
import type { ChainableCommander, Redis } from "ioredis";
import type { Location, Recording, ReportedRecording } from "../health/recording.ts";
import { believe, type Claims, type DoubtedField } from "../health/reported-recording.ts";
import type { ShardState } from "../health/shard-state.ts";
import { chunksOf } from "../lib/chunks.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import { createYielder } from "../lib/yield.ts";
import { scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";

const PAGE = 1_000;
/** A replica further behind than this many writes reads again all that it has. */
const WRITES_LOGGED = 100;
/** Names that nobody asks for leave memory after this long, or twice as long. */
const KEPT_MS = 5 * 60_000;

type NamesWrite = { readonly of: "recordings" | "locations"; readonly ids: readonly string[] };

export function createInventoryStore(redis: Redis, keys: Keys) {
  const names = createNames();
  const reader = createNamesReader(redis, keys, names);
  const knownAt = new WeakMap<object, number>();
  const claims: Claims = new Map();

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

  /** Stores new or changed recordings. */
  async function saveRecordings(rows: readonly Recording[]): Promise<void> {
    await reader.know(rows.map(({ id }) => id));
    const changed = rows.filter((row) => isChanged(names.recording(row.id), row));
    await save("recordings", changed.map(names.keepRecording), toRow);
  }

  return {
    /** Gives a recording that was made known in the last minutes. */
    recording: names.recording,
    location: (id: string) => names.locations.get(id),
    revision: names.revision,
    /** All location ids with a name or zone. */
    locationIds: () => names.locations.keys(),
    /** Reads locations again: another replica may have listed them. */
    loadLocations: reader.loadLocations,
    /** Makes stored names of these recordings known. */
    know: reader.know,

    /** The same of all that these shards have, or of one at each location and of those not in the last answer. */
    async knowShards(
      shards: readonly Pick<ShardState, "sweptAt" | "recordings">[],
      which: "all" | "one" = "all",
    ): Promise<void> {
      const maybeYield = createYielder();
      for (const shard of shards) {
        const { recordings } = shard;
        if (knownAt.get(recordings) === names.turn()) continue;
        await reader.know(which === "one" ? fewOf(recordings) : recordings.keys());
        if (which === "all") knownAt.set(recordings, names.turn());
        await maybeYield();
      }
    },

    /** Reads what other replicas wrote since the last time: one command where there is nothing. */
    follow: reader.follow,

    saveRecordings,

    /**
     * Stores what is believed of the recordings of one answer, and gives it in its order, with the fields that are not
     * believed before another answer says the same. New ones without a location are not stored.
     */
    async takeRecordings(
      reported: readonly ReportedRecording[],
    ): Promise<{ readonly recordings: readonly Recording[]; readonly doubted: readonly DoubtedField[] }> {
      await reader.know(reported.map(({ id }) => id));
      const believed = believe(reported, names.recording, claims);
      await saveRecordings(believed.recordings.filter(({ locationId }) => locationId !== ""));
      return believed;
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
      for (const id of ids) {
        names.keepRow("recordings", id, null);
        claims.delete(id);
      }
      await write({ of: "recordings", ids }, (batch) => batch.hdel(keys.recordings, ...ids));
    },
  };
}

/** The first recording of each location, and those that may have moved to another one. */
function fewOf(recordings: ShardState["recordings"]): string[] {
  const seen = new Set<string>();
  const few = [...recordings.values()].filter(
    ({ locationId, absentSince }) => seen.size < seen.add(locationId).size || absentSince !== undefined,
  );
  return few.map(({ id }) => id);
}

/** The row of a recording, stored under its id. */
type Row = readonly [
  ...[name: string, organisation: string, cameraServer: string, locationId: string],
  boolean,
  string,
];

function toRow({ name, organisation, cameraServer, locationId, useUploadingSchedule, timezone }: Recording): Row {
  return [name, organisation, cameraServer, locationId, useUploadingSchedule, timezone];
}

/** The text of a row in two: its name, and what follows, which others share. */
function splitRow(text: string): [name: string, rest: string] {
  const end = /^\["(?:[^"\\]|\\.)*"/.exec(text)?.[0].length ?? 0;
  return [JSON.parse(text.slice(1, end)) as string, text.slice(end)];
}

function placeFrom(rest: string): Place {
  const [, organisation, cameraServer, locationId, useUploadingSchedule, timezone] = JSON.parse(`[""${rest}`) as Row;
  return { organisation, cameraServer, locationId, useUploadingSchedule, timezone };
}

function isChanged<Row extends object>(known: Row | undefined, row: Row): boolean {
  return !known || (Object.keys(row) as (keyof Row)[]).some((field) => known[field] !== row[field]);
}

/** The facts that recordings of one camera server at a location share. */
type Place = Omit<Recording, "id" | "name">;

/** Names in memory: what the recordings of a location share is kept once. */
function createNames() {
  const locations = new Map<string, Location>();
  const shared = new Map<string, Place>();
  const recordings = new Map<string, { readonly name: string; readonly place: Place; usedIn: number }>();
  /** Asked for since the last turn, and not stored so far. */
  const lacked = new Set<string>();
  let revision = 0;
  let turns = 0;
  let turnsAt = performance.now() + KEPT_MS;
  const recording = (id: string): Recording | undefined => {
    const named = recordings.get(id);
    return named && { id, name: named.name, ...named.place };
  };
  const keep = (id: string, row: string): void => {
    const [name, rest] = splitRow(row);
    const place = shared.get(rest) ?? placeFrom(rest);
    shared.set(rest, place);
    recordings.set(id, { name, place, usedIn: turns });
    lacked.delete(id);
    revision++;
  };

  /** Counts the times that names which were not asked for since the last one left. */
  function turn(): number {
    if (performance.now() < turnsAt) return turns;
    for (const [id, { usedIn }] of recordings) if (usedIn < turns) recordings.delete(id);
    shared.clear();
    lacked.clear();
    turnsAt = performance.now() + KEPT_MS;
    return ++turns;
  }

  /** The ids that are not in memory; the others stay there. */
  function lacking(ids: Iterable<string>): string[] {
    turn();
    const unknown: string[] = [];
    for (const id of ids) {
      const known = recordings.get(id);
      if (known) known.usedIn = turns;
      else unknown.push(id);
    }
    for (const id of unknown) lacked.add(id);
    return unknown;
  }

  function keepRecording(recording: Recording): Recording {
    keep(recording.id, JSON.stringify(toRow(recording)));
    return recording;
  }

  function keepRow(of: NamesWrite["of"], id: string, row: string | null): void {
    if (of === "locations") {
      // The known string: an equal one takes as much memory again.
      if (row !== null) locations.set(id, { ...(JSON.parse(row) as Location), id });
    } else if (row !== null) keep(id, row);
    else if (recordings.delete(id)) revision++;
  }

  const isAsked = (id: string) => recordings.has(id) || lacked.has(id);
  const asked = () => [...recordings.keys(), ...lacked];
  return { recording, locations, lacking, isAsked, asked, turn, keepRecording, keepRow, revision: () => revision };
}

/** Reads names: those asked for, and those in memory that other replicas wrote since the last time. */
function createNamesReader(redis: Redis, keys: Keys, names: ReturnType<typeof createNames>) {
  /** Undefined before anything was read. */
  let revision: number | undefined;

  const storedRevision = async () => Number((await redis.get(keys.namesRevision)) ?? 0);
  /** Before the first name: one that is written meanwhile is read again. */
  const begin = async () => {
    revision ??= await storedRevision();
  };

  async function loadLocations(): Promise<void> {
    await begin();
    await scanHash(redis, keys.locations, (id, row) => names.keepRow("locations", id, row));
  }

  async function know(ids: Iterable<string>): Promise<void> {
    const unknown = names.lacking(ids);
    if (unknown.length === 0) return;
    await begin();
    await read("recordings", unknown);
  }

  async function read(of: NamesWrite["of"], ids: readonly string[], areLost = false): Promise<void> {
    for (const page of chunksOf(ids, PAGE)) {
      const rows = await redis.hmget(keys[of], ...page);
      for (const [i, id] of page.entries()) if (rows[i] || !areLost) names.keepRow(of, id, rows[i] ?? null);
    }
  }

  async function readWritten(): Promise<void> {
    await begin();
    const now = await storedRevision();
    const behind = now - (revision ?? now);
    if (behind === 0) return;
    if (behind < 0 || behind > WRITES_LOGGED) {
      // Names stay as they were after Redis was emptied.
      await read("recordings", names.asked(), true);
      await loadLocations();
    } else {
      for (const text of await redis.lrange(keys.namesLog, 0, behind - 1)) {
        const { of, ids } = JSON.parse(text) as NamesWrite;
        await read(of, of === "locations" ? ids : ids.filter(names.isAsked));
      }
    }
    revision = now;
  }

  /** An own write, by the revision it made, need not be read again. */
  function counted(written: number): void {
    if (written - 1 === revision) revision = written;
  }

  return { know, loadLocations, follow: oneAtATime(readWritten), counted };
}
