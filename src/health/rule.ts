/** Alerting rules as the configuration's `rules:` has them; ratios 0–1, durations in ms. */
import type { ProblemKind } from "./problem-kinds.ts";
import { kindOf, type RecordingCondition, watchesRecordings } from "./recording-conditions.ts";

export type Condition =
  | RecordingCondition
  | {
      readonly kind: "location_offline";
      readonly atLeast: number;
      readonly clearBelow: number;
      readonly minRecordings: number;
    }
  | { readonly kind: "service"; readonly state: "unreachable" | "partly_unreachable" }
  | { readonly kind: "notifications"; readonly state: "failing" };

export interface Rule {
  /** What an alert's identity is made of: the alert's name, with `#2` … where several rules share one. */
  readonly id: string;
  /** The value of the label `alertname`. */
  readonly alert: string;
  readonly when: Condition;
  readonly forMs: number;
  readonly keepFiringForMs: number;
  /** Nothing begins, goes on or ends outside a recording's uploading schedule. */
  readonly respectSchedule: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What an alert of such a rule says is wrong. */
export function problemOf(when: Condition): ProblemKind {
  if (watchesRecordings(when)) return kindOf(when).problem(when);
  switch (when.kind) {
    case "service":
      return `service_${when.state}`;
    case "notifications":
      return "notifications_failing";
    default:
      return when.kind;
  }
}
