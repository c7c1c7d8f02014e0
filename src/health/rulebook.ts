/** The rules by what they speak of, and what makes a recording worth a second look. */
import type { Condition, ConditionKind, Rule } from "./rule.ts";

/** In the order they are judged in: whether it flaps decides what becomes of the others. */
const RECORDING_KINDS: readonly ConditionKind[] = [
  "flapping",
  "status",
  "average_quality",
  "overall_uptime",
  "missing",
];

export interface Rulebook {
  readonly recording: readonly Rule[];
  readonly location: readonly Rule[];
  /** No online recording with at least this quality is of interest; −Infinity without such a rule. */
  readonly qualityFloor: number;
  readonly uptimes: readonly { readonly below: number; readonly overMs: number }[];
  readonly watchesMissing: boolean;
  readonly watchesFlapping: boolean;
  /** Some rule on flapping does not respect schedules. */
  readonly flapsOutsideSchedule: boolean;
}

export function compileRules(rules: readonly Rule[]): Rulebook {
  const conditions = rules.map(({ when }) => when);
  return {
    recording: RECORDING_KINDS.flatMap((kind) => rules.filter(({ when }) => when.kind === kind)),
    location: rules.filter(({ when }) => when.kind === "location_offline"),
    qualityFloor: Math.max(
      ...conditions.map((when) => (when.kind === "average_quality" ? when.below : Number.NEGATIVE_INFINITY)),
      Number.NEGATIVE_INFINITY,
    ),
    uptimes: conditions.filter(isUptime),
    watchesMissing: conditions.some(({ kind }) => kind === "missing"),
    watchesFlapping: conditions.some(({ kind }) => kind === "flapping"),
    flapsOutsideSchedule: rules.some(
      ({ when, respectSchedule }) => when.kind === "flapping" && !respectSchedule,
    ),
  };
}

function isUptime(when: Condition): when is Extract<Condition, { kind: "overall_uptime" }> {
  return when.kind === "overall_uptime";
}
