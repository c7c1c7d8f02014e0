/**
 * What a sweep knew and the next one starts from. One ShardState holds the recordings of a shard's locations
 * with their pending and firing alerts. Never mutated: a judgement gives a new one, and a write that loses its
 * race leaves the old one as it was.
 */

import type { Instant } from "../lib/clock.ts";
import type { AlertFacts, Labels } from "./alert.ts";
import type { Location, Recording, RecordingStatus } from "./recording.ts";

export interface ShardState {
  /** When the last good sweep ended in a judgement; 0 before the first. */
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
  /** Since when it has that status (architecture: "Since when"). */
  readonly since: Instant;
  /** `last_seen_utc` of the last good reading. */
  readonly lastSeenAt: Instant | undefined;
  /** `last_seen_utc` of the last online or degraded reading. */
  readonly onlineSeenAt: Instant | undefined;
  readonly averageQuality: number | undefined;
  /** When a row for it, readable or not, was last in a snapshot; moved on by time in which nobody looked. */
  readonly presentAt: Instant;
  /** Its last states; undefined where they are all the same, as most recordings' are. */
  readonly history?: StateHistory | undefined;
  /** By rule id. Undefined instead of empty: most recordings have none. */
  readonly alerts: AlertStates | undefined;
}

/** The last states of a recording that does not rest, at most 21 in all. */
export interface StateHistory {
  /** When the newest was taken. */
  readonly sampledAt: Instant;
  /** Oldest first, neighbours differ. */
  readonly stretches: readonly Stretch[];
}

/** The same state several times in a row. */
export interface Stretch {
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

/** One rule at one subject, while its condition holds or held a moment ago. Inactive is absence. */
export interface AlertState {
  readonly state: "pending" | "firing";
  /** Since when the problem is there, for display and durations. */
  readonly startsAt: Instant;
  /**
   * pending: time the condition has held, ms. firing: 0 while it holds, else 1 more than the time it has not held,
   * ms (against `keep_firing_for`).
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
