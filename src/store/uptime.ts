/** Uptime of recordings: the stored histories, and the figures per window that sweeps look up in memory. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";
import type { KnownSchedule } from "../health/schedule.ts";
import type { Figure } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import { readDocument } from "./documents.ts";
import type { Keys } from "./keys.ts";
import { createHistoryStore } from "./uptime-history.ts";

const READ_EVERY_MS = 15_000;
/** Texts of schedules that are compared with those known. */
const SCHEDULES_SHARED = 1_000;

/** Figure → recording id → ratio 0–1. */
type Figures = ReadonlyMap<Figure, ReadonlyMap<string, number>>;

/** Recording id → its schedule; recordings without one are left out. */
type Schedules = ReadonlyMap<string, KnownSchedule>;

type StoredFigures = { readonly at: Instant; readonly byWindow: Figures; readonly schedules: Schedules };

export function createUptimeStore(redis: Redis, keys: Keys) {
  const { keep, shardAt, dropStale, ...figures } = createFigures();

  async function readFigures(shard: number): Promise<void> {
    const known = shardAt(shard);
    if (known) known.readAt = performance.now();
    const { nonce, state } = await readDocument<StoredFigures | undefined>(redis, keys.figures(shard), {
      decode: decodeFigures,
      empty: undefined,
      known: known && { nonce: known.nonce, state: undefined },
    });
    if (state) keep(shard, nonce, state);
  }

  return {
    ...createHistoryStore(redis, keys),
    ...figures,

    /** Whether the shard has figures, stale or not, but of one of these kinds none. */
    async lacksFigure(shard: number, wanted: readonly Figure[]): Promise<boolean> {
      await readFigures(shard);
      const known = shardAt(shard);
      return known !== undefined && wanted.some((figure) => !known.windows.has(figure));
    },

    async saveFigures(shard: number, at: Instant, byWindow: Figures, schedules: Schedules = new Map()): Promise<void> {
      const nonce = randomUUID();
      const written = { at, byWindow, schedules };
      await redis.hset(keys.figures(shard), { n: nonce, d: encodeFigures(written) });
      keep(shard, nonce, written);
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

interface FiguresDocument {
  at: Instant;
  windows: readonly (readonly [Figure, Readonly<Record<string, number>>])[];
  schedules?: Readonly<Record<string, ScheduleRow>>;
}

/** Zone, hours of the week, and the newest bucket: from, to, within. */
type ScheduleRow = readonly [string, string] | readonly [string, string, number, number, 0 | 1];

function encodeFigures({ at, byWindow, schedules }: StoredFigures): string {
  const windows = [...byWindow].map(([figure, ratios]) => [figure, Object.fromEntries(ratios)] as const);
  const rows = Object.fromEntries([...schedules].map(([id, schedule]) => [id, toRow(schedule)]));
  return JSON.stringify({ at, windows, schedules: rows } satisfies FiguresDocument);
}

function toRow({ timezone, hours, current }: KnownSchedule): ScheduleRow {
  if (!current) return [timezone, hours];
  return [timezone, hours, current.from, current.to, current.withinSchedule ? 1 : 0];
}

function decodeFigures(text: string): StoredFigures {
  const { at, windows, schedules = {} } = JSON.parse(text) as FiguresDocument;
  const byWindow = new Map(windows.map(([figure, ratios]) => [figure, new Map(Object.entries(ratios))]));
  return { at, byWindow, schedules: new Map(Object.entries(schedules).map(([id, row]) => [id, fromRow(row)])) };
}

function fromRow([timezone, hours, from, to, within]: ScheduleRow): KnownSchedule {
  const current = from === undefined || to === undefined ? undefined : { from, to, withinSchedule: within === 1 };
  return { timezone, hours, current };
}

interface ShardFigures {
  readonly nonce: string;
  readonly at: Instant;
  readonly windows: ReadonlySet<Figure>;
  /** `performance.now()` of the last time Redis was asked for them. */
  readAt: number;
  ids: string[];
  /** By figure and threshold, computed when first asked for. */
  readonly below: Map<string, ReadonlySet<string>>;
}

function createFigures() {
  const shards = new Map<number, ShardFigures>();
  const byWindow = new Map<Figure, Map<string, number>>();
  const schedules = createSchedulesByShard();

  function drop(shard: number): void {
    for (const id of shards.get(shard)?.ids ?? []) for (const figures of byWindow.values()) figures.delete(id);
  }

  return {
    shardAt: (shard: number) => shards.get(shard),

    keep(shard: number, nonce: string, stored: StoredFigures): void {
      drop(shard);
      schedules.keep(shard, stored.schedules);
      const moved = new Set<string>();
      for (const [figure, ratios] of stored.byWindow) {
        const all = byWindow.get(figure) ?? new Map<string, number>();
        byWindow.set(figure, all);
        for (const id of ratios.keys()) if (all.has(id)) moved.add(id);
        for (const [id, ratio] of ratios) all.set(id, ratio);
      }
      // What moved to this shard is its own from now on.
      for (const other of moved.size > 0 ? shards.values() : []) other.ids = other.ids.filter((id) => !moved.has(id));
      const ids = [...new Set(stored.byWindow.values().flatMap((ratios) => ratios.keys()))];
      const windows = new Set(stored.byWindow.keys());
      shards.set(shard, { nonce, at: stored.at, windows, readAt: performance.now(), ids, below: new Map() });
    },

    dropStale(shard: number, staleBefore: Instant): void {
      const known = shards.get(shard);
      if (!known || known.at >= staleBefore || known.ids.length === 0) return;
      drop(shard);
      known.ids = [];
      known.below.clear();
    },

    /** The recordings of a shard whose figure is below a threshold: few, so that a sweep need not check each. */
    below(shard: number, figure: Figure, threshold: number): ReadonlySet<string> {
      const known = shards.get(shard);
      const figures = byWindow.get(figure);
      if (!known || !figures) return new Set();
      const key = `${figure} ${threshold}`;
      const isBelow = (id: string) => (figures.get(id) ?? threshold) < threshold;
      const found = known.below.get(key) ?? new Set(known.ids.filter(isBelow));
      known.below.set(key, found);
      return found;
    },

    /** Ratio 0–1, undefined without a figure. */
    figure: (recordingId: string, figure: Figure): number | undefined => byWindow.get(figure)?.get(recordingId),

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
