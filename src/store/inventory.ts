/**
 * Names of all recordings and locations, kept in memory beside Redis. Writes are logged, so that other replicas read only
 * what changed.
 */
import type { ChainableCommander, Redis } from "ioredis";
import type { GroupLabel } from "../health/alert.ts";
import type { Directory, ShopRow } from "../health/directory.ts";
import type { Location, Recording, ReportedRecording } from "../health/recording.ts";
import { believe, type Claims, type DoubtedField } from "../health/reported-recording.ts";
import { chunksOf } from "../lib/chunks.ts";
import { createFollower, logging } from "./change-log.ts";
import { scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { createLabelled } from "./labelled.ts";
import { newId } from "./transact.ts";

const PAGE = 1_000;

type NamesWrite = { readonly of: "recordings" | "locations"; readonly ids: readonly string[] };

export function createInventoryStore(redis: Redis, keys: Keys) {
  const names = createNames();
  /** Reads all names, then those that other replicas wrote since the last time. They stay after Redis was emptied. */
  const reader = createFollower<NamesWrite>(redis, keys.namesLog, async (changes) => {
    for (const kind of changes ? [] : (["locations", "recordings"] as const))
      await scanHash(redis, keys[kind], (id, row) => names.keep(kind, id, row));
    for (const { of, ids } of changes ?? []) {
      const rows = await redis.hmget(keys[of], ...ids);
      for (const [i, id] of ids.entries()) names.keep(of, id, rows[i] ?? null);
    }
    names.forgetShared();
  });
  const claims: Claims = new Map();
  let directory: Directory | undefined;
  /** Writes in one step, so that no replica reads the log without the new names. */
  async function write(written: NamesWrite, add: (batch: ChainableCommander) => void): Promise<void> {
    const id = newId();
    const batch = redis.multi().lindex(keys.namesLog, 0);
    add(batch);
    for (const words of logging(keys.namesLog, id, written)) batch.call(...words);
    const replies = (await batch.exec()) ?? [];
    for (const [error] of replies) if (error) throw error;
    reader.wrote(id, `${replies[0]?.[1] ?? ""}`);
  }

  async function save<Row extends { readonly id: string }>(
    of: NamesWrite["of"],
    rows: readonly Row[],
    encode: (row: Row) => unknown = (row) => row,
  ): Promise<void> {
    for (const page of chunksOf(rows, PAGE)) {
      const texts = new Map(page.map((row) => [row.id, JSON.stringify(encode(row))]));
      await write({ of, ids: [...texts.keys()] }, (batch) => batch.hset(keys[of], texts));
      for (const [id, text] of texts) names.keep(of, id, text);
    }
  }

  /** Stores new or changed recordings. */
  async function saveRecordings(rows: readonly Recording[]): Promise<void> {
    await reader.follow();
    const changed = rows.filter((row) => isChanged(names.recording(row.id), row));
    await save("recordings", changed, toRow);
  }

  return {
    recording: names.recording,
    location: (id: string) => names.locations.get(id),
    revision: names.revision,
    recordings: names.recordings,
    idsAt: names.labels.idsAt,
    labelled: names.labels.labelled,
    organisationAt: names.labels.organisationAt,
    /** Puts a directory in force, or none. */
    useDirectory(next: Directory | undefined): void {
      directory = next;
    },
    shop: (id: string): ShopRow | undefined => directory?.rowOf(id, names.locations.get(id)?.name),
    /** The text of the directory that any replica read last. */
    lastDirectory: () => redis.get(keys.directory),
    keepDirectory: (text: string | undefined) =>
      text === undefined ? redis.del(keys.directory) : redis.set(keys.directory, text),
    shopLabels: () => directory?.labels ?? [],
    nameOf: (id: string) => directory?.names.get(id),
    locationsOf(label?: GroupLabel, value = ""): Iterable<string> | undefined {
      if (!directory) return undefined;
      return label ? names.labels.labelled(label, value).keys() : names.locations.keys();
    },
    /** All location ids with a name or zone. */
    locationIds: () => names.locations.keys(),

    /** Reads what other replicas wrote since the last time, one command where there is nothing; at first all names. */
    follow: reader.follow,

    saveRecordings,

    /**
     * Stores what is believed of the recordings of one answer, and gives it in its order, with the fields that are not
     * believed before another answer says the same. New ones without a location are not stored.
     */
    async takeRecordings(
      reported: readonly ReportedRecording[],
    ): Promise<{ readonly recordings: readonly Recording[]; readonly doubted: readonly DoubtedField[] }> {
      await reader.follow();
      const believed = believe(reported, names.recording, claims);
      await saveRecordings(believed.recordings.filter(({ locationId }) => locationId !== ""));
      return believed;
    },

    /** Stores new or changed locations. */
    async saveLocations(rows: readonly Location[]): Promise<void> {
      const changed = rows.filter((row) => isChanged(names.locations.get(row.id), row));
      await save("locations", changed);
    },

    /** Deletes recordings that left the fleet. */
    async forget(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return;
      for (const id of ids) {
        names.keep("recordings", id, null);
        claims.delete(id);
      }
      await write({ of: "recordings", ids }, (batch) => batch.hdel(keys.recordings, ...ids));
    },
  };
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
  const recordings = new Map<string, { readonly name: string; readonly place: Place }>();
  /** By its text, of those that were read together. */
  const shared = new Map<string, Place>();
  const labels = createLabelled();
  let revision = 0;

  function drop(id: string): boolean {
    const known = recordings.get(id);
    if (known) labels.count(id, known.place, -1);
    return recordings.delete(id);
  }

  function recording(id: string): Recording | undefined {
    const named = recordings.get(id);
    return named && { id, name: named.name, ...named.place };
  }

  return {
    locations,
    labels,
    /** Recordings of a location follow each other. */
    *recordings(): Iterable<Recording> {
      for (const here of labels.ids()) yield* here.flatMap((id) => recording(id) ?? []);
    },
    /** Another number after each change of a recording. */
    revision: () => revision,

    recording,

    /** Keeps a row as it is stored; null: it is not. */
    keep(of: NamesWrite["of"], id: string, row: string | null): void {
      if (of === "locations") {
        // The known string: an equal one takes as much memory again.
        if (row !== null) locations.set(id, { ...(JSON.parse(row) as Location), id });
      } else if (row === null) {
        if (drop(id)) revision++;
      } else {
        const [name, rest] = splitRow(row);
        const place = shared.get(rest) ?? placeFrom(rest);
        shared.set(rest, place);
        drop(id);
        labels.count(id, place, 1);
        recordings.set(id, { name, place });
        revision++;
      }
    },

    forgetShared: () => shared.clear(),
  };
}
