/** Uptime of recordings: the stored histories, and the figures per window that sweeps look up in memory. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { KnownSchedule } from "../health/schedule.ts";
import type { Figure } from "../health/uptime.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { createHistoryStore } from "./uptime-history.ts";

const READ_EVERY_MS = 15_000;
/** The figures of a shard are parsed in a millisecond. */
const READS_AT_ONCE = 4;
/** Figures of a shard that were not asked for this long are dropped from memory: another replica sweeps it. */
const UNUSED_MS = 600_000;
/** Texts of schedules that are compared with those known. */
const SCHEDULES_SHARED = 1_000;

/** More than a shard has recordings. */
const PLACES = 2 ** 20;

/** Figure → recording id → ratio 0–1. */
type Figures = ReadonlyMap<Figure, ReadonlyMap<string, number>>;

/** Recording id → its schedule; recordings without one are left out. */
export type Schedules = ReadonlyMap<string, KnownSchedule>;

export interface StoredFigures {
  readonly at: Instant;
  readonly ids: readonly string[];
  /** A ratio for each id, null where there is none. */
  readonly columns: readonly (readonly [Figure, readonly (number | null)[]])[];
  readonly schedules: Schedules;
}

export function createUptimeStore(redis: Redis, keys: Keys) {
  const { keep, readAt, noteRead, dropStale, ...figures } = createFigures();

  /** Reads those that another replica wrote. */
  async function readFigures(shards: readonly number[]): Promise<void> {
    const nonces = await pipelined<string | null>(redis, (batch) => {
      for (const shard of shards) batch.hget(keys.figures(shard), "n");
    });
    const isChanged = (shard: number, i: number) => nonces[i] != null && noteRead(shard) !== nonces[i];
    for (const some of chunksOf(shards.filter(isChanged), READS_AT_ONCE)) await Promise.all(some.map(readShard));
  }

  async function readShard(shard: number): Promise<void> {
    const [nonce, text] = await redis.hmget(keys.figures(shard), "n", "d");
    if (nonce && text) keep(shard, nonce, decodeFigures(text));
  }

  return {
    ...createHistoryStore(redis, keys),
    ...figures,

    /** The shards that have figures, stale or not, but of one of these kinds none. */
    async lackingFigures(shards: readonly number[], wanted: readonly Figure[]): Promise<number[]> {
      const kinds = await pipelined<(string | null)[]>(redis, (batch) => {
        for (const shard of shards) batch.hmget(keys.figures(shard), "n", "kinds");
      });
      const isLacking = ([nonce, text]: (string | null)[] = []) => {
        const known = new Set(JSON.parse(text ?? "[]") as Figure[]);
        return nonce != null && wanted.some((figure) => !known.has(figure));
      };
      return shards.filter((_, i) => isLacking(kinds[i]));
    },

    async saveFigures(shard: number, at: Instant, byKind: Figures, schedules: Schedules = new Map()): Promise<void> {
      const nonce = randomUUID();
      const ids = [...new Set(byKind.values().flatMap((ratios) => ratios.keys()))];
      const columns = [...byKind].map(([kind, ratios]) => [kind, ids.map((id) => ratios.get(id) ?? null)] as const);
      const written = { at, ids, columns, schedules };
      const kinds = JSON.stringify([...byKind.keys()]);
      await redis.hset(keys.figures(shard), { n: nonce, kinds, d: encodeFigures(written) });
      keep(shard, nonce, written);
    },

    /**
     * Reads the figures of these shards that another replica wrote, and drops those older than `staleBefore`. Schedules
     * stay: they do not become stale.
     */
    async refreshFigures(shards: readonly number[], staleBefore: Instant): Promise<void> {
      const due = shards.filter((shard) => performance.now() - readAt(shard) >= READ_EVERY_MS);
      if (due.length > 0) await readFigures(due);
      for (const shard of shards) dropStale(shard, staleBefore);
    },
  };
}

interface FiguresDocument extends Omit<StoredFigures, "schedules"> {
  readonly schedules: Readonly<Record<string, ScheduleRow>>;
}

/** Zone, hours of the week, and of what the service says of the time around now from, to, within of each. */
type ScheduleRow = readonly [string, string, ...number[]];

function encodeFigures({ schedules, ...figures }: StoredFigures): string {
  const rows = Object.fromEntries([...schedules].map(([id, schedule]) => [id, toRow(schedule)]));
  return JSON.stringify({ ...figures, schedules: rows } satisfies FiguresDocument);
}

function toRow({ timezone, hours, served }: KnownSchedule): ScheduleRow {
  return [timezone, hours, ...served.flatMap(({ from, to, withinSchedule }) => [from, to, withinSchedule ? 1 : 0])];
}

function decodeFigures(text: string): StoredFigures {
  const { schedules, ...stored } = JSON.parse(text) as FiguresDocument;
  return { ...stored, schedules: new Map(Object.entries(schedules).map(([id, row]) => [id, fromRow(row)])) };
}

function fromRow([timezone, hours, ...served]: ScheduleRow): KnownSchedule {
  const times = Array.from(chunksOf(served, 3), ([from = 0, to = 0, within]) => ({
    from,
    to,
    withinSchedule: within === 1,
  }));
  return { timezone, hours, served: times };
}

