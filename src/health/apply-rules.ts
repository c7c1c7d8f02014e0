/** The rules applied to one subject: its alerts move, and what moved is written down. */
import type { Instant } from "../lib/clock.ts";
import { type Alert, type AlertFacts, alertKey, type EndReason, type Labels } from "./alert.ts";
import { type Progress, type Step, step } from "./alert-machine.ts";
import type { DecisionReason, Outcomes, Subject } from "./evaluation.ts";
import { problemOf, type Rule } from "./rule.ts";
import type { AlertState, AlertStates } from "./shard-state.ts";

/** What is known of a subject now; asked only for what is needed. */
export interface Evaluator {
  readonly subject: Subject;
  /** Does the rule's condition hold? Undefined: nobody can tell. A firing alert has its own threshold. */
  evidence(rule: Rule, firing: boolean): boolean | undefined;
  /** Since when the problem is there, asked when the condition begins to hold. */
  startsAt(rule: Rule): Instant;
  facts(rule: Rule): AlertFacts;
  /** Whether the rule has nothing to say at this time: what is there waits. */
  isPaused?(rule: Rule): boolean;
  /** Whether a firing alert does not end yet, though its condition has been over since then. */
  defersResolve?(rule: Rule, overSince: Instant): boolean;
  describe(rule: Rule, startsAt: Instant): { readonly labels: Labels; readonly annotations: Labels };
}

export interface Moment {
  readonly now: Instant;
  /** Longest time between two good readings that counts, ms. */
  readonly maxGapMs: number;
}

/**
 * The subject's alerts after this moment; undefined when it has none. Alerts of rules not given end. Rules on
 * flapping come first.
 */
export function applyRules(
  evaluator: Evaluator,
  previous: AlertStates | undefined,
  rules: readonly Rule[],
  moment: Moment,
  out: Outcomes,
): AlertStates | undefined {
  const next: [string, AlertState][] = [];
  const flapped: (AlertState | undefined)[] = [];
  const flaps: (AlertState | undefined)[] = [];
  for (const rule of rules) {
    const state = alertState(previous, rule.id);
    const { firedAt } = state ?? { firedAt: 0 };
    const isFlapping = isSingleOutage(rule) && isAmong(flaps, firedAt);
    const isSteady = isSingleOutage(rule) && !isFlapping && isAmong(flapped, firedAt);
    const deferResolve = isFlapping || !!evaluator.defersResolve?.(rule, overSince(state, moment));
    const settled = isSteady ? { ...rule, keepFiringForMs: 0 } : rule;
    const moved = applyRule(evaluator, state, settled, { ...moment, deferResolve }, out);
    if (moved) next.push([rule.id, moved]);
    if (rule.when.kind !== "flapping") continue;
    flapped.push(state);
    flaps.push(moved);
  }
  if (previous) endRemoved(evaluator.subject, previous, rules, moment.now, out);
  return next.length > 0 ? Object.fromEntries(next) : undefined;
}

/** Since when the condition of a firing alert has been over, if it is now. */
function overSince(state: AlertState | undefined, { now }: Moment): Instant {
  return state && state.elapsedMs > 0 ? state.evidenceAt - (state.elapsedMs - 1) : now;
}

/**
 * What was offline before it began to flap, and may have been told, is not back because it is online for a moment:
 * it ends with the flapping, in the same write, so that one message says both.
 */
function isSingleOutage({ when }: Rule): boolean {
  return when.kind === "status";
}

/** Whether one of these fires, or fired, on what was there before. */
function isAmong(flapping: readonly (AlertState | undefined)[], firedAt: Instant): boolean {
  return flapping.some((one) => one?.state === "firing" && firedAt > 0 && firedAt < one.firedAt);
}

/** Ends every alert of a subject that is judged no more. */
export function endAlerts(
  subject: Subject,
  alerts: AlertStates | undefined,
  endReason: EndReason & DecisionReason,
  now: Instant,
  out: Outcomes,
): void {
  for (const [ruleId, state] of Object.entries(alerts ?? {})) {
    endAlert(subject, ruleId, state, endReason, now, out);
  }
}

/** Ends the alerts whose rule is gone. */
function endRemoved(
  subject: Subject,
  alerts: AlertStates,
  rules: readonly Rule[],
  now: Instant,
  out: Outcomes,
): void {
  for (const [ruleId, state] of Object.entries(alerts)) {
    if (rules.some(({ id }) => id === ruleId)) continue;
    endAlert(subject, ruleId, state, "rule_removed", now, out);
  }
}

function endAlert(
  subject: Subject,
  ruleId: string,
  state: AlertState,
  endReason: EndReason & DecisionReason,
  now: Instant,
  out: Outcomes,
): void {
  out.decisions.push({ subject, ruleId, reason: endReason, at: now });
  if (state.state !== "firing") return;
  const alert = toAlert(subject, ruleId, state, now);
  out.transitions.push({ kind: "resolved", alert: { ...alert, state: "resolved", endsAt: now, endReason } });
}

