/**
 * Verdicts of matchers on alerts, each pair asked once: both are frozen. Patterns and labels are bounded, but not their
 * product, so a look at external alerts has a budget; what it leaves is asked by the next look.
 */
import type { Alert } from "../health/alert.ts";
import { own } from "../lib/own.ts";
import { type Matcher, matchersCost } from "./matcher.ts";
import { matchesAny, type Viewed } from "./views.ts";

/** Parts of patterns times characters of labels. */
export type MatchingBudget = { left: number };

/** Matched within about 0.4 s. */
export const lookBudget = (): MatchingBudget => ({ left: 10_000_000 });

interface Verdicts {
  /** Label names of the patterns, and their parts. */
  readonly patterns: readonly (readonly [name: string, parts: number])[];
  /** By the id of an episode. */
  readonly byAlert: Map<string, boolean>;
}

const known = new WeakMap<readonly Matcher[], Verdicts>();

function verdictsOf(matchers: readonly Matcher[]): Verdicts {
  const found = known.get(matchers);
  if (found) return found;
  const costs = matchers.map((matcher) => [matcher.name, matchersCost([matcher])] as const);
  const verdicts = { patterns: costs.filter(([, parts]) => parts > 0), byAlert: new Map() };
  known.set(matchers, verdicts);
  return verdicts;
}

/** The answer of the matchers for any of its shops; undefined where it is not known and the budget is spent. */
export function isMatched(
  matchers: readonly Matcher[],
  alert: Viewed & Pick<Alert, "id">,
  budget?: MatchingBudget,
): boolean | undefined {
  const { id, labels } = alert;
  const { patterns, byAlert } = verdictsOf(matchers);
  if (patterns.length === 0) return matchesAny(matchers, alert);
  const verdict = byAlert.get(id);
  if (verdict !== undefined) return verdict;
  const work = patterns.reduce((sum, [name, parts]) => sum + parts * (own(labels, name)?.length ?? 0), 0);
  if (budget && work > budget.left) return undefined;
  if (budget) budget.left -= work;
  const answer = matchesAny(matchers, alert);
  byAlert.set(id, answer);
  return answer;
}

/** Forgets the alerts that fire no more, once they are most of those remembered. */
export function forgetVerdicts(all: readonly (readonly Matcher[])[], firing: readonly Alert[]): void {
  const large = all.flatMap((matchers) => known.get(matchers)?.byAlert ?? []);
  const stale = large.filter(({ size }) => size > 2 * firing.length + 1_000);
  if (stale.length === 0) return;
  const ids = new Set(firing.map(({ id }) => id));
  for (const byAlert of stale) for (const id of byAlert.keys()) if (!ids.has(id)) byAlert.delete(id);
}
