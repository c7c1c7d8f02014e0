/** The overview of a shard: its recordings counted by location, written with every sweep; and the fleet joined from them. */
import type { Instant } from "../lib/clock.ts";
import { own } from "../lib/own.ts";
import { type GroupLabel, isGroupLabel } from "./alert.ts";
import type { Evidence } from "./evidence.ts";
import { labelOf } from "./members.ts";
import { type Recording, type RecordingStatus, recordingStatuses } from "./recording.ts";
import { allowedGapMs, GAP_INTERVALS } from "./rhythm.ts";
import type { ShardPatch } from "./shard-patch.ts";
import { type ColdState, type Inventory, type RecordingState, statusOf } from "./shard-state.ts";
import { noCounts, type StatusCounts, totalOf } from "./status-counts.ts";

/**
 * A location and its recordings by status, in the order of `recordingStatuses`; `unknown` are those that were never read,
 * then follow those that were not read in time, by their last status. Zeros at the end are left out.
 */
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
  /** Recordings that are offline, by the labels that may explain it and their values. */
  readonly offline: Readonly<Partial<Record<GroupLabel, Readonly<Record<string, number>>>>>;
  /** The latest good reading of a recording; 0 where there was none. */
  readonly readAt: Instant;
  readonly locations: readonly LocationRow[];
}

interface OverviewContext {
  readonly intervalMs: number;
  readonly inventory: Pick<Inventory, "recording">;
}

/** The overview of a shard after a sweep. */
export function overviewAfter(patch: ShardPatch, { intervalMs, inventory }: OverviewContext): ShardOverview {
  const { sweptAt: at, gaps, states, reads, locations } = patch;
  const gapMs = allowedGapMs(gaps, intervalMs);
  const counts = new Map([...locations.keys()].map((id) => [id, noneOf()]));
  const offline: string[] = [];
  let [place, mark, alerting, readAt] = [0, 0, 0, 0];
  for (const state of states) {
    const lastReadAt = reads[place++] ? at : state.readAt;
    const status = at - lastReadAt > gapMs ? "unknown" : (state.status ?? "unknown");
    readAt = Math.max(readAt, lastReadAt);
    const here = counts.get(state.locationId) ?? noneOf();
    counts.set(state.locationId, here);
    if (status === "unknown") here.were[state.status ?? "unknown"] += 1;
    else here.counts[status] += 1;
    mark = (mark + markOf(state, status)) | 0;
    if (state.alerts) alerting += 1;
    if (status === "offline") offline.push(state.id);
  }
  const byLabel = countByLabel(offline, inventory);
  return { at, gapMs, mark, alerting, offline: byLabel, readAt, locations: Array.from(counts, rowOf) };
}

/** Labels of which the recordings may fail together. */
const LABELS = ["camera_server", "organisation"] as const;

function countByLabel(ids: readonly string[], inventory: OverviewContext["inventory"]): ShardOverview["offline"] {
  const known = ids.map((id) => inventory.recording(id));
  const counts = LABELS.map((label) => {
    const groups = Map.groupBy(known, (recording) => labelOf(recording, label));
    groups.delete("");
    return [label, Object.fromEntries([...groups].map(([value, own]) => [value, own.length]))] as const;
  });
  return ids.length === 0 ? {} : Object.fromEntries(counts);
}

/** An integer of 32 bits that differs where a status, its start or the number of pending alerts does. */
function markOf({ since, alerts }: ColdState, status: RecordingStatus): number {
  const pending = alerts ? Object.values(alerts).filter(({ state }) => state === "pending").length : 0;
  let mark = Math.imul(since % 0x7fffffff, 0x01000193) ^ Math.floor(since / 0x7fffffff);
  mark = Math.imul(mark ^ (recordingStatuses.indexOf(status) + 1), 0x01000193);
  mark = Math.imul(mark ^ (mark >>> 15) ^ pending, 0x2c1b3c6d);
  return mark ^ (mark >>> 13);
}

const noneOf = () => ({ counts: noCounts(), were: noCounts() });

function rowOf([id, { counts, were }]: [string, Tally]): LocationRow {
  const all = [counts.online, counts.offline, counts.degraded, were.unknown, were.online, were.offline, were.degraded];
  return [id, ...all.slice(0, all.findLastIndex((n) => n > 0) + 1)];
}

export interface LocationOverview {
  readonly id: string;
  /** The number of the shard that has it. */
  readonly shard: number;
  readonly counts: StatusCounts;
  /** The unknown ones by their last known status; `unknown`: never read. */
  readonly were: StatusCounts;
}

/** The overview of a shard as it is read again. */
export interface KnownOverview extends Omit<ShardOverview, "locations"> {
  readonly shard: number;
  readonly locations: readonly LocationOverview[];
}

export function knownOverview(shard: number, { locations, ...overview }: ShardOverview): KnownOverview {
  const known = locations.map(([id, online = 0, offline = 0, degraded = 0, never = 0, ...last]) => {
    const [wereOnline = 0, wereOffline = 0, wereDegraded = 0] = last;
    const were = { online: wereOnline, offline: wereOffline, degraded: wereDegraded, unknown: never };
    return { id, shard, counts: { online, offline, degraded, unknown: totalOf(were) }, were };
  });
  return { ...overview, shard, locations: known };
}

