/**
 * What lenswatch says about itself: is the service there, is part of it not, do messages get out. Only attempts
 * count: while we are down nobody asks, and that is not the service's fault.
 */
import type { Instant } from "../lib/clock.ts";
import type { SubjectKind } from "./alert.ts";
import { annotationsOf, labelsOf } from "./annotations.ts";
import { applyRules, type Evaluator, endAlerts, type Moment } from "./apply-rules.ts";
import type { Decision, Outcomes, Subject, Transition } from "./evaluation.ts";
import type { Rule } from "./rule.ts";
import type { AlertStates } from "./shard-state.ts";

/** How asking for one thing goes. 0 where it never was; `error`: why the last attempt failed, without secrets. */
export interface Attempts {
  readonly goodAt: Instant;
  readonly attemptedAt: Instant;
  readonly error?: string | undefined;
}

export interface IntegrationHealth {
  /** `receiver/type/position`. */
  readonly id: string;
  readonly receiver: string;
  readonly type: string;
  readonly failing: boolean;
  /** Since when it fails. */
  readonly since: Instant;
  /** One sentence about the cause, without secrets. */
  readonly detail: string;
}

export interface SelfEvidence {
  readonly shards: readonly Attempts[];
  readonly inventory: Attempts;
  readonly uptimes: Attempts;
  readonly failingIntegrations: readonly IntegrationHealth[];
}

export interface SelfContext {
  readonly now: Instant;
  readonly rules: readonly Rule[];
  /** Between two sweeps, and between two calls of this, ms. */
  readonly intervalMs: number;
  readonly uptimeIntervalMs: number;
  /** One hour unless given. */
  readonly inventoryIntervalMs?: number;
  /** How long a question may be under way: an attempt is known only when it ends. 0 unless given. */
  readonly requestTimeoutMs?: number;
}

/** Alerts by what they speak of: `service/analytics`, `integration/<id>`. Subjects without alerts are left out. */
export type SelfAlertState = Readonly<Record<string, AlertStates>>;

export interface SelfEvaluation {
  readonly next: SelfAlertState;
  readonly transitions: readonly Transition[];
  readonly decisions: readonly Decision[];
}

const RECENT_INTERVALS = 3;

/** The analytics service, as alerts and decisions speak of it. */
export const serviceSubject: Subject = { kind: "service", id: "analytics" };

/** Judges the service and the integrations. `previous` is never changed; integrations no longer given end. */
export function evaluateSelf(
  previous: SelfAlertState,
  evidence: SelfEvidence,
  context: SelfContext,
): SelfEvaluation {
  const out: Outcomes = { transitions: [], decisions: [] };
  const moment: Moment = { now: context.now, maxGapMs: RECENT_INTERVALS * context.intervalMs };
  const rules = {
    service: context.rules.filter(({ when }) => when.kind === "service"),
    integration: context.rules.filter(({ when }) => when.kind === "notifications"),
  };
  const evaluators = [
    serviceEvaluator(evidence, context),
    ...evidence.failingIntegrations.map((integration) => integrationEvaluator(integration, context.now)),
  ];
  const next = new Map<string, AlertStates>();
  const judged = new Set<string>();
  for (const evaluator of evaluators) {
    const key = subjectKey(evaluator.subject);
    if (judged.has(key)) continue;
    judged.add(key);
    const own = evaluator.subject.kind === "service" ? rules.service : rules.integration;
    const alerts = applyRules(evaluator, alertsOf(previous, key), own, moment, out);
    if (alerts) next.set(key, alerts);
  }
  for (const [key, alerts] of Object.entries(previous)) {
    if (!judged.has(key)) endAlerts(subjectOf(key), alerts, "no_longer_watched", context.now, out);
  }
  return { next: Object.fromEntries(next), ...out };
}

function subjectKey({ kind, id }: Subject): string {
  return `${kind}/${id}`;
}

function subjectOf(key: string): Subject {
  const slash = key.indexOf("/");
  return { kind: key.slice(0, slash) as SubjectKind, id: key.slice(slash + 1) };
}

function alertsOf(states: SelfAlertState, key: string): AlertStates | undefined {
  return Object.hasOwn(states, key) ? states[key] : undefined;
}

/** How the last attempt went; undefined when there was none lately. */
function isFailing(
  attempts: Attempts,
  { now, requestTimeoutMs = 0 }: SelfContext,
  intervalMs: number,
): boolean | undefined {
  const { attemptedAt, goodAt, error } = attempts;
  if (attemptedAt <= 0 && goodAt <= 0) return undefined;
  const recentMs = RECENT_INTERVALS * intervalMs + requestTimeoutMs;
  if (now - Math.max(attemptedAt, goodAt) > recentMs) return undefined;
  if (goodAt >= attemptedAt) return false;
  return error === undefined ? undefined : true;
}

interface Sight {
  /** Shards whose last attempt failed, and those whose last was good; the rest say nothing. */
  readonly blind: readonly Attempts[];
  readonly seeing: number;
}

