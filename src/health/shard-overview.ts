/** The overview of a shard: its recordings counted by location, written with every sweep; and the fleet joined from them. */
import type { Instant } from "../lib/clock.ts";
import { type RecordingStatus, recordingStatuses } from "./recording.ts";
import { allowedGapMs, GAP_INTERVALS } from "./rhythm.ts";
import { noCounts, type StatusCounts, totalOf } from "./shard-counts.ts";
import { type ShardPatch, statesAfter } from "./shard-patch.ts";
import type { ColdState, ShardState } from "./shard-state.ts";

/** A location and its recordings by status, in the order of `recordingStatuses`; zeros at the end are left out. */
type LocationRow = readonly [id: string, ...counts: number[]];

export interface ShardOverview {
  /** The time of the sweep. */
  readonly at: Instant;
  /** An overview older than this says nothing of now, ms. */
  readonly gapMs: number;
  /** Differs where the status of a recording, its start or its pending alerts do; an integer of 32 bits. */
  readonly mark: number;
  /** Recordings with an alert, pending or firing. */
  readonly alerting: number;
  readonly locations: readonly LocationRow[];
}

/** The overview of a shard after a sweep. */
export function overviewAfter(before: ShardState, patch: ShardPatch, intervalMs: number): ShardOverview {
  const { sweptAt: at, gaps, noted, locations } = patch;
  const gapMs = allowedGapMs(gaps, intervalMs);
  const counts = new Map([...locations.keys()].map((id) => [id, noCounts()]));
  let [mark, alerting] = [0, 0];
  for (const state of statesAfter(before, patch)) {
    const isFresh = noted.get(state.id) !== undefined || at - state.readAt <= gapMs;
    const status = isFresh ? (state.status ?? "unknown") : "unknown";
    const here = counts.get(state.locationId) ?? noCounts();
    if (here[status]++ === 0) counts.set(state.locationId, here);
    mark = (mark + markOf(state, status)) | 0;
    if (state.alerts) alerting += 1;
  }
  return { at, gapMs, mark, alerting, locations: Array.from(counts, rowOf) };
}

/** An integer of 32 bits that differs where a status, its start or the number of pending alerts does. */
function markOf({ since, alerts }: ColdState, status: RecordingStatus): number {
  const pending = alerts ? Object.values(alerts).filter(({ state }) => state === "pending").length : 0;
  let mark = Math.imul(since % 0x7fffffff, 0x01000193) ^ Math.floor(since / 0x7fffffff);
  mark = Math.imul(mark ^ (recordingStatuses.indexOf(status) + 1), 0x01000193);
  mark = Math.imul(mark ^ (mark >>> 15) ^ pending, 0x2c1b3c6d);
  return mark ^ (mark >>> 13);
}

function rowOf([id, counts]: [string, StatusCounts]): LocationRow {
  const all = recordingStatuses.map((status) => counts[status]);
  return [id, ...all.slice(0, all.findLastIndex((n) => n > 0) + 1)];
}

export interface LocationOverview {
  readonly id: string;
  /** The number of the shard that has it. */
  readonly shard: number;
  readonly counts: StatusCounts;
}

/** The fleet as its overviews say at a moment. */
export interface FleetTotals {
  readonly now: Instant;
  /** Three of these without a reading make a status unknown, ms. */
  readonly statusIntervalMs: number;
  /** The last good sweep of any shard; undefined where there was none. */
  readonly sweptAt: Instant | undefined;
  readonly mark: number;
  readonly counts: StatusCounts;
  readonly locations: ReadonlyMap<string, LocationOverview>;
}

/** Joins overviews by shard. A location that moves between two shards counts in the one that was swept later. */
export function joinOverviews(
  overviews: Iterable<readonly [shard: number, overview: ShardOverview]>,
  { now, intervalMs }: { readonly now: Instant; readonly intervalMs: number },
): FleetTotals {
  const all = noCounts();
  const locations = new Map<string, LocationOverview>();
  let [gapMs, sweptAt, mark] = [GAP_INTERVALS * intervalMs, 0, 0];
  for (const [shard, overview] of [...overviews].sort(([, a], [, b]) => b.at - a.at)) {
    const isOld = now - overview.at > overview.gapMs;
    if (!isOld) gapMs = Math.max(gapMs, overview.gapMs);
    sweptAt = Math.max(sweptAt, overview.at);
    mark = (mark + overview.mark) | 0;
    for (const [id, online = 0, offline = 0, degraded = 0, unknown = 0] of overview.locations) {
      if (locations.has(id)) continue;
      const read = { online, offline, degraded, unknown };
      const counts = isOld ? { ...noCounts(), unknown: totalOf(read) } : read;
      locations.set(id, { id, shard, counts });
      for (const status of recordingStatuses) all[status] += counts[status];
    }
  }
  const statusIntervalMs = gapMs / GAP_INTERVALS;
  return { now, statusIntervalMs, sweptAt: sweptAt || undefined, mark, counts: all, locations };
}
