/**
 * What one sweep stores and the next one starts from. One ShardState has the recordings of a shard's locations with
 * their pending and firing alerts. Never mutated: an evaluation gives a new one.
 */

import type { Instant } from "../lib/clock.ts";
import type { AlertFacts, Labels } from "./alert.ts";
import type { Location, Recording, RecordingStatus } from "./recording.ts";

export interface ShardState {
  /** When the last good sweep was evaluated; 0 before the first. */
  readonly sweptAt: Instant;
  readonly recordings: ReadonlyMap<string, RecordingState>;
  readonly locations: ReadonlyMap<string, LocationState>;
}

export interface RecordingState {
  readonly id: string;
  readonly locationId: string;
  /** Of the last good reading; undefined while there has been none (then `readAt` is 0). */
  readonly status: Exclude<RecordingStatus, "unknown"> | undefined;
  /** When the last good reading was taken. */
  readonly readAt: Instant;
  /** Since when it has that status. */
  readonly since: Instant;
  /** `last_seen_utc` of the last good reading. */
  readonly lastSeenAt: Instant | undefined;
  /** `last_seen_utc` of the last online or degraded reading. */
  readonly onlineSeenAt: Instant | undefined;
  readonly averageQuality: number | undefined;
  /** When a row for it, readable or not, was last in a snapshot; moved on by time without sweeps. */
  readonly presentAt: Instant;
  /** Its last states; undefined where they are all the same, as most recordings' are. */
  readonly history?: StateHistory | undefined;
  /** By rule id. Undefined instead of empty: most recordings have none. */
  readonly alerts: AlertStates | undefined;
}

/** The last states of a recording whose status changes, at most 21 in all. */
export interface StateHistory {
  /** When the newest was taken. */
  readonly sampledAt: Instant;
  /** Oldest first, neighbours differ. */
  readonly stretches: readonly StatusStretch[];
}

/** The same state several times in a row. */
export interface StatusStretch {
  readonly status: NonNullable<RecordingState["status"]>;
  /** When the first of them was taken. */
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
  /** When there was last evidence for or against it: time is added up from here. */
  readonly evidenceAt: Instant;
  /** When it began to fire; 0 while pending. */
  readonly firedAt: Instant;
  /** Frozen from pending until resolved. */
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly facts: AlertFacts;
}

/** Names and zones, as far as they are known. */
export interface Inventory {
  recording(id: string): Recording | undefined;
  location(id: string): Location | undefined;
}

/** The whole fleet at a moment, for exposition, status page and digests. */
export interface FleetSnapshot {
  readonly now: Instant;
  /** `watch.status_interval`, ms: a reading older than three of these counts as unknown. */
  readonly statusIntervalMs: number;
  readonly shards: readonly ShardState[];
  readonly inventory: Inventory;
  /** Ratio 0–1 over the window, undefined where there is no figure. */
  overallUptime(recordingId: string, windowMs: number): number | undefined;
}
