/** Rules as the configuration's `rules:` has them: ratios 0–1, durations in ms. */
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

/** Hardly anything is counted where people are. */
export interface CountsCondition {
  readonly kind: "counts";
  /** Visits missing before the condition is met. */
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
