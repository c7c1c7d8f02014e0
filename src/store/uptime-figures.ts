/** The figures of recordings and their schedules in memory, of the shards that were asked for of late. */
import type { KnownSchedule } from "../health/schedule.ts";
import type { Figure } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import type { Schedules, StoredFigures } from "./uptime.ts";

/** Figures of a shard that were not asked for this long are dropped from memory: another replica sweeps it. */
const UNUSED_MS = 600_000;
/** Texts of schedules that are compared with those known. */
const SCHEDULES_SHARED = 1_000;

interface ShardFigures {
  readonly nonce: string;
  readonly at: Instant;
  readAt: number;
  ids: readonly string[];
  /** By figure and threshold, computed when first asked for. */
  readonly below: Map<string, ReadonlySet<string>>;
}

export function createFigures() {
  const shards = new Map<number, ShardFigures>();
  const byFigure = new Map<Figure, Map<string, number>>();
  const schedules = createSchedulesByShard();

  function drop(shard: number): void {
    for (const id of shards.get(shard)?.ids ?? []) for (const ratios of byFigure.values()) ratios.delete(id);
  }

  return {
    /** `performance.now()` of the last time Redis was asked for them. */
    readAt: (shard: number) => shards.get(shard)?.readAt ?? Number.NEGATIVE_INFINITY,

    /** Gives the nonce under which they were read. */
    noteRead(shard: number): string | undefined {
      const known = shards.get(shard);
      if (known) known.readAt = performance.now();
      return known?.nonce;
    },

    keep(shard: number, nonce: string, { at, ids, columns, schedules: known }: StoredFigures): void {
      drop(shard);
      for (const [other, { readAt }] of shards) {
        if (other === shard || performance.now() - readAt < UNUSED_MS) continue;
        drop(other);
        schedules.keep(other, new Map());
        shards.delete(other);
      }
      schedules.keep(shard, known);
      const moved = new Set<string>();
      for (const [figure, ratios] of columns) {
        const all = byFigure.get(figure) ?? new Map<string, number>();
        byFigure.set(figure, all);
        for (const [i, id] of ids.entries()) {
          const ratio = ratios[i] ?? undefined;
          if (ratio === undefined) continue;
          if (all.has(id)) moved.add(id);
          all.set(id, ratio);
        }
      }
      // What moved to this shard is its own from now on.
      for (const other of moved.size > 0 ? shards.values() : []) other.ids = other.ids.filter((id) => !moved.has(id));
      shards.set(shard, { nonce, at, readAt: performance.now(), ids, below: new Map() });
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
      const ratios = byFigure.get(figure);
      if (!known || !ratios) return new Set();
      const key = `${figure} ${threshold}`;
      const isBelow = (id: string) => (ratios.get(id) ?? threshold) < threshold;
      const found = known.below.get(key) ?? new Set(known.ids.filter(isBelow));
      known.below.set(key, found);
      return found;
    },

    /** Ratio 0–1, undefined without a figure. */
    figure: (recordingId: string, figure: Figure): number | undefined => byFigure.get(figure)?.get(recordingId),

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
