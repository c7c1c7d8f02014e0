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

/** The figures of a shard are parsed in a millisecond. */
const READS_AT_ONCE = 4;
/** Figures older than this many uptime intervals are stale. */
export const FIGURES_FRESH_INTERVALS = 3;
/** Figures of a shard that were not asked for this long are dropped from memory: another replica sweeps it. */
const UNUSED_MS = 600_000;

export interface FigureRow {
  /** A ratio 0–1 of each kind of the shard, null where there is none. */
  readonly ratios: readonly (number | null)[];
  /** Undefined without a schedule, and where it is not known. */
  readonly schedule?: KnownSchedule | undefined;
}

export interface ShardFigures {
  readonly at: Instant;
  readonly kinds: readonly Figure[];
  /** By recording id. */
  readonly rows: ReadonlyMap<string, FigureRow>;
}

interface FiguresDocument extends Omit<ShardFigures, "rows"> {
  readonly rows: readonly (readonly [id: string, FigureRow])[];
}

export function createUptimeStore(redis: Redis, keys: Keys) {
  const { keep, use, ...lookUps } = createFigures();

  async function readShard(shard: number): Promise<void> {
    const [nonce, text] = await redis.hmget(keys.figures(shard), "n", "d");
    if (!nonce || !text) return;
    const figures = JSON.parse(text) as FiguresDocument;
    keep(shard, nonce, { ...figures, rows: new Map(figures.rows) });
  }

  return {
    ...createHistoryStore(redis, keys),
    ...lookUps,

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

    async saveFigures(shard: number, figures: ShardFigures): Promise<void> {
      const nonce = randomUUID();
      const document: FiguresDocument = { ...figures, rows: [...figures.rows] };
      const kinds = JSON.stringify(figures.kinds);
      await redis.hset(keys.figures(shard), { n: nonce, kinds, d: JSON.stringify(document) });
      keep(shard, nonce, figures);
    },

    /**
     * Reads the figures of these shards that another replica wrote, and gives none older than `staleBefore` from now on.
     * Schedules do not become stale.
     */
    async refreshFigures(shards: readonly number[], staleBefore: Instant): Promise<void> {
      const nonces = await pipelined<string | null>(redis, (batch) => {
        for (const shard of shards) batch.hget(keys.figures(shard), "n");
      });
      const changed = shards.filter((shard, i) => nonces[i] != null && use(shard)?.nonce !== nonces[i]);
      for (const some of chunksOf(changed, READS_AT_ONCE)) await Promise.all(some.map(readShard));
      for (const known of shards.map(use)) if (known) known.isStale = known.at < staleBefore;
    },
  };
}

interface KeptFigures extends ShardFigures {
  readonly nonce: string;
  isStale: boolean;
  usedAt: number;
}

/** The figures in memory, of the shards that were asked for of late. */
function createFigures() {
  const shards = new Map<number, KeptFigures>();
  /** By recording; one that moved is its new shard's. */
  const rowOf = new Map<string, { readonly of: KeptFigures; readonly row: FigureRow }>();

  function forget(shard: number): void {
    const known = shards.get(shard);
    for (const id of known?.rows.keys() ?? []) if (rowOf.get(id)?.of === known) rowOf.delete(id);
    shards.delete(shard);
  }

  return {
    keep(shard: number, nonce: string, figures: ShardFigures): void {
      const usedAt = performance.now();
      for (const [other, known] of shards) if (other === shard || usedAt - known.usedAt >= UNUSED_MS) forget(other);
      const of: KeptFigures = { ...figures, nonce, isStale: false, usedAt };
      shards.set(shard, of);
      for (const [id, row] of figures.rows) rowOf.set(id, { of, row });
    },

    use(shard: number): KeptFigures | undefined {
      const known = shards.get(shard);
      if (known) known.usedAt = performance.now();
      return known;
    },

    /** The time at which they were computed; undefined where there are none. */
    figuresAt: (shard: number): Instant | undefined => shards.get(shard)?.at,

    /** Ratio 0–1, undefined without a figure. */
    figure(recordingId: string, figure: Figure): number | undefined {
      const { of, row } = rowOf.get(recordingId) ?? {};
      return of && !of.isStale ? (row?.ratios[of.kinds.indexOf(figure)] ?? undefined) : undefined;
    },

    /** Undefined without a schedule, and where it is not known. */
    schedule: (recordingId: string): KnownSchedule | undefined => rowOf.get(recordingId)?.row.schedule,
  };
}
