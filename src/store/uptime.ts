/** Uptime of recordings: the stored histories, and the figures per window that sweeps look up in memory. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { KnownSchedule } from "../health/schedule.ts";
import type { Instant } from "../lib/clock.ts";
import { createFigures, type Figures, type Schedules } from "./figures.ts";
import type { Keys } from "./keys.ts";
import { createHistoryStore } from "./uptime-history.ts";

export type { DayUptime, UptimeHistory } from "./uptime-history.ts";

/** How often the figures of other replicas are read. */
const READ_EVERY_MS = 15_000;

export function createUptimeStore(redis: Redis, keys: Keys) {
  const { keep, touch, shardAt, dropStale, ...figures } = createFigures();

  /** Reads the shard's figures if another replica wrote them. */
  async function readFigures(shard: number): Promise<void> {
    touch(shard);
    const nonce = await redis.hget(keys.figures(shard), "n");
    if (nonce === null || nonce === shardAt(shard)?.nonce) return;
    const document = await redis.hget(keys.figures(shard), "d");
    if (document === null) return;
    const { at, windows, schedules = {} } = JSON.parse(document) as FiguresDocument;
    const byWindow = new Map(windows.map(([ms, ratios]) => [ms, new Map(Object.entries(ratios))]));
    const rows = Object.entries(schedules).map(([id, row]) => [id, fromRow(row)] as const);
    keep(shard, nonce, at, byWindow, new Map(rows));
  }

  return {
    ...createHistoryStore(redis, keys),
    ...figures,

    async saveFigures(shard: number, at: Instant, byWindow: Figures, schedules: Schedules = new Map()): Promise<void> {
      const nonce = randomUUID();
      const windows = [...byWindow].map(([ms, ratios]) => [ms, Object.fromEntries(ratios)] as const);
      const rows = Object.fromEntries([...schedules].map(([id, schedule]) => [id, toRow(schedule)]));
      const document = JSON.stringify({ at, windows, schedules: rows } satisfies FiguresDocument);
      await redis.hset(keys.figures(shard), { n: nonce, d: document });
      keep(shard, nonce, at, byWindow, schedules);
    },

    /**
     * Reads the shard's figures if another replica wrote them, and drops those older than `staleBefore`. Schedules stay:
     * they do not become stale.
     */
    async refreshFigures(shard: number, staleBefore: Instant): Promise<void> {
      const known = shardAt(shard);
      if (!known || performance.now() - known.readAt >= READ_EVERY_MS) await readFigures(shard);
      dropStale(shard, staleBefore);
    },
  };
}

export type UptimeStore = ReturnType<typeof createUptimeStore>;

interface FiguresDocument {
  at: Instant;
  windows: readonly (readonly [number, Readonly<Record<string, number>>])[];
  schedules?: Readonly<Record<string, ScheduleRow>>;
}

/** Zone, hours of the week, and the newest bucket: from, to, within. */
type ScheduleRow = readonly [string, string] | readonly [string, string, number, number, 0 | 1];

function toRow({ timezone, hours, current }: KnownSchedule): ScheduleRow {
  if (!current) return [timezone, hours];
  return [timezone, hours, current.from, current.to, current.withinSchedule ? 1 : 0];
}

function fromRow([timezone, hours, from, to, within]: ScheduleRow): KnownSchedule {
  const current = from === undefined || to === undefined ? undefined : { from, to, withinSchedule: within === 1 };
  return { timezone, hours, current };
}
