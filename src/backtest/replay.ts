/**
 * The daemon's own rules over stretches of time in which nothing changes. Of the sweeps in such a stretch only those
 * are replayed that can make a difference: its first, its last, and those at which a `for` or a `keep_firing_for` is
 * over.
 */

import { settlesAt } from "../health/alert-machine.ts";
import { applyRules, type Evaluator } from "../health/apply-rules.ts";
import type { Outcomes, Transition } from "../health/evaluation.ts";
import { GAP_INTERVALS } from "../health/judge.ts";
import type { Rule } from "../health/rule.ts";
import type { AlertStates } from "../health/shard-state.ts";
import type { Instant } from "../lib/clock.ts";
import { tickFrom } from "./setup.ts";

/** Sweeps that all see the same. Stretches follow each other without a gap. */
export interface Stretch {
  /** The first sweep and the last. */
  readonly from: Instant;
  readonly to: Instant;
  /** No rule's condition holds. */
  readonly isQuiet: boolean;
  evaluator(now: Instant): Evaluator;
}

/** What the rules would have done about one subject, in order of time. */
export function replayRules(
  stretches: Iterable<Stretch>,
  rules: readonly Rule[],
  intervalMs: number,
): readonly Transition[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const transitions: Transition[] = [];
  let alerts: AlertStates | undefined;

  for (const stretch of stretches) {
    if (!alerts && stretch.isQuiet) continue;
    sweep(stretch, stretch.from, GAP_INTERVALS * intervalMs);
    let last = stretch.from;
    for (let due = next(last); due <= stretch.to; due = next(last)) {
      sweep(stretch, due, Number.POSITIVE_INFINITY);
      last = due;
    }
    // Time is added up from here, should nobody be able to tell what comes next.
    if (alerts && last < stretch.to) sweep(stretch, stretch.to, Number.POSITIVE_INFINITY);
  }
  return transitions;

  function sweep({ evaluator }: Stretch, now: Instant, maxGapMs: number): void {
    const out: Outcomes = { transitions, decisions: [] };
    alerts = applyRules(evaluator(now), alerts, rules, { now, maxGapMs }, out);
  }

  /** The next sweep after `last` at which an alert may begin or end though nothing changes. */
  function next(last: Instant): Instant {
    let soonest = Number.POSITIVE_INFINITY;
    for (const [id, state] of Object.entries(alerts ?? {})) {
      const rule = byId.get(id);
      const due = rule && settlesAt(state, rule);
      if (due === undefined) continue;
      const tick = tickFrom(due, intervalMs);
      if (tick > last) soonest = Math.min(soonest, tick);
    }
    return soonest;
  }
}
