/** Rules as the configuration's `rules:` has them (ratios 0–1, durations in ms), and the attempts to read something. */
import type { Instant } from "../lib/clock.ts";
import type { GroupLabel, Labels } from "./alert.ts";

export type Threshold = { readonly below: number; readonly clearAbove: number };

/** Ratios 0–1, durations in ms. */
export type RecordingCondition =
  /** Weighted shares of the last states that changed: begins at `high`, ends at `low`, which is less. */
  | { readonly kind: "flapping"; readonly high: number; readonly low: number }
  | { readonly kind: "status"; readonly status: "offline" | "degraded" }
  | ({ readonly kind: "average_quality" } & Threshold)
  | ({ readonly kind: "overall_uptime"; readonly overMs: number } & Threshold)
  /** Online, and of the segments expected in the last full buckets hardly any arrived. */
  | ({ readonly kind: "segments_received"; readonly overMs: number } & Threshold)
  /** Online, and `last_seen_utc` is older. */
  | { readonly kind: "last_seen"; readonly olderThanMs: number }
  | CountsCondition
  | { readonly kind: "missing" };

/** `low`: hardly anything is counted where people are; `high`: people are counted where nobody is. */
export interface CountsCondition {
  readonly kind: "counts";
  readonly implausible: "low" | "high";
  /** Visits missing, or too many, before the condition is met. */
  readonly sensitivity: number;
}

export type Condition =
  | RecordingCondition
  | {
      readonly kind: "location_offline";
      readonly atLeast: number;
      readonly clearBelow: number;
      readonly minRecordings: number;
    }
  | GroupCondition
  | { readonly kind: "counts_together" }
  | { readonly kind: "service"; readonly state: "unreachable" | "partly_unreachable" }
  | { readonly kind: "notifications"; readonly state: "failing" }
  | { readonly kind: "directory"; readonly state: "stale" };

/** Recordings of any location that share a label. */
interface GroupCondition {
  readonly kind: "group_offline";
  readonly by: GroupLabel;
  readonly atLeast: number;
  readonly clearBelow: number;
  readonly minRecordings: number;
}

export type GroupRule = Rule & { readonly when: GroupCondition };

export interface Rule {
  /** The rule in an alert's identity: the alert's name, with `#2` … where that was given to another rule. */
  readonly id: string;
  /** The value of the label `alertname`. */
  readonly alert: string;
  readonly when: Condition;
  readonly forMs: number;
  readonly keepFiringForMs: number;
  /** Outside a recording's uploading schedule its alerts neither begin nor end, and no time adds up. */
  readonly respectSchedule: boolean;
  readonly labels: Labels;
  readonly annotations: Labels;
}

/**
 * The state of requests for one thing. 0 where there was none; `error`: why the last one failed, or with an equally new
 * `goodAt` why a part of it was not understood, without secrets.
 */
export interface Attempt {
  readonly goodAt: Instant;
  readonly attemptedAt: Instant;
  readonly error?: string | undefined;
  /** A failure that is not the service's: what is stored cannot be read, or lenswatch failed with the answer. */
  readonly fault?: "unreadable" | "internal" | undefined;
  /** Since when the fleet is watched without a pause, or a shard is known here. */
  readonly since?: Instant | undefined;
  /** The time between good readings of a shard, ms, where more than one of the last was too late. */
  readonly lateMs?: number | undefined;
  /** Recordings of a shard; of its uptime those online of which segments were expected. */
  readonly known?: number | undefined;
  /** Known recordings that the answer lacks; of uptime those of which hardly any segments came. */
  readonly absent?: number | undefined;
  /**
   * Known recordings without a good reading in time, for another reason than that the answer lacks them, and locations
   * without an answer of which none is known.
   */
  readonly stale?: number | undefined;
  /** When recordings with alerts, and locations, were read that the last good sweep did not read, by id. */
  readonly unread?: Readonly<Record<string, Instant>> | undefined;
  /** The last good sweep that counted other groups than the one before, and wrote them. */
  readonly groupsAt?: Instant | undefined;
}
