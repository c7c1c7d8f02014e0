/** Rules by subject, and the problems, labels and annotations of their alerts. */
import type { GeneratedAnnotation, Labels, ProblemKind } from "./alert.ts";
import type { Condition, RecordingCondition, Rule } from "./model.ts";
import { kindOf, recordingKinds, watchesRecordings } from "./recording-conditions.ts";
import type { Figure } from "./uptime.ts";

const conditionTexts = new WeakMap<Condition, string>();

/** The condition as it is stored with an alert, to see later whether the rule was changed; written once for each rule. */
export function conditionText({ when }: Rule): string {
  const text = conditionTexts.get(when) ?? JSON.stringify(when);
  conditionTexts.set(when, text);
  return text;
}

/** The problem that an alert of a rule with this condition is about. */
export function problemKindOf(when: Condition): ProblemKind {
  if (watchesRecordings(when)) return kindOf(when).problem(when);
  if (when.kind === "service") return `service_${when.state}`;
  if (when.kind === "group_offline") return `${when.by}_offline`;
  if (when.kind === "directory") return "directory_stale";
  return when.kind === "notifications" ? "notifications_failing" : when.kind;
}

/** The subject's labels under the rule's own, `alertname` on top; empty labels do not exist. */
export function alertLabels(rule: Rule, subject: Readonly<Record<string, string | undefined>>): Labels {
  const all = { ...subject, ...rule.labels, alertname: rule.alert };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]));
}

/** The rule's own annotations over a generated `summary` and `description`. Plain text, no markup. */
export function alertAnnotations(
  rule: Rule,
  [summary, description]: readonly [summary: string, description: string],
): Labels {
  return { summary, description, ...rule.annotations };
}

/** The given annotations that are generated, because the rule sets none of that name. */
export function generatedOf(rule: Rule, names: readonly GeneratedAnnotation[]): GeneratedAnnotation[] {
  return names.filter((name) => !Object.hasOwn(rule.annotations, name));
}

/** The highest `below` of the rules on a figure, 0–1; undefined without such a rule. */
export function highestThreshold(rules: readonly Rule[], kind: Condition["kind"]): number | undefined {
  const all = rules.flatMap(({ when }) => (when.kind === kind && "below" in when ? [when.below] : []));
  return all.length === 0 ? undefined : Math.max(...all);
}

/** The rules by subject, and what makes a recording worth evaluating. */
export function compileRules(rules: readonly Rule[]) {
  const ofKind = (kind: Condition["kind"]) => rules.filter(({ when }) => when.kind === kind);
  const conditions = rules.map(({ when }) => when);
  const floors = conditions.map((when) => (when.kind === "average_quality" ? when.below : -Infinity));
  const flapping = ofKind("flapping");
  return {
    /** In the order of their evaluation. */
    recording: (Object.keys(recordingKinds) as RecordingCondition["kind"][]).flatMap(ofKind),
    location: [...ofKind("location_offline"), ...ofKind("counts")],
    /** Labels that recordings are counted by. */
    groups: new Set(conditions.flatMap((when) => (when.kind === "group_offline" ? [when.by] : []))),
    /** No online recording with at least this quality is of interest; −Infinity without such a rule. */
    qualityFloor: Math.max(...floors, -Infinity),
    /** Figures of uptime and segments below which there is something to evaluate. */
    figures: conditions.flatMap((when): { figure: Figure; below: number }[] => {
      if (when.kind === "segments_received") return [{ figure: `online-${when.overMs}`, below: when.below }];
      return when.kind === "overall_uptime" ? [{ figure: when.overMs, below: when.below }] : [];
    }),
    /** An online recording whose last contact is not older than this is of no interest, ms. */
    lastSeenMs: Math.min(...conditions.map((when) => (when.kind === "last_seen" ? when.olderThanMs : Infinity))),
    /** Ids of those about recordings that deliver nothing, for long or again and again. */
    outages: rules.flatMap(({ id, when }) =>
      ["flapping", "segments_received"].includes(when.kind) || (when.kind === "status" && when.status === "offline")
        ? [id]
        : [],
    ),
    counts: conditions.flatMap((when) => (when.kind === "counts" ? [when] : [])),
    watchesMissing: ofKind("missing").length > 0,
    watchesFlapping: flapping.length > 0,
    /** Some rule on flapping does not respect schedules. */
    flapsOutsideSchedule: flapping.some(({ respectSchedule }) => !respectSchedule),
  };
}
