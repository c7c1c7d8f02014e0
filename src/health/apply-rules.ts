/** Applies rules to one subject: its alerts move, and what moved is collected. */

import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import {
  type Alert,
  type AlertFacts,
  alertKey,
  type EndReason,
  type Labels,
  type ProblemKind,
  type Subject,
} from "./alert.ts";
import {
  type AlertState,
  type AlertStates,
  type Progress,
  type StepResult,
  step,
  type Timing,
} from "./alert-machine.ts";
import type { Described } from "./directory.ts";
import type { DecisionReason, Outcomes } from "./evaluation.ts";
import { type FlappingAlert, isSingleOutage, whileFlapping } from "./flapping-outages.ts";
import type { Rule } from "./model.ts";
import { conditionText, problemKindOf } from "./rule.ts";

/** Knowledge of a subject now; asked only for what is needed. */
export interface Evaluator {
  readonly subject: Subject;
  /** Is the rule's condition met? Undefined: not known. A firing alert has its own threshold. */
  evidence(rule: Rule, firing: boolean): boolean | undefined;
  /** Since when the problem is there, asked when the condition is first met. */
  startsAt(rule: Rule): Instant;
  /** The last good reading before this one; 0 where none is known. */
  readonly readBefore?: Instant | undefined;
  facts(rule: Rule): AlertFacts;
  /** The rule does not apply at this time: its alerts pause. */
  isPaused?(rule: Rule): boolean;
  /** Without evidence for so long an alert ends, ms; undefined: never. */
  endsAfterMs?(rule: Rule): number | undefined;
  /** A firing alert is not resolved yet, though its condition has not been met since then. */
  defersResolve?(rule: Rule, clearingSince: Instant): boolean;
  /** Why an alert ends whose condition is not met, where that does not mean that its problem is over. */
  endReason?(rule: Rule): (EndReason & DecisionReason) | undefined;
  describe(rule: Rule, startsAt: Instant): Described & { readonly annotations: Labels };
}

export interface EvaluationMoment extends Pick<Timing, "now" | "maxGapMs"> {
  /** Since the last evaluation, ms; 0 after a gap. Absence of evidence is counted by it. */
  readonly sinceLastMs?: number;
}

/** Schedules repeat each week. */
const PAUSED_MOST_MS = 8 * 24 * 3_600_000;

/** The time for which alerts wait for evidence that may never come. */
export const EVIDENCE_WAIT_MS = 24 * 3_600_000;

type Application = Omit<EvaluationMoment, "maxGapMs"> & Readonly<{ evaluator: Evaluator; rule: Rule; out: Outcomes }>;

/**
 * The subject's alerts after this moment; undefined when it has none. Alerts of rules not given end. Rules on
 * flapping come first.
 */
export function applyRules(
  evaluator: Evaluator,
  previous: AlertStates | undefined,
  rules: readonly Rule[],
  moment: EvaluationMoment,
  out: Outcomes,
): AlertStates | undefined {
  const next: [string, AlertState][] = [];
  const flapping: FlappingAlert[] = [];
  for (const rule of rules) {
    const state = previous && Object.hasOwn(previous, rule.id) ? previous[rule.id] : undefined;
    const timing = { ...moment, forMs: rule.forMs, ...whileFlapping(flapping, rule, state) };
    const isDeferred = evaluator.defersResolve?.(rule, state?.clearingSince ?? moment.now);
    const moved = applyRule(
      { ...moment, evaluator, rule, out },
      state,
      isDeferred ? { ...timing, isDeferred } : timing,
    );
    if (moved) next.push([rule.id, moved]);
    if (rule.when.kind === "flapping") flapping.push({ before: state, after: moved });
  }
  for (const [ruleId, state] of Object.entries(previous ?? {})) {
    if (!rules.some(({ id }) => id === ruleId))
      endAlert(evaluator.subject, ruleId, state, { endReason: "rule_removed", now: moment.now, out });
  }
  return next.length > 0 ? Object.fromEntries(next) : undefined;
}

type Ending = Pick<Application, "now" | "out"> & { readonly endReason: EndReason & DecisionReason };

/** Ends every alert of a subject that is not evaluated any more. */
export function endAlerts(subject: Subject, alerts: AlertStates | undefined, ending: Ending): void {
  for (const [ruleId, state] of Object.entries(alerts ?? {})) endAlert(subject, ruleId, state, ending);
}

