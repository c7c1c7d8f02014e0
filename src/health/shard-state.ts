/** The state that one sweep stores and the next starts from. Never mutated: an evaluation gives a new state. */
import type { Instant } from "../lib/clock.ts";
import type { AlertFacts, Labels } from "./alert.ts";
import type { Evidence } from "./evidence.ts";
import type { Location, Reading, Recording, RecordingStatus } from "./recording.ts";
import { GAP_INTERVALS } from "./rhythm.ts";

export interface ShardState {
  /** The time of the last good sweep's evaluation; 0 before the first. */
  readonly sweptAt: Instant;
  /** The last gaps between good sweeps, ms, oldest first. */
  readonly gaps?: readonly number[] | undefined;
  readonly recordings: ReadonlyMap<string, RecordingState>;
  readonly locations: ReadonlyMap<string, LocationState>;
}

export interface RecordingState {
  readonly id: string;
  readonly locationId: string;
  /** The status of the last good reading; undefined while there has been none (then `readAt` is 0). */
  readonly status: Exclude<RecordingStatus, "unknown"> | undefined;
  /** The time of the last good reading. */
  readonly readAt: Instant;
  /** Since when it has that status. */
  readonly since: Instant;
  /** `last_seen_utc` of the last good reading. */
  readonly lastSeenAt: Instant | undefined;
  /** `last_seen_utc` of the last online or degraded reading. */
  readonly onlineSeenAt: Instant | undefined;
  readonly averageQuality: number | undefined;
  /** The last time that a row for it, readable or not, was in a snapshot; moved on by time without sweeps. */
  readonly presentAt: Instant;
  /** Its last states; undefined where they are all the same, as most recordings' are. */
  readonly history?: StateHistory | undefined;
  /** The last outage, or flapping, that an alert was about. */
  readonly outage?: ReportedOutage | undefined;
  /** By rule id. Undefined instead of empty: most recordings have none. */
  readonly alerts: AlertStates | undefined;
}

export interface ReportedOutage {
  readonly from: Instant;
  /** The last reading while the alert fired; undefined while it fires. */
  readonly until: Instant | undefined;
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

export type AlertStates = Readonly<Record<string, AlertState>>;

/** One rule at one subject, while its condition is met or was a moment ago. Inactive is absence. */
export interface AlertState {
  readonly state: "pending" | "firing";
  /** Since when the problem is there, for display and durations. */
  readonly startsAt: Instant;
  /**
   * pending: time the condition has been met, ms. firing: 0 while it is met, else 1 more than the time it has not
   * been, ms (against `keep_firing_for`).
   */
  readonly elapsedMs: number;
  /**
   * The last evidence for or against it: time is added up from here. It does not move while the condition of
   * a firing alert is met.
   */
  readonly evidenceAt: Instant;
  /** The time at which it began to fire; 0 while pending. */
  readonly firedAt: Instant;
  /** For how long sweeps have said nothing for or against it, pauses not counted, ms. */
  readonly unknownMs?: number | undefined;
  /** The condition that was last met, where that is known: the rule may have been changed since. */
  readonly met?: string | undefined;
  /** Frozen from pending until resolved. */
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly facts: AlertFacts;
}

/** Names and zones, as far as they are known. */
export interface Inventory {
  recording(id: string): Recording | undefined;
  location(id: string): Location | undefined;
  /** Another number after each change of a recording; not there where that is not known. */
  revision?(): number;
  /** Makes names of these recordings known; not there where all are. */
  know?(ids: Iterable<string>): Promise<void>;
}

/** The whole fleet at a moment, for exposition, status page and digests. */
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

/** Parts that are read of a fleet beside the states of recordings. */
export interface FleetParts {
  /** `one`: of one recording of each location, and those not in the last answer; of all unless given. */
  readonly names?: "one" | undefined;
  /** Figures of uptime; true unless given. */
  readonly figures?: boolean;
}

/** The parts for lists of locations and alerts. */
export const STATES: FleetParts = { names: "one", figures: false };

/** Rows between two yields of a walk over the fleet. */
export const ROWS_PER_STEP = 256;

/** The status of a recording at `now`: `unknown` without a good reading in 3 intervals. */
export function currentStatus(
  state: Pick<RecordingState, "status" | "readAt">,
  now: Instant,
  statusIntervalMs: number,
): RecordingStatus {
  if (state.status === undefined) return "unknown";
  return now - state.readAt > GAP_INTERVALS * statusIntervalMs ? "unknown" : state.status;
}

/**
 * Every recording once, by id; yields every ROWS_PER_STEP rows. While a location moves between shards a
 * recording can stand in both: the later reading counts.
 */
export function* recordingsById(
  fleet: Pick<FleetSnapshot, "shards">,
): Generator<void, ReadonlyMap<string, RecordingState>> {
  const byId = new Map<string, RecordingState>();
  let rows = 0;
  for (const shard of fleet.shards) {
    for (const [id, state] of shard.recordings) {
      const other = byId.get(id);
      if (!other || other.readAt < state.readAt) byId.set(id, state);
      if (++rows % ROWS_PER_STEP === 0) yield;
    }
  }
  return byId;
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
  return {
    id: previous?.id ?? reading.recordingId,
    locationId,
    status,
    readAt: now,
    since: sinceWhen(previous, reading, now),
    lastSeenAt,
    onlineSeenAt: status === "offline" ? previous?.onlineSeenAt : (lastSeenAt ?? previous?.onlineSeenAt),
    averageQuality: reading.averageQuality,
    presentAt: now,
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
  if (previous) return { ...previous, locationId, presentAt: now };
  return {
    id,
    locationId,
    status: undefined,
    readAt: 0,
    since: now,
    lastSeenAt: undefined,
    onlineSeenAt: undefined,
    averageQuality: undefined,
    presentAt: now,
    history: undefined,
    alerts: undefined,
  };
}

/**
 * Since when it has the reading's status. A recording seen offline went offline at its `last_seen_utc`, unless that
 * contradicts an earlier reading (before the last online contact) or the clock (in the future).
 */
export function sinceWhen(
  previous: Pick<RecordingState, "status" | "since" | "onlineSeenAt"> | undefined,
  { status, lastSeenAt }: Pick<Reading, "status" | "lastSeenAt">,
  now: Instant,
): Instant {
  if (previous && previous.status === status) return previous.since;
  if (status !== "offline" || lastSeenAt === undefined || lastSeenAt <= 0) return now;
  if (lastSeenAt > now + CLOCK_TOLERANCE_MS) return now;
  if (previous?.onlineSeenAt !== undefined && lastSeenAt < previous.onlineSeenAt) return now;
  return Math.min(lastSeenAt, now);
}
