/** Uptime history per recording: buckets for the longest window and 48 h, older days as one ratio each. */
import type { Redis } from "ioredis";
import type { OnlineSpan } from "../health/online-span.ts";
import type { QualityHistory } from "../health/quality.ts";
import type { UptimeBucket } from "../health/recording.ts";
import type { LearnedSchedule } from "../health/schedule.ts";
import { utcDay } from "../lib/when.ts";
import { type Column, fromColumn, fromTimes, toColumn, toTimes } from "./columns.ts";
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
  /** The day after it was read once its hours had settled: it is read again when it is finished. */
  readonly isNextSettled?: boolean | undefined;
  /** The first day since which all were read and kept, whether the service had anything for them or not. */
  readonly readFrom?: string | undefined;
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

interface HistoryDocument extends Omit<UptimeHistory, "buckets" | "days"> {
  readonly hours: HourColumns;
  readonly days: DayColumns;
}

/** Number, starts, segments expected and those of them not received, what the ratio lacks of 1, in parts, and 1 within the schedule. */
type HourColumns = readonly [
  ...[length: number, starts: Column, expected: Column, missed: Column, lost: Column, within: Column],
];
/** Number, 0:00 UTC of the dates, segments expected, and what the ratio lacks of 1. */
type DayColumns = readonly [length: number, starts: Column, expected: Column, lost: Column];

const PARTS = 10_000;

function encodeHistory({ buckets, days, ...others }: UptimeHistory): HistoryDocument {
  const dates = Object.keys(days).sort();
  const hours: HourColumns = [
    buckets.length,
    toTimes(buckets.map(({ startAt }) => startAt)),
    toColumn(buckets.map(({ segmentsExpected }) => rounded(segmentsExpected))),
    toColumn(buckets.map(missedOf)),
    toColumn(buckets.map(({ overallUptime }) => lostOf(overallUptime))),
    toColumn(buckets.map(({ withinSchedule }) => (withinSchedule ? 1 : 0))),
  ];
  const ofDays: DayColumns = [
    dates.length,
    toTimes(dates.map((date) => Date.parse(date))),
    toColumn(dates.map((date) => rounded(days[date]?.segmentsExpected))),
    toColumn(dates.map((date) => lostOf(days[date]?.ratio))),
  ];
  return { ...others, hours, days: ofDays };
}

function decodeHistory({ hours, days, ...others }: HistoryDocument): UptimeHistory {
  return { ...others, buckets: decodeHours(hours), days: decodeDays(days) };
}

function decodeHours([length, times, ...columns]: HourColumns): UptimeBucket[] {
  const [expected = [], missed = [], lost = [], within = []] = columns.map((one) => fromColumn(one, length));
  return fromTimes(times, length).map((startAt, i) => ({
    startAt,
    withinSchedule: within[i] === 1,
    segmentsExpected: expected[i],
    segmentsReceived: receivedOf(expected[i], missed[i]),
    avgUptimeOnSegment: undefined,
    pcSegmentsReceived: undefined,
    overallUptime: ratioOf(lost[i]),
  }));
}

function decodeDays([length, times, ...columns]: DayColumns): Record<string, DayUptime> {
  const [expected = [], lost = []] = columns.map((one) => fromColumn(one, length));
  const days = fromTimes(times, length).map((at, i) => {
    return [utcDay(at), { ratio: ratioOf(lost[i]) ?? 0, segmentsExpected: expected[i] ?? 0 }] as const;
  });
  return Object.fromEntries(days);
}

function rounded(count: number | undefined): number | undefined {
  return count === undefined ? undefined : Math.round(count);
}

function missedOf({ segmentsExpected = 0, segmentsReceived }: UptimeBucket): number | undefined {
  return segmentsReceived === undefined ? undefined : Math.round(segmentsExpected) - Math.round(segmentsReceived);
}

function receivedOf(expected = 0, missed: number | undefined): number | undefined {
  return missed === undefined ? undefined : expected - missed;
}

function lostOf(ratio: number | undefined): number | undefined {
  return ratio === undefined ? undefined : PARTS - Math.round(Math.min(1, ratio) * PARTS);
}

function ratioOf(lost: number | undefined): number | undefined {
  return lost === undefined ? undefined : Math.max(0, PARTS - lost) / PARTS;
}
