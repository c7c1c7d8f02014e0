/**
 * The counts of each location: whole hours of eight weeks and the readings of a day and a half, of its entries, its
 * zones and its tills; and what the counts of the fleet come to.
 */
import type { Redis } from "ioredis";
import type { CountSeries } from "../counts/series.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { packHours, packReadings, unpackHours, unpackReadings } from "./pack-counts.ts";
import { pipelined } from "./redis.ts";

/** Longer than any hour of it is used. */
const KEPT_S = 63 * 86_400;

export interface KeptSeries extends Pick<CountSeries, "hours" | "readings"> {
  /** Hours that the service may still correct. */
  readonly early: ReadonlySet<Instant>;
}

export interface KeptCounts {
  readonly timezone: string;
  readonly entries: KeptSeries;
  /** By taxonomy. */
  readonly zones: ReadonlyMap<string, KeptSeries>;
  readonly sales: KeptSeries | undefined;
}

/** The fields of a hash: `z` time zone; `h` hours and `r` readings, of entries, `$` of sales, `:<taxonomy>` of a zone. */
const SALES = "$";

export function createCountsStore(redis: Redis, keys: Keys) {
  return {
    /** By location id; what nothing is stored of is left out. */
    async read(locationIds: readonly string[]): Promise<Map<string, KeptCounts>> {
      const hashes = await pipelined<Record<string, string>>(redis, (batch) => {
        for (const id of locationIds) batch.hgetall(keys.counts(id));
      });
      const found = locationIds.map((id, i) => [id, decodeCounts(hashes[i] ?? {})] as const);
      return new Map(found.filter((pair): pair is [string, KeptCounts] => pair[1] !== undefined));
    },

    /** Replaces what is stored of one location; hours that are still those of `before`, as it was read, are not written. */
    async save(locationId: string, counts: KeptCounts, before?: KeptCounts): Promise<void> {
      const key = keys.counts(locationId);
      const fields = encodeCounts(counts, before);
      const gone = before ? namedSeries(before).filter(([name]) => !Object.hasOwn(fields, `r${name}`)) : [];
      const write = redis.multi();
      if (!before) write.del(key);
      if (gone.length > 0) write.hdel(key, ...gone.flatMap(([name]) => [`h${name}`, `r${name}`]));
      await write.hset(key, fields).expire(key, KEPT_S).exec();
    },

    async forget(locationIds: readonly string[]): Promise<void> {
      await pipelined(redis, (batch) => {
        for (const id of locationIds) batch.del(keys.counts(id));
      });
    },
  };
}

function namedSeries({ entries, zones, sales }: KeptCounts): [name: string, KeptSeries][] {
  const ofZones = [...zones].map(([zone, one]): [string, KeptSeries] => [`:${zone}`, one]);
  return [["", entries], ...ofZones, ...(sales ? [[SALES, sales] as [string, KeptSeries]] : [])];
}

function encodeCounts(counts: KeptCounts, before: KeptCounts | undefined): Record<string, string> {
  const known = new Map(before && namedSeries(before));
  const fields = namedSeries(counts).flatMap(([name, { hours, early, readings }]) => {
    const own: [string, string][] = [[`r${name}`, packReadings(readings)]];
    if (known.get(name)?.hours !== hours) own.push([`h${name}`, packHours(hours, early)]);
    return own;
  });
  return Object.fromEntries([["z", counts.timezone], ...fields]);
}

function decodeCounts(hash: Record<string, string>): KeptCounts | undefined {
  if (hash.z === undefined) return undefined;
  const series = (name: string): KeptSeries => {
    return { ...unpackHours(hash[`h${name}`]), readings: unpackReadings(hash[`r${name}`]) };
  };
  const zones = Object.keys(hash).flatMap((field) => (field.startsWith("h:") ? [field.slice(1)] : []));
  return {
    timezone: hash.z,
    entries: series(""),
    zones: new Map(zones.map((name) => [name.slice(1), series(name)])),
    sales: hash[`h${SALES}`] === undefined ? undefined : series(SALES),
  };
}
