/** Uptime figures and schedules of all shards, in memory. */
import type { KnownSchedule } from "../health/schedule.ts";
import type { Instant } from "../lib/clock.ts";

/** Texts of schedules that are compared with those known. */
const SCHEDULES_SHARED = 1_000;

/** Window in ms → recording id → ratio 0–1. */
export type Figures = ReadonlyMap<number, ReadonlyMap<string, number>>;

/** Recording id → its schedule; recordings without one are left out. */
export type Schedules = ReadonlyMap<string, KnownSchedule>;

interface ShardFigures {
  readonly nonce: string;
  readonly at: Instant;
  /** `performance.now()` of the last time Redis was asked for them. */
  readAt: number;
  ids: string[];
  /** By window and threshold, computed when first asked for. */
  readonly below: Map<string, ReadonlySet<string>>;
}

const NONE: ReadonlySet<string> = new Set();

export function createFigures() {
  const shards = new Map<number, ShardFigures>();
  const byWindow = new Map<number, Map<string, number>>();
  const schedules = createSchedulesByShard();

  function drop(shard: number): void {
    for (const id of shards.get(shard)?.ids ?? []) for (const figures of byWindow.values()) figures.delete(id);
  }

  return {
    keep(shard: number, nonce: string, at: Instant, figures: Figures, known: Schedules): void {
      drop(shard);
      schedules.keep(shard, known);
      const ids = addRatios(byWindow, figures);
      shards.set(shard, { nonce, at, readAt: performance.now(), ids, below: new Map() });
    },

    /** Notes that Redis is asked for the shard now. */
    touch(shard: number): void {
      const known = shards.get(shard);
      if (known) known.readAt = performance.now();
    },

    shardAt: (shard: number) => shards.get(shard),

    dropStale(shard: number, staleBefore: Instant): void {
      const known = shards.get(shard);
      if (!known || known.at >= staleBefore || known.ids.length === 0) return;
      drop(shard);
      known.ids = [];
      known.below.clear();
    },

    /** The recordings of a shard whose figure is below a threshold: few, so that a sweep need not check each. */
    below(shard: number, windowMs: number, threshold: number): ReadonlySet<string> {
      const known = shards.get(shard);
      const figures = byWindow.get(windowMs);
      if (!known || !figures) return NONE;
      const key = `${windowMs} ${threshold}`;
      const found =
        known.below.get(key) ?? new Set(known.ids.filter((id) => (figures.get(id) ?? threshold) < threshold));
      known.below.set(key, found);
      return found;
    },

    /** Ratio 0–1, undefined without a figure. */
    figure: (recordingId: string, windowMs: number): number | undefined => byWindow.get(windowMs)?.get(recordingId),

    /** Undefined without a schedule, and where it is not known. */
    schedule: schedules.of,
  };
}

/** Gives the ids of the recordings that have a figure. */
function addRatios(byWindow: Map<number, Map<string, number>>, figures: Figures): string[] {
  const ids = new Set<string>();
  for (const [windowMs, ratios] of figures) {
    const stored = byWindow.get(windowMs) ?? new Map<string, number>();
    byWindow.set(windowMs, stored);
    for (const [id, ratio] of ratios) {
      stored.set(id, ratio);
      ids.add(id);
    }
  }
  return [...ids];
}

/** Most recordings have one of a few schedules: the text of equal ones is kept once. */
function createSchedulesByShard() {
  const byRecording = new Map<string, KnownSchedule>();
  const idsByShard = new Map<number, readonly string[]>();
  const texts = new Map<string, string>();
  return {
    of: (recordingId: string): KnownSchedule | undefined => byRecording.get(recordingId),

    keep(shard: number, known: Schedules): void {
      for (const id of idsByShard.get(shard) ?? []) byRecording.delete(id);
      idsByShard.set(shard, [...known.keys()]);
      for (const [id, schedule] of known) {
        const hours = texts.get(schedule.hours) ?? schedule.hours;
        if (texts.size < SCHEDULES_SHARED) texts.set(hours, hours);
        byRecording.set(id, { ...schedule, hours });
      }
    },
  };
}
