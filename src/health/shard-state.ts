/** The state that one sweep stores and the next starts from. An evaluation gives a patch, and changes none of it. */
import { isDeepStrictEqual } from "node:util";
import type { Instant } from "../lib/clock.ts";
import type { AlertStates } from "./alert-machine.ts";
import type { DirectoryLookup } from "./directory.ts";
import type { Evidence } from "./evidence.ts";
import type { Location, Reading, Recording, RecordingStatus } from "./recording.ts";
import { GAP_INTERVALS } from "./rhythm.ts";

export interface ShardState {
  /** The time of the last good sweep's evaluation; 0 before the first. */
  readonly sweptAt: Instant;
  /** The last gaps between good sweeps, ms, oldest first. */
  readonly gaps?: readonly number[] | undefined;
  /** In the order of their ids. */
  readonly recordings: Map<string, RecordingState>;
  readonly locations: ReadonlyMap<string, LocationState>;
}

/** The state that moves with every sweep: written in place by `patched`, once the sweep is stored. */
export interface HotState {
  /** The time of the last good reading. */
  readAt: Instant;
  /** `last_seen_utc` of the last good reading. */
  lastSeenAt: Instant | undefined;
  averageQuality: number | undefined;
}

/** The state that changes when something happens, and then is replaced as a whole. */
export interface ColdState {
  readonly id: string;
  readonly locationId: string;
  /** The status of the last good reading; undefined while there has been none (then `readAt` is 0). */
  readonly status: Exclude<RecordingStatus, "unknown"> | undefined;
  /** Since when it has that status. */
  readonly since: Instant;
  /** `last_seen_utc` of the last online or degraded reading, where `lastSeenAt` is not that. */
  readonly onlineSeenAt?: Instant | undefined;
  /** The last time that a row for it was in a snapshot, moved on by time without sweeps; undefined: in the last one. */
  readonly absentSince?: Instant | undefined;
  /** Its last states; undefined where they are all the same, as most recordings' are. */
  readonly history?: StateHistory | undefined;
  /** The last outage, or flapping, that an alert was about. */
  readonly outage?: ReportedOutage | undefined;
  /** By rule id. Undefined instead of empty: most recordings have none. */
  readonly alerts: AlertStates | undefined;
}

export type RecordingState = ColdState & HotState;

/** Nothing changed between two states of a recording but what is hot. */
export function isSameCold(before: ColdState, after: ColdState): boolean {
  return isDeepStrictEqual(coldOf(before), coldOf(after));
}

export function coldOf(state: ColdState): Omit<ColdState, "id"> {
  const { locationId, status, since, onlineSeenAt, absentSince, history, outage, alerts } = state;
  return { locationId, status, since, onlineSeenAt, absentSince, history, outage, alerts };
}

export interface ReportedOutage {
  readonly from: Instant;
  /** The last reading while the alert fired; undefined while it fires. */
  readonly until: Instant | undefined;
  /** Those before it, a few. */
  readonly earlier?: readonly { readonly from: Instant; readonly until: Instant }[] | undefined;
}

/** The last states of a recording whose status changes, at most 21 in all. */
export interface StateHistory {
  /** The time of the newest. */
  readonly sampledAt: Instant;
  /** Oldest first; each begins with a change. */
  readonly stretches: readonly StatusStretch[];
}

/** A state, and how often it was taken without a change. */
export interface StatusStretch {
  readonly status: NonNullable<RecordingState["status"]>;
  /** The time of the first of them. */
  readonly from: Instant;
  readonly count: number;
}

export interface LocationState {
  readonly id: string;
  readonly alerts: AlertStates | undefined;
}

/** Names and zones, as far as they are known, and what a directory says of locations. */
export interface Inventory extends DirectoryLookup {
  recording(id: string): Recording | undefined;
  location(id: string): Location | undefined;
  /** Another number after each change of a recording; not there where that is not known. */
  revision?(): number;
}