/** The fleet as its overviews say at a moment. */
export interface FleetTotals {
  readonly now: Instant;
  /** Three of these without a reading make a status unknown, ms. */
  readonly statusIntervalMs: number;
  /** The latest good reading of any recording; undefined where there was none. */
  readonly readAt: Instant | undefined;
  readonly mark: number;
  readonly counts: StatusCounts;
  /** The last known statuses of recordings that are unknown now. */
  readonly were: StatusCounts;
  /** In the order of their shards. */
  readonly locations: ReadonlyMap<string, LocationOverview>;
  /** The shards that have a recording with an alert, pending or firing. */
  readonly alerting: ReadonlySet<number>;
  /** The recordings with a label that are offline. */
  offlineWith(label: GroupLabel, value: string): number;
}

/** All names, which each process has in memory. */
export interface FleetNames extends Inventory {
  recordings(): Iterable<Recording>;
  /** The ids of the recordings at a location. */
  idsAt(locationId: string): readonly string[];
  /** The recordings with a label, counted by location. */
  labelled(label: GroupLabel, value: string): ReadonlyMap<string, number>;
  /** The organisation of one of its recordings; empty where it is not known, or all are of one. */
  organisationAt(locationId: string): string;
}

/** The recordings with a label that finds them without a look at all; undefined of any other label. */
export function recordingsWith(label: string, value: string, names: FleetNames): Recording[] | undefined {
  const named = (ids: readonly string[]) => ids.flatMap((id) => names.recording(id) ?? []);
  if (label === "recording_id") return named([value]);
  if (label === "location_id") return named(names.idsAt(value));
  if (!isGroupLabel(label)) return undefined;
  const all = [...names.labelled(label, value).keys()].flatMap((id) => named(names.idsAt(id)));
  return all.filter((one) => labelOf(one, label) === value);
}

/** The fleet as pages, commands and answers show it. */
export interface FleetOverview extends FleetTotals {
  readonly inventory: FleetNames;
  /** The age of all this; undefined where that is not known. */
  readonly evidence?: Evidence | undefined;
}

/** Joins overviews by shard. A location that moves between two shards counts in the one that was swept later. */
export function joinOverviews(
  overviews: Iterable<KnownOverview>,
  { now, intervalMs }: { readonly now: Instant; readonly intervalMs: number },
): FleetTotals {
  const sorted = [...overviews].sort((a, b) => a.shard - b.shard);
  const sweptAt = new Map(sorted.map(({ shard, at }) => [shard, at]));
  const locations = new Map<string, LocationOverview>();
  let [gapMs, readAt, mark] = [GAP_INTERVALS * intervalMs, 0, 0];
  const alerting = new Set<number>();
  const fresh: KnownOverview[] = [];
  for (const overview of sorted) {
    const isOld = now - overview.at > overview.gapMs;
    if (!isOld) gapMs = Math.max(gapMs, overview.gapMs);
    readAt = Math.max(readAt, overview.readAt);
    mark = (mark + overview.mark) | 0;
    if (overview.alerting > 0) alerting.add(overview.shard);
    if (!isOld) fresh.push(overview);
    for (const location of overview.locations) {
      const other = locations.get(location.id);
      if (other && (sweptAt.get(other.shard) ?? 0) > overview.at) continue;
      locations.set(location.id, isOld ? asUnknown(location) : location);
    }
  }
  const statusIntervalMs = gapMs / GAP_INTERVALS;
  const [counts, were] = [noCounts(), noCounts()];
  for (const one of locations.values())
    for (const status of recordingStatuses) {
      counts[status] += one.counts[status];
      were[status] += one.were[status];
    }
  const offlineWith = (label: GroupLabel, value: string) =>
    fresh.reduce((sum, { offline }) => sum + (own(offline[label] ?? {}, value) ?? 0), 0);
  return { now, statusIntervalMs, readAt: readAt || undefined, mark, counts, were, locations, alerting, offlineWith };
}

function asUnknown(location: LocationOverview): LocationOverview {
  return { ...location, counts: { ...noCounts(), unknown: totalOf(location.counts) }, were: lastKnown(location) };
}

/** Recordings counted by status; `were`: the unknown ones by their last known status. */
export type Tally = Pick<LocationOverview, "counts" | "were">;

export function tallyOf(states: Iterable<RecordingState>, moment: Parameters<typeof statusOf>[1]): Tally {
  const tally = noneOf();
  for (const state of states) {
    const status = statusOf(state, moment);
    tally.counts[status] += 1;
    if (status === "unknown") tally.were[state.status ?? "unknown"] += 1;
  }
  return tally;
}

/** Recordings by their last known status. */
export function lastKnown({ counts, were }: Tally): StatusCounts {
  const sum = (status: RecordingStatus) => (status === "unknown" ? 0 : counts[status]) + were[status];
  return { online: sum("online"), offline: sum("offline"), degraded: sum("degraded"), unknown: were.unknown };
}
