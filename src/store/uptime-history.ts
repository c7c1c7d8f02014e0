/** Uptime history per recording: buckets for the longest window and 48 h, older days as one ratio each. */
import type { Redis } from "ioredis";
import type { OnlineSpan } from "../health/online-span.ts";
import type { QualityHistory } from "../health/quality.ts";
import type { UptimeBucket } from "../health/recording.ts";
import type { LearnedSchedule } from "../health/schedule.ts";
import type { Instant } from "../lib/clock.ts";
import { createJsonHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { seriesStart } from "./pack-series.ts";
import {
  type DayColumns,
  type DayUptime,
  type HourColumns,
  packBuckets,
  packDays,
  unpackBuckets,
  unpackDays,
} from "./pack-uptime.ts";

export interface UptimeHistory {
  readonly buckets: readonly UptimeBucket[];
  /** The beginning of the first of them, of a history that was read: known without unpacking them. */
  readonly hoursFrom?: Instant | undefined;
  /** `YYYY-MM-DD` in the recording's zone → that day. */
  readonly days: Readonly<Record<string, DayUptime>>;
  /** The same as stored, of a history that was read. */
  readonly packedDays?: DayColumns | undefined;
  /** The last day that was read after the service had finished it; undefined before the first. */
  readonly finishedDay: string | undefined;
  /** The day after it was read once its hours had settled: it is read again when it is finished. */
  readonly isNextSettled?: boolean | undefined;
  /** The first day since which all were read and kept, whether the service had anything for them or not. */
  readonly readFrom?: string | undefined;
  /** The days from before it was known were asked for: there is no more of them to read. */
  readonly hasPast?: boolean | undefined;
  /** The schedule of a recording that has one. */
  readonly schedule?: LearnedSchedule | undefined;
  /** Every refresh of these saw it online, and none in between saw a change. */
  readonly online?: OnlineSpan | undefined;
  /** A week of readings of its quality. */
  readonly quality?: QualityHistory | undefined;
}

type Histories = AsyncIterable<readonly [id: string, UptimeHistory]> | ReadonlyMap<string, UptimeHistory>;

export function createHistoryStore(redis: Redis, keys: Keys) {
  const hash = (shard: number) => createJsonHash<UptimeHistory>(redis, keys.uptime(shard), { decode: decodeHistory });
  return {
    /** By recording id; a recording without a history is left out. */
    histories: (shard: number, ids: readonly string[]) => hash(shard).read(ids),
    async saveHistories(shard: number, histories: Histories): Promise<void> {
      const texts = new Map<string, string>();
      for await (const [id, history] of histories) texts.set(id, JSON.stringify(encodeHistory(history)));
      if (texts.size > 0) await redis.hset(keys.uptime(shard), texts);
    },

    /** Deletes the histories of recordings that are not in the shard any more. */
    async forgetOthers(shard: number, present: ReadonlySet<string>): Promise<void> {
      const stored = await redis.hkeys(keys.uptime(shard));
      await hash(shard).forget(stored.filter((id) => !present.has(id)));
    },
  };
}

/** A document without `c` is of another version: its hours and days are read again, what only we know is kept. */
interface HistoryDocument {
  /** The buckets read of the service, and the days up to which and since which it is. */
  c?:
    | readonly [hours: HourColumns, days: DayColumns, finishedDay: string | null, readFrom: string | null, settled?: 1]
    | undefined;
  p?: 1 | undefined;
  /** Hours of the week as learned, and in minutes until when. */
  s?: [string, number] | undefined;
  /** Seen online from and to, in minutes. */
  o?: [number, number] | undefined;
  /** Hour of the last reading of quality, and the readings. */
  q?: [number, string] | undefined;
}

function encodeHistory(history: UptimeHistory): HistoryDocument {
  const { buckets, packedDays, finishedDay = null, readFrom = null, hasPast, schedule, online, quality } = history;
  const settled = history.isNextSettled ? ([1] as const) : ([] as const);
  return {
    c: [packBuckets(buckets), packedDays ?? packDays(history.days), finishedDay, readFrom, ...settled],
    p: hasPast ? 1 : undefined,
    s: schedule && [schedule.hours, schedule.until / 60_000],
    o: online && [online.from / 60_000, online.to / 60_000],
    q: quality && [quality.hour, quality.levels],
  };
}

function decodeHistory({ c, p, s, o, q }: HistoryDocument): UptimeHistory {
  const [hours, columns, finishedDay, readFrom, settled] = c ?? [];
  return {
    // Unpacked where they are asked for: most readers need one of them, or none.
    get buckets() {
      return hours ? unpackBuckets(hours) : [];
    },
    get days() {
      return columns ? unpackDays(columns) : {};
    },
    hoursFrom: hours && seriesStart(hours[0]),
    packedDays: columns,
    finishedDay: finishedDay ?? undefined,
    isNextSettled: settled === 1 ? true : undefined,
    readFrom: readFrom ?? undefined,
    hasPast: c && p === 1 ? true : undefined,
    schedule: s && { hours: s[0], until: s[1] * 60_000 },
    online: o && { from: o[0] * 60_000, to: o[1] * 60_000 },
    quality: q && { hour: q[0], levels: q[1] },
  };
}
