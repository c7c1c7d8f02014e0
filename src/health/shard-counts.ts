/** The recordings of a shard counted by location and status, and what changes when they do. */
import type { Instant } from "../lib/clock.ts";
import { type GroupLabel, groupLabels } from "./alert.ts";
import { labelOf } from "./members.ts";
import type { RecordingStatus } from "./recording.ts";
import { GAP_INTERVALS } from "./rhythm.ts";
import { currentStatus, type Inventory } from "./shard-state.ts";
import type { StateColumns } from "./state-columns.ts";

export type StatusCounts = Readonly<Record<RecordingStatus, number>>;

/** The recordings of a location in one shard. */
export interface LocationRows {
  readonly counts: StatusCounts;
  /** Their places in the rows of the shard. */
  readonly places: readonly number[];
}

export interface ShardCounts {
  readonly locations: ReadonlyMap<string, LocationRows>;
  /** The latest good reading; 0 where there was none. */
  readonly readAt: Instant;
  /** Places of recordings that were not in the last answer: they may be in another shard by now. */
  readonly absent: readonly number[];
  /** A number of 32 bits that differs where statuses, their starts or the number of pending alerts differ. */
  readonly mark: number;
  /** From then on some are `unknown` that are counted otherwise. */
  readonly until: Instant;
}

export function noCounts(): Record<RecordingStatus, number> {
  return { online: 0, offline: 0, degraded: 0, unknown: 0 };
}

export function totalOf({ online, offline, degraded, unknown }: StatusCounts): number {
  return online + offline + degraded + unknown;
}

/** The rows of a shard, by place. */
interface CountedRows {
  readonly states: StateColumns;
  readAt(place: number): Instant;
  isAbsent(place: number): boolean;
}

export function countRows(rows: CountedRows, now: Instant, statusIntervalMs: number): ShardCounts {
  const locations = new Map<string, { counts: Record<RecordingStatus, number>; places: number[] }>();
  const absent: number[] = [];
  let [readAt, mark, until] = [0, 0, Number.POSITIVE_INFINITY];
  const { states } = rows;
  for (const [place, locationId] of states.locationIds.entries()) {
    const read = rows.readAt(place);
    const status = currentStatus({ status: states.statuses[place], readAt: read }, now, statusIntervalMs);
    const here = locations.get(locationId) ?? { counts: noCounts(), places: [] };
    if (here.places.length === 0) locations.set(locationId, here);
    here.counts[status] += 1;
    here.places.push(place);
    if (rows.isAbsent(place)) absent.push(place);
    readAt = Math.max(readAt, read);
    if (status !== "unknown") until = Math.min(until, read + GAP_INTERVALS * statusIntervalMs + 1);
    const { alerts } = states.more(place);
    const pending = alerts ? Object.values(alerts).filter(({ state }) => state === "pending").length : 0;
    mark = (mark + markOf(states.since(place), status, pending)) | 0;
  }
  return { locations, readAt, absent, mark, until };
}

/** Numbers of recordings by value of the labels of groups. */
export type LabelCounts = Readonly<Record<GroupLabel, ReadonlyMap<string, number>>>;

export function countLabels({ states }: Pick<CountedRows, "states">, inventory: Inventory): LabelCounts {
  const counts = { camera_server: new Map(), organisation: new Map(), timezone: new Map() } as const;
  for (const id of states.ids) {
    const recording = inventory.recording(id);
    for (const label of groupLabels) {
      const value = labelOf(recording, label);
      counts[label].set(value, (counts[label].get(value) ?? 0) + 1);
    }
  }
  return counts;
}

function markOf(since: Instant, status: RecordingStatus, pending: number): number {
  let mark = Math.imul(since % 0x7fffffff, 0x01000193) ^ Math.floor(since / 0x7fffffff);
  mark = Math.imul(mark ^ STATUS_MARKS[status], 0x01000193);
  mark = Math.imul(mark ^ (mark >>> 15) ^ pending, 0x2c1b3c6d);
  return mark ^ (mark >>> 13);
}

const STATUS_MARKS: StatusCounts = { online: 1, offline: 2, degraded: 3, unknown: 4 };
