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
export type SharedLabels = Readonly<Partial<Record<GroupLabel | "location_id", string>>>;

/** A group in one shard, or in all of them. */
export interface GroupCount extends ScheduledCount {
  readonly shared: SharedLabels;
  /** It has every recording of its only location. */
  readonly isWhole?: boolean | undefined;
  /** Locations at which some of its recordings are offline, whatever their schedule. */
  readonly locations: number;
}

export type GroupCounts = Readonly<Partial<Record<GroupLabel, Readonly<Record<string, GroupCount>>>>>;

/** The members of a shard. */
export interface Members {
  /** The revision of the inventory by which they were grouped. */
  readonly revision: number | undefined;
  readonly locations: ReadonlyMap<string, LocationMembers>;
  /** The groups by the labels asked for, while nothing is wrong. Recordings without a label are in none of it. */
  readonly quiet: GroupCounts;
}

interface LocationMembers {
  readonly known: number;
  readonly shared: SharedLabels;
  /** The first of its recordings by id, of those with a known time zone where there are any. */
  readonly sampleId: string;
}

const FIELDS = { camera_server: "cameraServer", organisation: "organisation", timezone: "timezone" } as const;

/** "" where it has none, or is not known. */
export function labelOf(recording: Recording | undefined, label: GroupLabel): string {
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
  return (
    isSame && labels.size === Object.keys(members.quiet).length && [...labels].every((label) => members.quiet[label])
  );
}

/** Groups these recordings by location and by the labels. */
export function membersOf(
  recordings: Iterable<Pick<RecordingState, "id" | "locationId">>,
  inventory: Inventory,
  labels: ReadonlySet<GroupLabel>,
): Members {
  const locations = new Map<string, Open>();
  const groups = [...labels].map((label) => [label, new Map<string, Open>()] as const);
  for (const ids of recordings) {
    const { id, locationId } = ids;
    const recording = inventory.recording(id);
    join(locations, locationId, ids, recording);
    for (const [label, byValue] of groups) join(byValue, labelOf(recording, label), ids, recording);
  }
  const quiet = groups.map(([label, byValue]) => {
    byValue.delete("");
    return [label, Object.fromEntries([...byValue].map(([value, open]) => [value, quietCount(open, locations)]))];
  });
  return { revision: inventory.revision?.(), locations, quiet: Object.fromEntries(quiet) };
}

type Open = { known: number; readonly shared: Shared; sampleId: string; isZoned: boolean };
type Shared = Partial<Record<GroupLabel | "location_id", string>>;

function join(
  all: Map<string, Open>,
  value: string,
  { id, locationId }: Pick<RecordingState, "id" | "locationId">,
  recording: Recording | undefined,
): void {
  const labels: SharedLabels = {
    location_id: locationId,
    ...(recording && Object.fromEntries(groupLabels.map((label) => [label, recording[FIELDS[label]]]))),
  };
  const open = all.get(value);
  const isZoned = recording?.timezone !== undefined;
  if (!open) all.set(value, { known: 1, shared: labels, sampleId: id, isZoned });
  else {
    open.known++;
    if (isZoned === open.isZoned ? id < open.sampleId : isZoned) [open.sampleId, open.isZoned] = [id, isZoned];
    for (const label of Object.keys(open.shared) as (keyof SharedLabels)[])
      if (open.shared[label] !== labels[label]) delete open.shared[label];
  }
}

function quietCount({ known, shared }: Open, locations: ReadonlyMap<string, Open>): GroupCount {
  const isWhole = shared.location_id !== undefined && locations.get(shared.location_id)?.known === known;
  return { known, fresh: known, offline: [], shared, locations: 0, ...(isWhole && { isWhole }) };
}
