/**
 * Uptime history per recording (buckets for the longest window and 48 h, older days as one ratio), and the figures
 * made from it per shard and window, which sweeps and the exposition look up in memory.
 */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { QualityHistory } from "../health/quality.ts";
import type { UptimeBucket } from "../health/recording.ts";
import type { KnownSchedule, LearnedSchedule } from "../health/schedule.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";

/** How often another replica's figures are looked for, ms. */
const LOOK_AGAIN_MS = 15_000;
/** Texts of schedules that are looked for among those known. */
const SCHEDULES_SHARED = 1_000;

/** A day that is over: its ratio 0–1 and the segments that were expected, for weighing. */
export interface DayUptime {
  readonly ratio: number;
  readonly segmentsExpected: number;
}

export interface UptimeHistory {
  readonly buckets: readonly UptimeBucket[];
  /** `YYYY-MM-DD` in the recording's zone → that day. */
  readonly days: Readonly<Record<string, DayUptime>>;
  /** The last day that was read after the service had finished it; undefined before the first. */
  readonly finishedDay: string | undefined;
  /** Of a recording with an uploading schedule. */
  readonly schedule?: LearnedSchedule | undefined;
  /** A week of readings of its quality. */
  readonly quality?: QualityHistory | undefined;
}

/** Window in ms → recording id → ratio 0–1. */
export type Figures = ReadonlyMap<number, ReadonlyMap<string, number>>;

/** Recording id → when it is meant to upload; those without a schedule are left out. */
export type Schedules = ReadonlyMap<string, KnownSchedule>;

