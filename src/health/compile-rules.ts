/** The rules by what they speak of, and what makes a recording worth a second look. */
import { kindOf, recordingKinds, watchesRecordings } from "./recording-conditions.ts";
import type { Condition, Rule } from "./rule.ts";

export interface CompiledRules {
  /** In the order they are judged in. */
  readonly recording: readonly Rule[];
  readonly location: readonly Rule[];
  /** Some rule has to look at recordings that are online as before, too. */
  readonly looksAtAll: boolean;
  /** No online recording with at least this quality is of interest; −Infinity without such a rule. */
  readonly qualityFloor: number;
  readonly uptimes: readonly { readonly below: number; readonly overMs: number }[];
  readonly watchesMissing: boolean;
  readonly watchesFlapping: boolean;
  /** Some rule on flapping does not respect schedules. */
  readonly flapsOutsideSchedule: boolean;
}

export function compileRules(rules: readonly Rule[]): CompiledRules {
  const conditions = rules.map(({ when }) => when);
  return {
    recording: Object.keys(recordingKinds).flatMap((kind) => rules.filter(({ when }) => when.kind === kind)),
    location: rules.filter(({ when }) => when.kind === "location_offline"),
    looksAtAll: conditions.some((when) => watchesRecordings(when) && !kindOf(when).isIdleWhileWell),
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
