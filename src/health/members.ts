/** Which recordings of a shard share a location or a label. That changes with the fleet, not with what is wrong in it. */
import type { Instant } from "../lib/clock.ts";
import { type GroupLabel, groupLabels, type Subject } from "./alert.ts";
import type { Recording } from "./recording.ts";
import type { Inventory, RecordingState } from "./shard-state.ts";

export interface StatusCount {
  /** All that are watched. */
  readonly known: number;
  /** Recordings with a fresh last good reading. */
  readonly fresh: number;
  /** Recordings of a group that the last request did not answer for; they may be anything. */
  readonly stale?: number | undefined;
  /** Fresh recordings that are offline, since when; of a group only the first few have an id. */
  readonly offline: readonly { readonly id?: string | undefined; readonly since: Instant }[];
}

/** Counts recordings within their uploading schedule. */
export interface ScheduledCount extends StatusCount {
  /** Recordings outside their uploading schedule; undefined where there are none. */
  readonly outside?: StatusCount | undefined;
}

/** Labels that all recordings of a group may share. */
export type SharedLabels = Readonly<Partial<Record<GroupLabel | "location_id", string | undefined>>>;

/** A group in one shard, or in all of them. */
export interface GroupCount extends ScheduledCount {
  readonly shared: SharedLabels;
  /** It has every recording of its only location. */
  readonly isWhole?: boolean | undefined;
  /** Locations at which some of its recordings are offline, whatever their schedule. */
  readonly locations: number;
}

export type GroupCounts = Readonly<Partial<Record<GroupLabel, Readonly<Record<string, GroupCount>>>>>;

/** The groups of a shard while nothing is wrong: by location, and by the labels asked for. */
export interface Members {
  /** The revision of the inventory by which they were grouped. */
  readonly revision: number | undefined;
  readonly locations: ReadonlyMap<string, GroupCount>;
  /** Recordings without a label are in none of its groups. */
  readonly groups: GroupCounts;
}

const FIELDS = { camera_server: "cameraServer", organisation: "organisation", timezone: "timezone" } as const;

/** "" where it has none, or is not known. */
export function labelOf(
  recording: Pick<Recording, (typeof FIELDS)[GroupLabel]> | undefined,
  label: GroupLabel,
): string {
  return recording?.[FIELDS[label]] ?? "";
}

/** The groups that a recording is in, as subjects of alerts. */
export function groupSubjects(recording: Recording): Subject[] {
  const all = groupLabels.map((label) => [label, labelOf(recording, label)]);
  return all.flatMap(([label, value]) => (value ? [{ kind: "group", id: `${label}/${value}` }] : []));
}

/** The `members` of the same recordings at the same locations are grouped by these labels, as they are now. */
export function areGrouped(members: Members, { revision }: Inventory, labels: ReadonlySet<GroupLabel>): boolean {
  const isSame = members.revision !== undefined && members.revision === revision?.();
  return isSame && labels.symmetricDifference(new Set(Object.keys(members.groups))).size === 0;
}

/** Groups these recordings by location and by the labels. */
export function membersOf(
  recordings: Iterable<Pick<RecordingState, "id" | "locationId">>,
  inventory: Inventory,
  labels: ReadonlySet<GroupLabel>,
): Members {
  const rows = Array.from(recordings, ({ id, locationId }): SharedLabels => {
    const known = inventory.recording(id);
    const own = known && Object.fromEntries(groupLabels.map((label) => [label, known[FIELDS[label]]]));
    return { location_id: locationId, ...own };
  });
  const locations = quietBy(rows, "location_id", new Map());
  const groups = [...labels].map((label) => [label, Object.fromEntries(quietBy(rows, label, locations))]);
  return { revision: inventory.revision?.(), locations, groups: Object.fromEntries(groups) };
}

function quietBy(
  rows: readonly SharedLabels[],
  by: keyof SharedLabels,
  locations: Members["locations"],
): Members["locations"] {
  const groups = Map.groupBy(rows, (row) => row[by] ?? "");
  groups.delete("");
  const counts = [...groups].map(([value, own]) => {
    const [known, shared] = [own.length, sharedLabels(own)];
    const isWhole = locations.get(shared.location_id ?? "")?.known === known;
    return [value, { known, fresh: known, offline: [], shared, locations: 0, ...(isWhole && { isWhole }) }] as const;
  });
  return new Map(counts);
}

/** Labels that are equal in all of these; nothing of none. */
export function sharedLabels(all: readonly SharedLabels[]): SharedLabels {
  const [first = {}, ...others] = all;
  return Object.fromEntries(
    Object.entries(first).filter(([label, value]) => others.every((one) => one[label as GroupLabel] === value)),
  );
}
