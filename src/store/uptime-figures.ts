/** The figures of recordings and their schedules in memory, of the shards that were asked for of late. */
import type { KnownSchedule } from "../health/schedule.ts";
import type { Figure } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import type { Schedules, StoredFigures } from "./uptime.ts";

/** Figures of a shard that were not asked for this long are dropped from memory: another replica sweeps it. */
const UNUSED_MS = 600_000;
/** Texts of schedules that are compared with those known. */
const SCHEDULES_SHARED = 1_000;

/** More than a shard has recordings. */
const PLACES = 2 ** 20;

interface ShardFigures {
  readonly nonce: string;
  readonly at: Instant;
  readAt: number;
  /** Empty where another shard has the recording by now. */
  readonly ids: string[];
  /** Of each id a ratio, NaN where there is none. */
  readonly columns: ReadonlyMap<Figure, Float64Array>;
  /** By figure and threshold, computed when first asked for. */
  readonly below: Map<string, ReadonlySet<string>>;
}

export function createFigures() {
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

    /** When they were computed; undefined where there are none. */
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
