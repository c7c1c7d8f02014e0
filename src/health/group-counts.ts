/** What a sweep counts of groups: recordings of several locations, and so of several shards, that share a label. */
import type { Instant } from "../lib/clock.ts";
import { type GroupLabel, groupLabels } from "./alert.ts";
import type { Subject } from "./evaluation.ts";
import type { Recording } from "./recording.ts";
import type { RecordingState } from "./shard-state.ts";

export interface StatusCount {
  /** All that are watched. */
  known: number;
  /** Those with a fresh last good reading. */
  fresh: number;
  /** Of a group: those that the last request did not answer for; they may be anything. */
  stale?: number | undefined;
  /** Those of the fresh ones that are offline, since when; of a group only the first few have an id. */
  readonly offline: { readonly id?: string | undefined; readonly since: Instant }[];
}

/** Of recordings within their uploading schedule. */
export interface ScheduledCount extends StatusCount {
  /** Those outside their uploading schedule; undefined where there are none. */
  outside?: StatusCount | undefined;
}

/** Labels that all recordings of a group may share. */
export type SharedLabels = Readonly<Partial<Record<GroupLabel | "location_id", string>>>;

/** A group in one shard, or in all of them. */
export interface GroupCount extends ScheduledCount {
  readonly shared: SharedLabels;
  /** It has every recording of its only location. */
  readonly isWhole?: boolean | undefined;
  /** Locations at which some of its recordings are offline, whatever their schedule. */
  readonly locations: number;
}

type ByValue<Count> = Readonly<Partial<Record<GroupLabel, Readonly<Record<string, Count>>>>>;

/** The groups of a shard, as its last good sweep left them. */
export interface ShardGroups {
  readonly at: Instant;
  /** Recordings of the shard that are offline, in a group or not. */
  readonly offline: number;
  readonly counts: ByValue<GroupCount>;
}

/** The groups that a recording is in, as subjects of alerts. */
export function groupSubjects(recording: Recording): Subject[] {
  const all = groupLabels.map((label) => [label, recording[FIELDS[label]]]);
  return all.flatMap(([label, value]) => (value ? [{ kind: "group", id: `${label}/${value}` }] : []));
}

type Shared = Partial<Record<GroupLabel | "location_id", string | undefined>>;
type LastCount = { readonly value: string; readonly count: OpenCount } | undefined;
type OpenCount = ScheduledCount & { readonly shared: Shared; readonly places: Set<string> };

const NAMED = 12;
const FIELDS = { camera_server: "cameraServer", organisation: "organisation", timezone: "timezone" } as const;

/** Counts by the given labels; recordings that have none of a label are in no group of it. */
export class GroupCounts {
  /** Recordings come location by location, so the last count of each label is kept at hand. */
  readonly #counts: { readonly label: GroupLabel; readonly byValue: Map<string, OpenCount>; last: LastCount }[];
  #offline = 0;

  constructor(labels: ReadonlySet<GroupLabel>) {
    this.#counts = [...labels].map((label) => ({ label, byValue: new Map(), last: undefined }));
  }

  add(
    state: RecordingState,
    recording: Recording | undefined,
    is: Readonly<Record<"fresh" | "stale" | "inSchedule", boolean>>,
  ): void {
    if (is.fresh && state.status === "offline") this.#offline++;
    if (!recording) return;
    for (const counts of this.#counts) {
      const value = recording[FIELDS[counts.label]];
      if (value === "") continue;
      const known = counts.last?.value === value ? counts.last.count : counts.byValue.get(value);
      const count = known ?? { ...newCount(), shared: labelsOf(recording, state), places: new Set<string>() };
      if (known) keepShared(count.shared, recording, state);
      else counts.byValue.set(value, count);
      if (counts.last?.count !== count) counts.last = { value, count };
      if (!is.inSchedule) count.outside ??= newCount();
      if (is.fresh && state.status === "offline") count.places.add(state.locationId);
      addStatus((is.inSchedule ? undefined : count.outside) ?? count, state, is);
    }
  }

  /** `recordingsAt`: how many recordings are known at a location, where that is counted. */
  at(now: Instant, recordingsAt: (locationId: string) => number | undefined): ShardGroups {
    const counts = this.#counts.map(({ label, byValue }) => {
      const closed = [...byValue].map(([value, count]) => [value, closedCount(count, recordingsAt)] as const);
      return [label, Object.fromEntries(closed)] as const;
    });
    return { at: now, offline: this.#offline, counts: Object.fromEntries(counts) };
  }
}

function newCount(): StatusCount {
  return { known: 0, fresh: 0, offline: [] };
}

/** Counts one recording. */
export function addStatus(
  count: StatusCount,
  { id, status, since }: RecordingState,
  { fresh, stale = false }: { readonly fresh: boolean; readonly stale?: boolean },
): void {
  count.known++;
  if (stale) count.stale = (count.stale ?? 0) + 1;
  if (!fresh) return;
  count.fresh++;
  if (status === "offline") count.offline.push({ id, since });
}

function labelsOf(recording: Recording, { locationId }: RecordingState): Shared {
  return {
    location_id: locationId,
    ...Object.fromEntries(groupLabels.map((label) => [label, recording[FIELDS[label]]])),
  };
}

function keepShared(shared: Shared, recording: Recording, { locationId }: RecordingState): void {
  if (shared.location_id !== locationId) shared.location_id = undefined;
  if (shared.camera_server !== recording.cameraServer) shared.camera_server = undefined;
  if (shared.organisation !== recording.organisation) shared.organisation = undefined;
  if (shared.timezone !== recording.timezone) shared.timezone = undefined;
}

function closedCount(
  { places, shared, outside, ...count }: OpenCount,
  recordingsAt: (locationId: string) => number | undefined,
): GroupCount {
  const known = count.known + (outside?.known ?? 0);
  const { location_id: location } = shared;
  const isWhole = location !== undefined && recordingsAt(location) === known;
  const own = { ...withFewIds(count), shared: shared as SharedLabels, locations: places.size };
  return { ...own, ...(isWhole && { isWhole }), ...(outside && { outside: withFewIds(outside) }) };
}

function withFewIds({ offline, ...count }: StatusCount): StatusCount {
  return { ...count, offline: offline.map((one, i) => (i < NAMED ? one : { since: one.since })) };
}

/** Labels that are equal in all of these; nothing of none. */
function sharedLabels(all: readonly SharedLabels[]): SharedLabels {
  const [first = {}, ...others] = all;
  return Object.fromEntries(
    Object.entries(first).filter(([label, value]) => others.every((one) => one[label as GroupLabel] === value)),
  );
}

/** The labels that all of these recordings share, where every one of them is known. */
export function sharedByRecordings(recordings: readonly (Recording | undefined)[]): SharedLabels {
  const all = recordings.map((one) =>
    one ? Object.fromEntries(groupLabels.map((label) => [label, one[FIELDS[label]]])) : {},
  );
  return sharedLabels(all);
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