interface ShardFigures {
  readonly nonce: string;
  readonly at: Instant;
  readAt: number;
  /** Empty where another shard has the recording by now. */
  readonly ids: string[];
  /** A ratio for each id, NaN where there is none. */
  readonly columns: ReadonlyMap<Figure, Float64Array>;
  /** By figure and threshold, computed when first asked for. */
  readonly below: Map<string, ReadonlySet<string>>;
}

/** The figures of recordings and their schedules in memory, of the shards that were asked for of late. */
function createFigures() {
  const shards = new Map<number, ShardFigures>();
  /** By recording: its shard × PLACES + its place there. */
  const placeOf = new Map<string, number>();
  const schedules = createSchedulesByShard();
  let ahead = 0;
  const idsOf = (place: number) => shards.get(Math.floor(place / PLACES))?.ids ?? [];

  function set(shard: number, figures: ShardFigures): void {
    for (const id of shards.get(shard)?.ids ?? []) placeOf.delete(id);
    for (const [i, id] of figures.ids.entries()) {
      const elsewhere = placeOf.get(id);
      if (elsewhere !== undefined) idsOf(elsewhere)[elsewhere % PLACES] = "";
      placeOf.set(id, shard * PLACES + i);
    }
    shards.set(shard, figures);
  }

  /** The place of a recording; those asked for in the order of their shard need no look-up. */
  function find(id: string): number | undefined {
    const place = idsOf(ahead)[ahead % PLACES] === id ? ahead : placeOf.get(id);
    if (place !== undefined) ahead = place + 1;
    return place;
  }

  const without = (known: ShardFigures): ShardFigures => ({ ...known, ids: [], columns: new Map(), below: new Map() });

  return {
    /** `performance.now()` of the last time Redis was asked for them. */
    readAt: (shard: number) => shards.get(shard)?.readAt ?? Number.NEGATIVE_INFINITY,

    /** The time at which they were computed; undefined where there are none. */
    figuresAt: (shard: number): Instant | undefined => shards.get(shard)?.at,

    /** Gives the nonce under which they were read. */
    noteRead(shard: number): string | undefined {
      const known = shards.get(shard);
      if (known) known.readAt = performance.now();
      return known?.nonce;
    },

    keep(shard: number, nonce: string, { at, ids, columns, schedules: known }: StoredFigures): void {
      for (const [other, figures] of shards) {
        if (other === shard || performance.now() - figures.readAt < UNUSED_MS) continue;
        set(other, without(figures));
        schedules.keep(other, new Map());
        shards.delete(other);
      }
      schedules.keep(shard, known);
      const own = columns.map(
        ([figure, ratios]) => [figure, Float64Array.from(ids, (_, i) => ratios[i] ?? Number.NaN)] as const,
      );
      set(shard, { nonce, at, readAt: performance.now(), ids: [...ids], columns: new Map(own), below: new Map() });
    },

    dropStale(shard: number, staleBefore: Instant): void {
      const known = shards.get(shard);
      if (known && known.at < staleBefore && known.ids.length > 0) set(shard, without(known));
    },

    /** The recordings of a shard whose figure is below a threshold: few, so that a sweep need not check each. */
    below(shard: number, figure: Figure, threshold: number): ReadonlySet<string> {
      const known = shards.get(shard);
      const ratios = known?.columns.get(figure);
      if (!known || !ratios) return new Set();
      const key = `${figure} ${threshold}`;
      const isBelow = (id: string, i: number) => (ratios[i] as number) < threshold && id !== "";
      const found = known.below.get(key) ?? new Set(known.ids.filter(isBelow));
      known.below.set(key, found);
      return found;
    },

    /** Ratio 0–1, undefined without a figure. */
    figure(recordingId: string, figure: Figure): number | undefined {
      const place = find(recordingId);
      if (place === undefined) return undefined;
      const ratio = shards.get(Math.floor(place / PLACES))?.columns.get(figure)?.[place % PLACES] ?? Number.NaN;
      return Number.isNaN(ratio) ? undefined : ratio;
    },

    /** Undefined without a schedule, and where it is not known. */
    schedule: schedules.of,
  };
}

/** Most recordings have one of a few schedules: the text of equal ones is kept once. */
function createSchedulesByShard() {
  const byRecording = new Map<string, KnownSchedule>();
  const byShard = new Map<number, ReadonlyMap<string, KnownSchedule>>();
  const texts = new Map<string, string>();
  return {
    of: (recordingId: string): KnownSchedule | undefined => byRecording.get(recordingId),

    keep(shard: number, known: Schedules): void {
      // One that moved to another shard is that one's.
      for (const [id, own] of byShard.get(shard) ?? []) if (byRecording.get(id) === own) byRecording.delete(id);
      const kept = new Map<string, KnownSchedule>();
      for (const [id, schedule] of known) {
        const hours = texts.get(schedule.hours) ?? schedule.hours;
        if (texts.size < SCHEDULES_SHARED) texts.set(hours, hours);
        kept.set(id, { ...schedule, hours });
      }
      for (const [id, schedule] of kept) byRecording.set(id, schedule);
      byShard.set(shard, kept);
    },
  };
}
