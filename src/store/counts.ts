/**
 * The counts of each location: whole hours of eight weeks and the readings of a day and a half, of its entries, its
 * zones and its tills; and what the counts of the fleet come to.
 */
import type { Redis } from "ioredis";
import type { CountSeries } from "../counts/series.ts";
import type { Instant } from "../lib/clock.ts";
import { type Column, fromColumn, fromTimes, toColumn, toTimes } from "./columns.ts";
import type { Keys } from "./keys.ts";
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
    const own: [string, string][] = [[`r${name}`, JSON.stringify(encodeReadings(readings))]];
    if (known.get(name)?.hours !== hours) own.push([`h${name}`, JSON.stringify(encodeHours(hours, early))]);
    return own;
  });
  return Object.fromEntries([["z", counts.timezone], ...fields]);
}

function decodeCounts(hash: Record<string, string>): KeptCounts | undefined {
  if (hash.z === undefined) return undefined;
  const series = (name: string): KeptSeries => {
    const [hours, readings] = [hash[`h${name}`], hash[`r${name}`]];
    return { ...decodeHours(parsed<HourColumns>(hours)), readings: decodeReadings(parsed<ReadingColumns>(readings)) };
  };
  const zones = Object.keys(hash).flatMap((field) => (field.startsWith("h:") ? [field.slice(1)] : []));
  return {
    timezone: hash.z,
    entries: series(""),
    zones: new Map(zones.map((name) => [name.slice(1), series(name)])),
    sales: hash[`h${SALES}`] === undefined ? undefined : series(SALES),
  };
}

function parsed<T>(text: string | undefined): T | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as T);
}

/** Number, starts and counts of hours, and the hours that the service may still correct. */
type HourColumns = readonly [length: number, starts: Column, counts: Column, early: Column];

/** Hours in order of time, whatever the order in which they were read. */
function encodeHours(hours: KeptSeries["hours"], early: KeptSeries["early"]): HourColumns {
  const starts = [...hours.keys()].sort((a, b) => a - b);
  const counts = starts.map((at) => hours.get(at));
  return [starts.length, toTimes(starts), toColumn(counts), toColumn(starts.map((at) => (early.has(at) ? 1 : 0)))];
}

function decodeHours([length, times, ...columns]: HourColumns = [0, [], [], []]) {
  const starts = fromTimes(times, length);
  const [counts = [], early = []] = columns.map((one) => fromColumn(one, length));
  return {
    hours: new Map(starts.map((at, i) => [at, counts[i] ?? null])),
    early: new Set(starts.filter((_, i) => early[i] === 1)),
  };
}

/** Number, times, beginnings and counts of readings, oldest first. */
type ReadingColumns = readonly [length: number, at: Column, since: Column, counts: Column];

function encodeReadings(readings: KeptSeries["readings"]): ReadingColumns {
  return [
    readings.length,
    toTimes(readings.map(({ at }) => at)),
    toTimes(readings.map(({ since }) => since)),
    toColumn(readings.map(({ count }) => count)),
  ];
}

function decodeReadings([length, at, since, column]: ReadingColumns = [0, [], [], []]): KeptSeries["readings"] {
  const [begins, counts] = [fromTimes(since, length), fromColumn(column, length)];
  return fromTimes(at, length).map((time, i) => ({ at: time, since: begins[i] ?? time, count: counts[i] ?? null }));
}