function endAlert(subject: Subject, ruleId: string, state: AlertState, { endReason, now, out }: Ending): void {
  out.decisions.push({ subject, ruleId, reason: endReason, at: now });
  if (state.state !== "firing") return;
  const alert = toAlert(subject, ruleId, state, now);
  out.transitions.push({ kind: "resolved", alert: { ...alert, state: "resolved", endsAt: now, endReason } });
}

function applyRule(at: Application, state: AlertState | undefined, timing: Timing): AlertState | undefined {
  const { evaluator, rule } = at;
  const evidence = evaluator.evidence(rule, state?.state === "firing");
  if (evidence && state && isOtherEpisode(at, state, timing)) {
    decide(at, "resolved");
    resolve(at, state, { endsAt: state.clearingSince ?? evaluator.startsAt(rule), endReason: "recovered" });
    return applyRule(at, undefined, timing);
  }
  const stepped = step(state, evidence, timing);
  if (stepped.outcome === "inactive") return undefined;
  if (stepped.outcome === "unchanged") return state && withoutEvidence(at, state);
  if (state?.facts.paused) decide(at, "within_schedule");
  const hasChanged = state?.met !== undefined && state.met !== conditionText(rule);
  const otherwise =
    stepped.outcome === "resolved" ? (hasChanged ? "rule_changed" : evaluator.endReason?.(rule)) : undefined;
  if (stepped.outcome !== "holding") decide(at, otherwise ?? stepped.outcome, waitOf(stepped.outcome, timing));
  if ("progress" in stepped) return advance(at, stepped, state);
  if (stepped.outcome === "resolved" && state)
    resolve(at, state, { endsAt: stepped.clearingSince, endReason: otherwise ?? "recovered" });
  return undefined;
}

function resolve(at: Application, state: AlertState, end: Required<Pick<Alert, "endsAt" | "endReason">>): void {
  const alert = toAlert(at.evaluator.subject, at.rule.id, { ...state, facts: factsOf(at, state) }, at.now);
  at.out.transitions.push({ kind: "resolved", alert: { ...alert, state: "resolved", ...end } });
}

/** Paused where its rule does not apply now; else it waits for evidence, and ends once there is none for good. */
function withoutEvidence(at: Application, state: AlertState): AlertState | undefined {
  const { evaluator, rule, now, sinceLastMs = 0, out } = at;
  if (evaluator.isPaused?.(rule)) return paused(at, state);
  const mostMs = evaluator.endsAfterMs?.(rule);
  if (mostMs === undefined) return state;
  const unknownMs = (state.unknownMs ?? 0) + sinceLastMs;
  if (unknownMs < mostMs) return sinceLastMs > 0 ? { ...state, unknownMs } : state;
  endAlert(evaluator.subject, rule.id, state, { endReason: "no_longer_watched", now, out });
  return undefined;
}

/** Outside for longer than any schedule is, it is not watched any more. */
function paused(at: Application, state: AlertState): AlertState | undefined {
  const { evaluator, rule, now, out } = at;
  const { pausedAt = now } = state;
  if (now - pausedAt > PAUSED_MOST_MS) {
    endAlert(evaluator.subject, rule.id, state, { endReason: "no_longer_watched", now, out });
    return undefined;
  }
  if (state.facts.paused && state.pausedAt !== undefined) return state;
  const moved: AlertState = { ...state, pausedAt, facts: { ...state.facts, schedule: "outside", paused: true } };
  if (state.facts.paused) return moved;
  decide(at, "outside_schedule");
  if (state.state === "firing") transition(at, "updated", moved);
  return moved;
}

function advance(
  at: Application,
  { outcome, progress }: Extract<StepResult, { progress: Progress }>,
  state: AlertState | undefined,
): AlertState {
  const { evaluator, rule } = at;
  const isClearing = progress.clearingSince !== undefined;
  const facts = { ...factsOf(at, state), ...(isClearing ? { clearing: true } : {}) };
  const met = isClearing ? state?.met : conditionText(rule);
  const isNews = state && isNewsTo(state.facts, facts);
  const isMetAllAlong = state?.state === "firing" && outcome === "holding" && !isClearing;
  if (isMetAllAlong && !isNews && state.met === met && state.unknownMs === undefined && !state.pausedAt) return state;
  const known = state && !isOtherOutage(at, state) ? state : undefined;
  const startsAt = known?.startsAt ?? evaluator.startsAt(rule);
  const moved = {
    startsAt,
    ...(known ?? evaluator.describe(rule, startsAt)),
    ...progress,
    met,
    facts,
    unknownMs: undefined,
    pausedAt: undefined,
  };
  if (outcome === "firing") transition(at, "firing", moved);
  else if (state?.state === "firing" && isNews) transition(at, "updated", moved);
  return moved;
}

