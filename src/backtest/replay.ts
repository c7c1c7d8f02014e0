/** The daemon's rules over spans without changes; only sweeps that can change an alert are replayed. */

import { type AlertStates, settlesAt } from "../health/alert-machine.ts";
import { applyRules, type Evaluator } from "../health/apply-rules.ts";
import type { Outcomes, Transition } from "../health/evaluation.ts";
import type { Rule } from "../health/model.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import type { Instant } from "../lib/clock.ts";
import { type TimeSpan, tickBefore, tickFrom } from "./setup.ts";

/** Consecutive sweeps with the same input. Spans follow each other without a gap. */
export interface SteadySpan {
  readonly from: Instant;
  readonly to: Instant;
  /** No rule's condition holds. */
  readonly isClear: boolean;
  evaluator(now: Instant): Evaluator;
}

/** The changes at each sweep that has any, and the last sweep before the next of these. */
export function* changesBySweep<Change extends { readonly at: Instant }>(
  changes: readonly Change[],
  span: TimeSpan,
  intervalMs: number,
): Generator<Pick<SteadySpan, "from" | "to"> & { readonly changes: readonly Change[] }> {
  const bySweep = [...Map.groupBy(changes, ({ at }) => at)].sort(([a], [b]) => a - b);
  for (const [i, [from, here]] of bySweep.entries()) {
    const next = bySweep[i + 1]?.[0];
    yield { from, to: next === undefined ? tickBefore(span.to, intervalMs) : next - intervalMs, changes: here };
  }
}

/** The transitions of one subject's alerts, in order of time. */
export function replayRules(
  spans: Iterable<SteadySpan>,
  rules: readonly Rule[],
  intervalMs: number,
): readonly Transition[] {
  const byId = new Map(rules.map((rule) => [rule.id, rule]));
  const transitions: Transition[] = [];
  let alerts: AlertStates | undefined;

  for (const span of spans) {
    if (!alerts && span.isClear) continue;
    sweep(span, span.from, GAP_INTERVALS * intervalMs);
    let last = span.from;
    for (let due = next(last); due <= span.to; due = next(last)) {
      sweep(span, due, Number.POSITIVE_INFINITY);
      last = due;
    }
    // Elapsed time counts up to here, even if the next status is unknown.
    if (alerts && last < span.to) sweep(span, span.to, Number.POSITIVE_INFINITY);
  }
  return transitions;

  function sweep({ evaluator }: SteadySpan, now: Instant, maxGapMs: number): void {
    const out: Outcomes = { transitions, decisions: [] };
    alerts = applyRules(evaluator(now), alerts, rules, { now, maxGapMs }, out);
  }

  /** The next sweep after `last` at which an alert may fire or resolve without a change of input. */
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
