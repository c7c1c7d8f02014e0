/** Evaluates rules about the counts of a location or a group; those about its recordings are left to another evaluator. */

import type { Instant } from "../lib/clock.ts";
import { EVIDENCE_WAIT_MS, type Evaluator } from "./apply-rules.ts";
import { type CountsTogether, countsEndReason, countsText, describeCounts, togetherText } from "./counts.ts";
import type { EvaluationContext } from "./evaluation.ts";
import type { Rule } from "./model.ts";
import { alertAnnotations, generatedOf } from "./rule.ts";

export function withCounts(
  evaluator: Evaluator,
  { counts, now, inventory }: Pick<EvaluationContext, "counts" | "now" | "inventory">,
): Evaluator {
  const { id } = evaluator.subject;
  const isOwn = ({ when }: Rule) => when.kind === "counts";
  const found = ({ when }: Rule) => (when.kind === "counts" ? counts?.(when, "location", id) : undefined);
  const name = inventory.location(id)?.name || id;
  return {
    ...evaluator,
    evidence: (rule, firing) => (isOwn(rule) ? found(rule)?.met : evaluator.evidence(rule, firing)),
    endReason: (rule) => countsEndReason(found(rule)),
    endsAfterMs: (rule) => evaluator.endsAfterMs?.(rule) ?? (isOwn(rule) ? EVIDENCE_WAIT_MS : undefined),
    isPaused: (rule) => !isOwn(rule) && evaluator.isPaused?.(rule) === true,
    startsAt: (rule) => (isOwn(rule) ? (found(rule)?.counts?.since ?? now) : evaluator.startsAt(rule)),
    facts(rule) {
      const facts = evaluator.facts(rule);
      if (!isOwn(rule)) return facts;
      const { timezone } = facts;
      const shown = found(rule)?.counts;
      const restated = generatedOf(rule, ["summary", "description"]);
      return { timezone, restated, detail: shown && countsText(name, shown, { now, timezone }) };
    },
    describe(rule, startsAt) {
      const described = evaluator.describe(rule, startsAt);
      if (rule.when.kind !== "counts") return described;
      const annotations = alertAnnotations(rule, describeCounts(name, found(rule)?.counts, now));
      return { ...described, annotations };
    },
  };
}

/** `found`: what is known of the group; `isKnown`: where it is nothing, that its counts did not drop. */
export function withTogether(
  evaluator: Evaluator,
  name: string,
  { found, isKnown, now }: { found: CountsTogether | undefined; isKnown: boolean; now: Instant },
): Evaluator {
  const isOwn = ({ when }: Rule) => when.kind === "counts_together";
  return {
    ...evaluator,
    evidence: (rule, firing) =>
      isOwn(rule) ? (isKnown ? found !== undefined : undefined) : evaluator.evidence(rule, firing),
    isPaused: (rule) => !isOwn(rule) && evaluator.isPaused?.(rule) === true,
    startsAt: (rule) => (isOwn(rule) ? (found?.since ?? now) : evaluator.startsAt(rule)),
    facts(rule) {
      const facts = evaluator.facts(rule);
      if (!isOwn(rule)) return facts;
      const { timezone } = facts;
      const restated = generatedOf(rule, ["summary"]);
      return { timezone, restated, detail: found && togetherText(found, { now, timezone }) };
    },
    describe(rule, startsAt) {
      const described = evaluator.describe(rule, startsAt);
      if (!isOwn(rule)) return described;
      const why =
        "Most of its locations count less than usual at once, so no camera is at fault: a holiday, the weather, or the service.";
      return { ...described, annotations: alertAnnotations(rule, [`Counts dropped together: ${name}`, why]) };
    },
  };
}