/** Pending, and seen since it began. */
function isOtherOutage({ evaluator, rule }: Application, { state, startsAt }: AlertState): boolean {
  return state === "pending" && isSingleOutage(rule) && evaluator.startsAt(rule) > startsAt;
}

/** Firing, and seen after a time that its last outage is not known to have lasted, and longer than it outlasts. */
function isOtherEpisode({ evaluator, rule, now }: Application, state: AlertState, timing: Timing): boolean {
  if (state.state === "pending" || timing.isDeferred || !isSingleOutage(rule)) return false;
  const metAt = state.clearingSince ?? (evaluator.readBefore || now);
  return evaluator.startsAt(rule) - metAt > Math.max(timing.keepFiringForMs, timing.maxGapMs);
}

/** Annotations are frozen when an alert begins, and with them which of them are restated. */
function factsOf({ evaluator, rule }: Application, state: AlertState | undefined): AlertFacts {
  const own = evaluator.facts(rule);
  const most = own.offline === undefined ? undefined : Math.max(own.offline, state?.facts.most ?? 0);
  const facts = { ...own, ...(most && { most }), problem: problemKindOf(rule.when) };
  return state ? { ...facts, restated: state.facts.restated } : facts;
}

/** `2 m`: how long until what the decision announces. */
function waitOf(outcome: StepResult["outcome"], { forMs, keepFiringForMs }: Timing): string | undefined {
  if (outcome === "pending") return humanDuration(forMs);
  return outcome === "clearing" ? humanDuration(keepFiringForMs) : undefined;
}

function decide({ evaluator, rule, now, out }: Application, reason: DecisionReason, detail?: string): void {
  const decision = { subject: evaluator.subject, ruleId: rule.id, reason, at: now };
  out.decisions.push(detail === undefined ? decision : { ...decision, detail });
}

function transition({ evaluator, rule, now, out }: Application, kind: "firing" | "updated", state: AlertState): void {
  out.transitions.push({ kind, alert: toAlert(evaluator.subject, rule.id, state, now) });
}

/** Facts worth a write whenever they change. */
const NEWS: readonly (keyof AlertFacts)[] = ["offline", "of", "detail", "changes", "status", "paused", "clearing"];

/** The figure that an alert is about. */
const FIGURES: Readonly<Partial<Record<ProblemKind, "averageQuality" | "overallUptime" | "arrived">>> = {
  low_quality: "averageQuality",
  low_uptime: "overallUptime",
  not_uploading: "arrived",
};

function isNewsTo(before: AlertFacts, after: AlertFacts): boolean {
  const [were, are] = [before.servers ?? {}, after.servers ?? {}];
  const isElsewhere = Object.keys({ ...were, ...are }).some((name) => were[name] !== are[name]);
  return NEWS.some((fact) => before[fact] !== after[fact]) || isElsewhere || hasMoved(before, after);
}

/** By a per cent, or by the last decimal of the rule's thresholds: messages and pages show it as it is now. */
function hasMoved(before: AlertFacts, { problem, decimals = 0, ...after }: AlertFacts): boolean {
  const figure = problem && FIGURES[problem];
  const [was, is] = figure ? [before[figure], after[figure]] : [];
  if (was === undefined || is === undefined) return was !== is;
  return Math.abs(was - is) >= 10 ** (-2 - decimals) - 1e-9;
}

/** The alert of a state that fires. */
export function toAlert(
  subject: Subject,
  ruleId: string,
  { labels, shops, annotations, startsAt, firedAt, facts }: AlertState,
  updatedAt: Instant,
): Alert {
  const key = alertKey(ruleId, subject.kind, subject.id);
  const id = `${key}@${firedAt}`;
  return {
    id,
    key,
    ruleId,
    subject,
    labels,
    ...(shops && { shops }),
    annotations,
    state: "firing",
    startsAt,
    firedAt,
    updatedAt,
    facts,
  };
}
