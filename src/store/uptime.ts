/** Uptime of recordings: the stored histories, and the figures per window that sweeps look up in memory. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { KnownSchedule } from "../health/schedule.ts";
import type { Figure } from "../health/uptime.ts";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";
import { createFigures } from "./uptime-figures.ts";
import { createHistoryStore } from "./uptime-history.ts";

const READ_EVERY_MS = 15_000;
/** Those of a shard are parsed in a millisecond. */
const READS_AT_ONCE = 4;

/** Figure → recording id → ratio 0–1. */
type Figures = ReadonlyMap<Figure, ReadonlyMap<string, number>>;

/** Recording id → its schedule; recordings without one are left out. */
export type Schedules = ReadonlyMap<string, KnownSchedule>;

export interface StoredFigures {
  readonly at: Instant;
  readonly ids: readonly string[];
  /** Of each id a ratio, null where there is none. */
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