function alertState(alerts: AlertStates | undefined, ruleId: string): AlertState | undefined {
  return alerts && Object.hasOwn(alerts, ruleId) ? alerts[ruleId] : undefined;
}

function applyRule(
  evaluator: Evaluator,
  state: AlertState | undefined,
  rule: Rule,
  moment: Moment & { readonly deferResolve: boolean },
  out: Outcomes,
): AlertState | undefined {
  const evidence = evaluator.evidence(rule, state?.state === "firing");
  const { forMs, keepFiringForMs } = rule;
  const stepped = step(state, evidence, { ...moment, forMs, keepFiringForMs });
  if (stepped.outcome === "inactive") return undefined;
  if (stepped.outcome === "unchanged") return state && paused(evaluator, state, rule, moment, out);
  notePause(evaluator.subject, rule, state?.facts, undefined, moment.now, out);
  note(stepped, evaluator.subject, rule, moment.now, out);
  if ("progress" in stepped) return advance(stepped, evaluator, state, rule, moment, out);
  if (stepped.outcome === "resolved" && state) {
    const alert = toAlert(
      evaluator.subject,
      rule.id,
      { ...state, facts: withFrozen(factsOf(evaluator, rule), state.facts) },
      moment.now,
    );
    const endsAt = moment.now - stepped.elapsedMs;
    out.transitions.push({
      kind: "resolved",
      alert: { ...alert, state: "resolved", endsAt, endReason: "recovered" },
    });
  }
  return undefined;
}

/** The alert as it waits, or as it was: nothing is known of what else became of it. */
function paused(
  evaluator: Evaluator,
  state: AlertState,
  rule: Rule,
  { now }: Moment,
  out: Outcomes,
): AlertState {
  if (!evaluator.isPaused?.(rule) || state.facts.paused) return state;
  const moved: AlertState = { ...state, facts: { ...state.facts, schedule: "outside", paused: true } };
  notePause(evaluator.subject, rule, state.facts, moved.facts, now, out);
  if (state.state === "firing")
    out.transitions.push({ kind: "updated", alert: toAlert(evaluator.subject, rule.id, moved, now) });
  return moved;
}

function notePause(
  subject: Subject,
  rule: Rule,
  before: AlertFacts | undefined,
  after: AlertFacts | undefined,
  at: Instant,
  out: Outcomes,
): void {
  if (!before?.paused === !after?.paused) return;
  const reason = after?.paused ? "outside_schedule" : "within_schedule";
  out.decisions.push({ subject, ruleId: rule.id, reason, at });
}

function note(stepped: Step, subject: Subject, rule: Rule, at: Instant, out: Outcomes): void {
  const { outcome } = stepped;
  if (outcome === "holding" || outcome === "unchanged" || outcome === "inactive") return;
  out.decisions.push({ subject, ruleId: rule.id, reason: outcome, at });
}

function advance(
  { outcome, progress }: Extract<Step, { progress: Progress }>,
  evaluator: Evaluator,
  state: AlertState | undefined,
  rule: Rule,
  { now }: Moment,
  out: Outcomes,
): AlertState {
  const known = factsOf(evaluator, rule);
  const facts = state ? withFrozen(known, state.facts) : known;
  const moved = state ? { ...state, ...progress, facts } : open(evaluator, rule, progress, facts);
  if (outcome === "firing") {
    out.transitions.push({ kind: "firing", alert: toAlert(evaluator.subject, rule.id, moved, now) });
  } else if (state?.state === "firing" && isNews(state.facts, facts)) {
    out.transitions.push({ kind: "updated", alert: toAlert(evaluator.subject, rule.id, moved, now) });
  }
  return moved;
}

function factsOf(evaluator: Evaluator, rule: Rule): AlertFacts {
  return { ...evaluator.facts(rule), problem: problemOf(rule.when) };
}

/** Annotations are frozen when an alert begins, and with them which of them are restated. */
function withFrozen(facts: AlertFacts, { restated }: AlertFacts): AlertFacts {
  return { ...facts, restated };
}

function open(evaluator: Evaluator, rule: Rule, progress: Progress, facts: AlertFacts): AlertState {
  const startsAt = evaluator.startsAt(rule);
  const { labels, annotations } = evaluator.describe(rule, startsAt);
  return { ...progress, startsAt, labels, annotations, facts };
}

/** People count on these; a drifting quality is not worth a write. */
const NEWS: readonly (keyof AlertFacts)[] = ["offline", "of", "detail", "changes", "status", "paused"];

function isNews(before: AlertFacts, after: AlertFacts): boolean {
  return NEWS.some((fact) => before[fact] !== after[fact]);
}

function toAlert(subject: Subject, ruleId: string, state: AlertState, now: Instant): Alert {
  const key = alertKey(ruleId, subject.kind, subject.id);
  return {
    id: `${key}@${state.firedAt}`,
    key,
    ruleId,
    subject,
    labels: state.labels,
    annotations: state.annotations,
    state: "firing",
    startsAt: state.startsAt,
    firedAt: state.firedAt,
    updatedAt: now,
    facts: state.facts,
  };
}