function look(evidence: SelfEvidence, context: SelfContext): Sight {
  const { inventoryIntervalMs = 3_600_000 } = context;
  const asked = evidence.shards.length > 0 ? evidence.shards : [evidence.inventory];
  const intervalMs = evidence.shards.length > 0 ? context.intervalMs : inventoryIntervalMs;
  const failing = asked.map((attempts) => isFailing(attempts, context, intervalMs));
  return {
    blind: asked.filter((_, i) => failing[i] === true),
    seeing: failing.filter((is) => is === false).length,
  };
}

/** Uptime figures are stale when asking fails and the last good answer is more than 3 intervals old. */
function areUptimesStale({ uptimes }: SelfEvidence, context: SelfContext): boolean {
  const { now, uptimeIntervalMs } = context;
  const isOld = now - uptimes.goodAt > RECENT_INTERVALS * uptimeIntervalMs;
  return isOld && isFailing(uptimes, context, uptimeIntervalMs) === true;
}

/** A location list that cannot be read, or not believed, while the locations known so far are watched. */
function isListDoubtful({ shards, inventory }: SelfEvidence, context: SelfContext): boolean {
  const { inventoryIntervalMs = 3_600_000 } = context;
  return shards.length > 0 && isFailing(inventory, context, inventoryIntervalMs) === true;
}

function serviceEvaluator(evidence: SelfEvidence, context: SelfContext): Evaluator {
  const sight = look(evidence, context);
  const stale = areUptimesStale(evidence, context);
  const doubtful = isListDoubtful(evidence, context);
  const isUnreachable = (rule: Rule) => rule.when.kind === "service" && rule.when.state === "unreachable";
  const besides = [...(stale ? [evidence.uptimes] : []), ...(doubtful ? [evidence.inventory] : [])];
  const causes = (rule: Rule) => (isUnreachable(rule) ? sight.blind : [...besides, ...sight.blind]);
  const detail = (rule: Rule) => causes(rule).find(({ error }) => error)?.error;
  return {
    subject: serviceSubject,
    evidence: (rule) =>
      isUnreachable(rule) ? unreachable(sight) : partlyUnreachable(sight, besides.length > 0),
    // What recordings were before is told once they are seen again, not because another shard is.
    defersResolve: (rule, overSince) =>
      isUnreachable(rule) && sight.blind.some(({ attemptedAt }) => attemptedAt < overSince),
    startsAt: (rule) => blindSince(causes(rule), context.now),
    facts: (rule) => ({ timezone: "UTC", detail: detail(rule) }),
    describe(rule) {
      const partly = stale ? STALE : doubtful ? DOUBTFUL : PARTLY;
      const [summary, description] = isUnreachable(rule) ? UNREACHABLE : partly;
      const because = detail(rule);
      return {
        labels: labelsOf(rule, {}),
        annotations: annotationsOf(rule, summary, because ? `${description} ${because}` : description),
      };
    },
  };
}

const UNREACHABLE = [
  "The analytics service cannot be reached",
  "No sweep succeeds: recordings keep their last known state until the service answers again.",
] as const;
const PARTLY = [
  "The analytics service can be reached only in part",
  "Sweeps of some locations fail: their recordings keep their last known state.",
] as const;
const STALE = [
  "Uptime figures of the analytics service are stale",
  "The Core API does not answer: uptime figures stay as they were.",
] as const;
const DOUBTFUL = [
  "The location list of the analytics service is missing or not believed",
  "The locations known so far are watched; new ones are not seen.",
] as const;

function unreachable({ blind, seeing }: Sight): boolean | undefined {
  if (seeing > 0) return false;
  return blind.length > 0 ? true : undefined;
}

/** Where everything is dark, part of it has not recovered: then nobody can tell. */
function partlyUnreachable({ blind, seeing }: Sight, besides: boolean): boolean | undefined {
  if (blind.length > 0 && seeing === 0) return undefined;
  if (besides || blind.length > 0) return true;
  return seeing > 0 ? false : undefined;
}

/** Since the last good answer, as far as there was one. */
function blindSince(causes: readonly Attempts[], now: Instant): Instant {
  const known = causes.map(({ goodAt, attemptedAt }) => goodAt || attemptedAt).filter((at) => at > 0);
  return Math.min(now, Math.max(...known, 0) || now);
}

function integrationEvaluator(integration: IntegrationHealth, now: Instant): Evaluator {
  const { id, receiver, type, failing, since, detail } = integration;
  return {
    subject: { kind: "integration", id },
    evidence: () => failing,
    startsAt: () => Math.min(since, now),
    facts: () => ({ timezone: "UTC", detail: failing ? detail : undefined }),
    describe: (rule) => ({
      labels: labelsOf(rule, { receiver, integration: type }),
      annotations: annotationsOf(
        rule,
        `Messages to ${receiver} by ${type} do not get out`,
        `Sending keeps failing: ${detail}`,
      ),
    }),
  };
}
