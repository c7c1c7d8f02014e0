/** A sweep's counts of groups: recordings of several locations, and so of several shards, that share a label. */
import type { Instant } from "../lib/clock.ts";
import type { GroupLabel } from "./alert.ts";
import {
  type GroupCount,
  type GroupCounts,
  labelOf,
  type Members,
  type ScheduledCount,
  type StatusCount,
  sharedLabels,
} from "./members.ts";
import type { Inventory, RecordingState } from "./shard-state.ts";

/** The groups of a shard, as its last good sweep left them. */
export interface ShardGroups {
  readonly at: Instant;
  /** The time for which they hold, ms, where the rhythm of sweeps is slow; else three intervals. */
  readonly gapMs?: number | undefined;
  /** Recordings of the shard that are offline, in a group or not. */
  readonly offline: number;
  readonly counts: GroupCounts;
}

const NAMED = 12;

/** A recording that a sweep found offline, without a fresh reading, or outside its schedule. */
export type Notable = Readonly<Record<"fresh" | "stale" | "inSchedule", boolean>> & { readonly state: RecordingState };

/** Counts the notable ones among so many recordings; the others are fresh, within their schedule and not offline. */
export function countAmong(known: number, notable: readonly Notable[]): ScheduledCount {
  const outside = notable.filter(({ inSchedule }) => !inSchedule);
  const inside = notable.filter(({ inSchedule }) => inSchedule);
  return {
    ...statusCount(known - outside.length, inside),
    ...(outside.length > 0 && { outside: statusCount(outside.length, outside) }),
  };
}

function statusCount(known: number, notable: readonly Notable[]): StatusCount {
  const stale = notable.filter((one) => one.stale).length;
  const offline = notable.filter(isOffline).map(({ state: { id, since } }) => ({ id, since }));
  const fresh = known - notable.filter((one) => !one.fresh).length;
  return { known, fresh, ...(stale > 0 && { stale }), offline };
}

function isOffline({ fresh, state }: Notable): boolean {
  return fresh && state.status === "offline";
}

/** Counts the groups of these members again where some of them are notable. */
export function countGroups(
  { groups }: Members,
  notable: readonly Notable[],
  inventory: Inventory,
): Pick<ShardGroups, "offline" | "counts"> {
  if (notable.length === 0) return { offline: 0, counts: groups };
  const counts = Object.entries(groups).map(([name, byValue]) => {
    const label = name as GroupLabel;
    const affected = Map.groupBy(notable, ({ state }) => labelOf(inventory.recording(state.id), label));
    affected.delete("");
    const counted = [...affected].map(([value, some]) => [value, countGroup(byValue[value], some)] as const);
    return [label, { ...byValue, ...Object.fromEntries(counted) }] as const;
  });
  return { offline: notable.filter(isOffline).length, counts: Object.fromEntries(counts) };
}

function countGroup(quiet: GroupCount | undefined, notable: readonly Notable[]): GroupCount {
  const { outside, ...count } = countAmong(quiet?.known ?? 0, notable);
  const locations = new Set(notable.filter(isOffline).map(({ state }) => state.locationId)).size;
  const own = { shared: {}, ...quiet, ...withFewIds(count), locations };
  return outside ? { ...own, outside: withFewIds(outside) } : own;
}

function withFewIds({ offline, ...count }: StatusCount): StatusCount {
  return { ...count, offline: offline.map((one, i) => (i < NAMED ? one : { since: one.since })) };
}

/** A group over all shards that count it; undefined where none does. */
export function mergedCount(parts: readonly GroupCount[]): GroupCount | undefined {
  const [first] = parts;
  if (!first || parts.length === 1) return first;
  const outside = parts.flatMap((part) => part.outside ?? []);
  return {
    ...addStatusCounts(parts),
    ...(outside.length > 0 && { outside: addStatusCounts(outside) }),
    shared: sharedLabels(parts.map(({ shared }) => shared)),
    locations: parts.reduce((sum, { locations }) => sum + locations, 0),
  };
}

/** All of these together. */
export function addStatusCounts(counts: readonly StatusCount[]): StatusCount {
  const total = (of: (count: StatusCount) => number) => counts.reduce((sum, count) => sum + of(count), 0);
  const stale = total((count) => count.stale ?? 0);
  const sum = { known: total(({ known }) => known), fresh: total(({ fresh }) => fresh), ...(stale > 0 && { stale }) };
  return { ...sum, offline: counts.flatMap(({ offline }) => offline) };
}
