/** Evaluates the analytics service by how old the evidence is: unreachable where hardly any recording is read, else partly. */

import type { Subject } from "./alert.ts";
import type { Evaluator } from "./apply-rules.ts";
import type { Attempt } from "./attempt.ts";
import { type DirectoryLookup, describedBy } from "./directory.ts";
import type { Evidence, EvidenceMoment } from "./evidence.ts";
import type { Rule } from "./model.ts";
import { GAP_INTERVALS } from "./rhythm.ts";
import { alertAnnotations, alertLabels, generatedOf } from "./rule.ts";
import { evidenceWords, unreadAttempts } from "./self-words.ts";

/** The analytics service, as alerts and decisions name it. */
export const serviceSubject: Subject = { kind: "service", id: "analytics" };

/** `health`: of `GET /v1/status`. */
export function serviceEvaluator(
  evidence: Evidence,
  health: Attempt | undefined,
  context: EvidenceMoment,
  inventory: DirectoryLookup = {},
): Evaluator {
  const { now } = context;
  const old = unreadAttempts(evidence);
  const isAsked = ({ attemptedAt }: Attempt) => now - attemptedAt <= GAP_INTERVALS * context.intervalMs;
  const wordsFor = (rule: Rule) => evidenceWords(isUnreachable(rule), evidence, context, health);
  return {
    subject: serviceSubject,
    evidence: (rule) => (isUnreachable(rule) ? isGone(evidence) : isPartlyGone(evidence)),
    // Until every shard was asked again, recordings of the others have only the state of before.
    defersResolve: (rule, clearingSince) =>
      isUnreachable(rule) && old.some((one) => isAsked(one) && one.attemptedAt < clearingSince),
    startsAt: (rule) => wordsFor(rule).since,
    facts(rule) {
      const { detail, isNamed } = wordsFor(rule);
      return { timezone: "UTC", detail, restated: isNamed ? [] : generatedOf(rule, ["summary"]) };
    },
    describe(rule) {
      const { summary, text } = wordsFor(rule);
      const { labels, shops } = describedBy(inventory, inventory.locationsOf?.());
      const annotations = alertAnnotations(rule, [summary, text]);
      return { labels: alertLabels(rule, labels), ...(shops && { shops }), annotations };
    },
  };
}

function isUnreachable({ when }: Rule): boolean {
  return when.kind === "service" && when.state === "unreachable";
}

function isGone({ state }: Evidence): boolean | undefined {
  return state === "unknown" ? undefined : state === "unreachable";
}

/** No part has recovered where all is unreachable; while it is still read now and then, it is partly so as well. */
function isPartlyGone({ state, isRare }: Evidence): boolean | undefined {
  if (state === "unreachable") return isRare || undefined;
  return state === "unknown" ? undefined : state === "partly";
}
