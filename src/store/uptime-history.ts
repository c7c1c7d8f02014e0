/** Uptime history per recording: buckets for the longest window and 48 h, older days as one ratio each. */
import type { Redis } from "ioredis";
import type { OnlineSpan } from "../health/online-span.ts";
import type { QualityHistory } from "../health/quality.ts";
import type { UptimeBucket } from "../health/recording.ts";
import type { LearnedSchedule } from "../health/schedule.ts";
import { createJsonHash } from "./hash.ts";
import type { Keys } from "./keys.ts";

/** A past day: its ratio 0–1 and the segments that were expected, for weighing. */
export type DayUptime = { readonly ratio: number; readonly segmentsExpected: number };

export interface UptimeHistory {
  readonly buckets: readonly UptimeBucket[];
  /** `YYYY-MM-DD` in the recording's zone → that day. */
  readonly days: Readonly<Record<string, DayUptime>>;
  /** The last day that was read after the service had finished it; undefined before the first. */
  readonly finishedDay: string | undefined;
  /** The first day since which all were read and kept, whether the service had anything for them or not. */
  readonly readFrom?: string | undefined;
  /** The days from before it was known were asked for: there is no more of them to read. */
  readonly hasPast?: boolean | undefined;
  /** Of a recording with an uploading schedule. */
  readonly schedule?: LearnedSchedule | undefined;
  /** Every refresh of these saw it online, and none in between saw a change. */
  readonly online?: OnlineSpan | undefined;
  /** A week of readings of its quality. */
  readonly quality?: QualityHistory | undefined;
}

export function createHistoryStore(redis: Redis, keys: Keys) {
  const hash = (shard: number) =>
    createJsonHash<UptimeHistory>(redis, keys.uptime(shard), { encode: encodeHistory, decode: decodeHistory });
  return {
    /** By recording id; a recording without a history is left out. */
    histories: (shard: number, ids: readonly string[]) => hash(shard).read(ids),
    saveHistories: (shard: number, histories: ReadonlyMap<string, UptimeHistory>) => hash(shard).save(histories),

    /** Deletes the histories of recordings that are not in the shard any more. */
    async forgetOthers(shard: number, present: ReadonlySet<string>): Promise<void> {
      const stored = await redis.hkeys(keys.uptime(shard));
      await hash(shard).forget(stored.filter((id) => !present.has(id)));
    },
  };
}

/** Start in minutes, within schedule, expected, received, overall; null is no data. */
type BucketRow = [number, 0 | 1, number | null, number | null, number | null];
interface HistoryDocument {
  b: BucketRow[];
  d: Record<string, [number, number]>;
  f?: string | undefined;
  r?: string | undefined;
  p?: 1 | undefined;
  /** Hours of the week as learned, and in minutes until when. */
  s?: [string, number] | undefined;
  /** Seen online from and to, in minutes. */
  o?: [number, number] | undefined;
  /** Hour of the last reading of quality, and the readings; the last day of its medians, and these. */
  q?: [number, string] | [number, string, number, string] | undefined;
}

function encodeHistory({
  buckets,
  days,
  finishedDay,
  readFrom,
  hasPast,
  schedule,
  online,
  quality,
}: UptimeHistory): HistoryDocument {
  return {
    b: buckets.map((bucket) => [
      bucket.startAt / 60_000,
      bucket.withinSchedule ? 1 : 0,
      bucket.segmentsExpected ?? null,
      bucket.segmentsReceived ?? null,
      bucket.overallUptime ?? null,
    ]),
    d: Object.fromEntries(Object.entries(days).map(([day, one]) => [day, [one.ratio, one.segmentsExpected]])),
    f: finishedDay,
    r: readFrom,
    p: hasPast ? 1 : undefined,
    s: schedule && [schedule.hours, schedule.until / 60_000],
    o: online && [online.from / 60_000, online.to / 60_000],
    q: quality && [
      quality.hour,
      quality.levels,
      ...((quality.days ? [quality.days.day, quality.days.levels] : []) as [number, string]),
    ],
  };
}

function decodeHistory({ b, d, f, r, p, s, o, q }: HistoryDocument): UptimeHistory {
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
      Object.entries(d).map(([day, [ratio, expected]]) => [day, { ratio, segmentsExpected: expected }]),
    ),
    finishedDay: f,
    readFrom: r,
    hasPast: p === 1 ? true : undefined,
    schedule: s && { hours: s[0], until: s[1] * 60_000 },
    online: o && { from: o[0] * 60_000, to: o[1] * 60_000 },
    quality: q && {
      hour: q[0],
      levels: q[1],
      ...(q[2] === undefined ? {} : { days: { day: q[2], levels: q[3] ?? "" } }),
    },
  };
}
