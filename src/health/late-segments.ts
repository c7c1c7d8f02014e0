/**
 * Buckets whose segments the service lacks, apart from those that recordings lack: of a bucket in which most of the
 * recordings that were online through it have hardly any segments, the figures are late, or were never made up for.
 */
import type { Instant } from "../lib/clock.ts";
import { areSegmentsBelieved, type Presence } from "./belief.ts";
import type { OnlineSpan } from "./online-span.ts";
import type { UptimeBucket } from "./recording.ts";
import { settledBefore } from "./uptime.ts";

/** Below this ratio of segments a recording lacks them. */
const LACKS_SEGMENTS = 0.5;

type Count = { known: number; absent: number };

/** The recordings of a shard that were online through a bucket, and of them those that lack its segments. */
export interface SegmentCounts {
  /** By the beginning of the bucket. */
  readonly buckets: Map<Instant, Count>;
  /** The last finished bucket of each. */
  readonly last: Count;
}

export function noSegmentCounts(): SegmentCounts {
  return { buckets: new Map(), last: { known: 0, absent: 0 } };
}

/** Counts the buckets of a recording, oldest first. */
export function countSegments(
  counts: SegmentCounts,
  buckets: readonly UptimeBucket[],
  { now, lengthMs, online }: { now: Instant; lengthMs: number; online: OnlineSpan | undefined },
): void {
  if (!online) return;
  const to = settledBefore(now, lengthMs);
  for (const { startAt, withinSchedule, segmentsExpected = 0, segmentsReceived } of buckets) {
    if (startAt < online.from || startAt >= to || startAt + lengthMs > online.to) continue;
    if (!withinSchedule || segmentsExpected === 0 || segmentsReceived === undefined) continue;
    const count = counts.buckets.get(startAt) ?? { known: 0, absent: 0 };
    counts.buckets.set(startAt, count);
    for (const one of startAt >= to - lengthMs ? [count, counts.last] : [count]) {
      one.known++;
      if (segmentsReceived < LACKS_SEGMENTS * segmentsExpected) one.absent++;
    }
  }
}

/** The counts of all shards that this process refreshes, each as its last refresh gave them. */
export function createSegmentTally() {
  const shards = new Map<number, SegmentCounts>();
  const total = new Map<Instant, Count>();

  function add({ buckets }: SegmentCounts, sign: 1 | -1): void {
    for (const [startAt, { known, absent }] of buckets) {
      const sum = total.get(startAt) ?? { known: 0, absent: 0 };
      const next = { known: sum.known + sign * known, absent: sum.absent + sign * absent };
      if (next.known > 0) total.set(startAt, next);
      else total.delete(startAt);
    }
  }

  return {
    has: (shard: number) => shards.has(shard),
    keep(shard: number, counts: SegmentCounts): void {
      const before = shards.get(shard);
      if (before) add(before, -1);
      shards.set(shard, counts);
      add(counts, 1);
    },
    isLate: (startAt: Instant): boolean => !areSegmentsBelieved(total.get(startAt) ?? NONE),
  };
}

const NONE: Presence = { known: 0, absent: 0 };