/** Shards at a moment: all of them for exposition and digests, one for a page. */
export interface FleetSnapshot {
  readonly now: Instant;
  /** `watch.status_interval` or the slower rhythm of sweeps, ms: a reading older than three counts as unknown. */
  readonly statusIntervalMs: number;
  readonly shards: readonly ShardState[];
  readonly inventory: Inventory;
  /** The age of all this; undefined where that is not known. */
  readonly evidence?: Evidence | undefined;
  /** Ratio 0–1 over the window, undefined where there is no figure. */
  overallUptime(recordingId: string, windowMs: number): number | undefined;
}

/** Rows between two yields of a walk over the fleet. */
export const ROWS_PER_STEP = 256;

/** The status of a recording: `unknown` without a good reading in 3 intervals. */
export function statusOf(
  { status, readAt }: Pick<RecordingState, "status" | "readAt">,
  { now, statusIntervalMs }: Pick<FleetSnapshot, "now" | "statusIntervalMs">,
): RecordingStatus {
  return status === undefined || now - readAt > GAP_INTERVALS * statusIntervalMs ? "unknown" : status;
}

/** The most that the service's clock may be ahead of ours. */
const CLOCK_TOLERANCE_MS = 60_000;

/** A reading with a known status. */
export type GoodReading = Reading & { readonly status: NonNullable<RecordingState["status"]> };

export function isGood(reading: Reading): reading is GoodReading {
  return reading.status !== "unknown";
}

/** The recording after a good reading; its alerts are as they were. */
export function afterReading(
  previous: RecordingState | undefined,
  reading: GoodReading,
  locationId: string,
  now: Instant,
  history: StateHistory | undefined,
): RecordingState {
  const { status, lastSeenAt } = reading;
  const isLast = status !== "offline" && lastSeenAt !== undefined;
  return {
    id: previous?.id ?? reading.recordingId,
    locationId,
    status,
    readAt: now,
    since: sinceWhen(previous, reading, now),
    lastSeenAt,
    averageQuality: reading.averageQuality,
    onlineSeenAt: isLast ? undefined : lastOnlineSeenAt(previous),
    absentSince: undefined,
    history,
    outage: previous?.outage,
    alerts: previous?.alerts,
  };
}

/** The recording after a row that could not be read, or with status `unknown`: it is present, nothing more. */
export function afterPresence(
  previous: RecordingState | undefined,
  id: string,
  locationId: string,
  now: Instant,
): RecordingState {
  if (previous) return { ...previous, locationId, absentSince: undefined };
  return {
    id,
    locationId,
    status: undefined,
    readAt: 0,
    since: now,
    lastSeenAt: undefined,
    averageQuality: undefined,
    onlineSeenAt: undefined,
    absentSince: undefined,
    history: undefined,
    outage: undefined,
    alerts: undefined,
  };
}

type Seen = Pick<RecordingState, "status" | "lastSeenAt" | "onlineSeenAt">;

/** `last_seen_utc` of the last online or degraded reading. */
function lastOnlineSeenAt(state: Seen | undefined): Instant | undefined {
  return state?.status === "offline" ? state.onlineSeenAt : (state?.lastSeenAt ?? state?.onlineSeenAt);
}

/**
 * Since when it has the reading's status. A recording seen offline went offline at its `last_seen_utc`, unless that
 * contradicts an earlier reading (before the last online contact) or the clock (in the future).
 */
export function sinceWhen(
  previous: (Seen & Pick<RecordingState, "since">) | undefined,
  { status, lastSeenAt }: Pick<Reading, "status" | "lastSeenAt">,
  now: Instant,
): Instant {
  const isSame = previous !== undefined && previous.status === status;
  // Seen since it went offline, it was online in between.
  const isSeen = status === "offline" && (lastSeenAt ?? 0) > (previous?.since ?? 0) + CLOCK_TOLERANCE_MS;
  if (isSame && !(isSeen && (lastSeenAt ?? 0) <= now)) return previous.since;
  if (status !== "offline" || lastSeenAt === undefined || lastSeenAt <= 0) return now;
  if (lastSeenAt > now + CLOCK_TOLERANCE_MS) return now;
  if (lastSeenAt < (lastOnlineSeenAt(previous) ?? lastSeenAt)) return now;
  return Math.min(lastSeenAt, now);
}