interface ShardFigures {
  nonce: string;
  at: Instant;
  lookedAt: number;
  ids: string[];
  /** By window and threshold, found when first asked for. */
  low: Map<string, ReadonlySet<string>>;
  readonly scheduled: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();

export function createUptimeStore(redis: Redis, keys: Keys) {
  const shards = new Map<number, ShardFigures>();
  const byWindow = new Map<number, Map<string, number>>();
  const schedules = new Map<string, KnownSchedule>();
  const hours = new Map<string, string>();

  function drop(shard: number): void {
    for (const id of shards.get(shard)?.ids ?? [])
      for (const figures of byWindow.values()) figures.delete(id);
  }

  /** Most recordings have one of a few schedules: equal ones are kept once. */
  function keepSchedules(shard: number, known: Schedules): void {
    for (const id of shards.get(shard)?.scheduled ?? []) schedules.delete(id);
    for (const [id, schedule] of known) {
      const shared = hours.get(schedule.hours) ?? schedule.hours;
      if (hours.size < SCHEDULES_SHARED) hours.set(shared, shared);
      schedules.set(id, { ...schedule, hours: shared });
    }
  }

  function keep(shard: number, nonce: string, at: Instant, figures: Figures, known: Schedules): void {
    drop(shard);
    keepSchedules(shard, known);
    const ids = new Set<string>();
    for (const [windowMs, ratios] of figures) {
      const known = byWindow.get(windowMs) ?? new Map<string, number>();
      byWindow.set(windowMs, known);
      for (const [id, ratio] of ratios) {
        known.set(id, ratio);
        ids.add(id);
      }
    }
    const scheduled = [...known.keys()];
    shards.set(shard, { nonce, at, lookedAt: performance.now(), ids: [...ids], low: new Map(), scheduled });
  }

  async function look(shard: number): Promise<void> {
    const known = shards.get(shard);
    if (known) known.lookedAt = performance.now();
    const nonce = await redis.hget(keys.figures(shard), "n");
    if (nonce === null || nonce === known?.nonce) return;
    const document = await redis.hget(keys.figures(shard), "d");
    if (document === null) return;
    const { at, windows, schedules: rows = {} } = JSON.parse(document) as FiguresDocument;
    const figures = new Map(windows.map(([ms, ratios]) => [ms, new Map(Object.entries(ratios))]));
    keep(shard, nonce, at, figures, new Map(Object.entries(rows).map(([id, row]) => [id, fromRow(row)])));
  }

  return {
    async histories(shard: number, ids: readonly string[]): Promise<Map<string, UptimeHistory>> {
      if (ids.length === 0) return new Map();
      const rows = await redis.hmget(keys.uptime(shard), ...ids);
      return new Map(ids.flatMap((id, i) => (rows[i] ? [[id, decode(rows[i])] as const] : [])));
    },

    async saveHistories(shard: number, histories: ReadonlyMap<string, UptimeHistory>): Promise<void> {
      if (histories.size === 0) return;
      const rows = [...histories].map(([id, history]) => [id, encode(history)] as const);
      await redis.hset(keys.uptime(shard), Object.fromEntries(rows));
    },

    /** Forgets recordings that are not in the shard any more. */
    async forgetOthers(shard: number, present: ReadonlySet<string>): Promise<void> {
      const gone = (await redis.hkeys(keys.uptime(shard))).filter((id) => !present.has(id));
      if (gone.length > 0) await redis.hdel(keys.uptime(shard), ...gone);
    },

    async saveFigures(
      shard: number,
      at: Instant,
      figures: Figures,
      known: Schedules = new Map(),
    ): Promise<void> {
      const nonce = randomUUID();
      const windows = [...figures].map(([ms, ratios]) => [ms, Object.fromEntries(ratios)] as const);
      const rows = Object.fromEntries([...known].map(([id, schedule]) => [id, toRow(schedule)]));
      const document = JSON.stringify({ at, windows, schedules: rows } satisfies FiguresDocument);
      await redis.hset(keys.figures(shard), { n: nonce, d: document });
      keep(shard, nonce, at, figures, known);
    },

    /**
     * Reads the shard's figures if another replica wrote them; those older than `staleBefore` are no figures. What
     * was learned of schedules stays: it is as true as it was.
     */
    async refreshFigures(shard: number, staleBefore: Instant): Promise<void> {
      const known = shards.get(shard);
      if (!known || performance.now() - known.lookedAt >= LOOK_AGAIN_MS) await look(shard);
      const now = shards.get(shard);
      if (now && now.at < staleBefore && now.ids.length > 0) {
        drop(shard);
        now.ids = [];
        now.low.clear();
      }
    },

    /** The recordings of a shard whose figure is below a threshold: few, so that a sweep need not look up each. */
    below(shard: number, windowMs: number, threshold: number): ReadonlySet<string> {
      const known = shards.get(shard);
      const figures = byWindow.get(windowMs);
      if (!known || !figures) return NONE;
      const key = `${windowMs} ${threshold}`;
      const found =
        known.low.get(key) ?? new Set(known.ids.filter((id) => (figures.get(id) ?? threshold) < threshold));
      known.low.set(key, found);
      return found;
    },

    /** Ratio 0–1, undefined without a figure. */
    figure: (recordingId: string, windowMs: number): number | undefined =>
      byWindow.get(windowMs)?.get(recordingId),

    /** When it is meant to upload; undefined without a schedule, and where nothing is known of it. */
    schedule: (recordingId: string): KnownSchedule | undefined => schedules.get(recordingId),
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
  const current =
    from === undefined || to === undefined ? undefined : { from, to, withinSchedule: within === 1 };
  return { timezone, hours, current };
}

/** Start in minutes, within schedule, expected, received, overall; null is no data. */
type BucketRow = [number, 0 | 1, number | null, number | null, number | null];
interface HistoryDocument {
  b: BucketRow[];
  d: Record<string, [number, number]>;
  f?: string;
  /** Hours of the week as learned, and in minutes until when. */
  s?: [string, number];
  /** Hour of the last reading of quality, and the readings. */
  q?: [number, string];
}

function encode({ buckets, days, finishedDay, schedule, quality }: UptimeHistory): string {
  const document: HistoryDocument = {
    b: buckets.map((bucket) => [
      bucket.startAt / 60_000,
      bucket.withinSchedule ? 1 : 0,
      bucket.segmentsExpected ?? null,
      bucket.segmentsReceived ?? null,
      bucket.overallUptime ?? null,
    ]),
    d: Object.fromEntries(Object.entries(days).map(([day, one]) => [day, [one.ratio, one.segmentsExpected]])),
    ...(finishedDay === undefined ? {} : { f: finishedDay }),
    ...(schedule === undefined ? {} : { s: [schedule.hours, schedule.until / 60_000] as [string, number] }),
    ...(quality === undefined ? {} : { q: [quality.hour, quality.levels] as [number, string] }),
  };
  return JSON.stringify(document);
}

function decode(text: string): UptimeHistory {
  const { b, d, f, s, q } = JSON.parse(text) as HistoryDocument;
  return {
    buckets: b.map(([minutes, within, expected, received, overall]) => ({
      startAt: minutes * 60_000,
      withinSchedule: within === 1,
      segmentsExpected: expected ?? undefined,
      segmentsReceived: received ?? undefined,
      avgUptimeOnSegment: undefined,
      pcSegmentsReceived: undefined,
      overallUptime: overall ?? undefined,
    })),
    days: Object.fromEntries(
      Object.entries(d).map(([day, [ratio, segmentsExpected]]) => [day, { ratio, segmentsExpected }]),
    ),
    finishedDay: f,
    schedule: s && { hours: s[0], until: s[1] * 60_000 },
    quality: q && { hour: q[0], levels: q[1] },
  };
}
