/** Evaluates the self alerts. Only attempts count: while lenswatch is down, nothing is asked and nothing proved. */
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { areSegmentsBelieved, isAbsenceBelieved, presenceOf, segmentsOf } from "./absence.ts";
import type { Labels, SubjectKind } from "./alert.ts";
import { applyRules, type Evaluator, endAlerts } from "./apply-rules.ts";
import { evaluateGroups, type GroupEvidence, type GroupMoment } from "./evaluate-groups.ts";
import type { Outcomes, Subject } from "./evaluation.ts";
import { GAP_INTERVALS } from "./rhythm.ts";
import { alertAnnotations, alertLabels, generatedOf, type Rule } from "./rule.ts";
import type { AlertStates } from "./shard-state.ts";
import { type SloEvidence, sloEvaluator } from "./slo-evaluator.ts";

/**
 * How requests for one thing go. 0 where there was none; `error`: why the last one failed, or with an equally new
 * `goodAt` a part of it, without secrets.
 */
export interface Attempt {
  readonly goodAt: Instant;
  readonly attemptedAt: Instant;
  readonly error?: string | undefined;
  /** Of a shard: it was not asked for, as what is stored of it cannot be read. */
  readonly isUnreadable?: boolean | undefined;
  /** Of the fleet: since when it is watched without a pause. */
  readonly since?: Instant | undefined;
  /** The time since the good sweep before, ms, where the service answers and sweeps are too far apart all the same. */
  readonly slowMs?: number | undefined;
  /**
   * Of a shard: recordings that are known, and those of them that its complete answer lacks; of its uptime: those online
   * of which segments were expected, and those of them of which hardly any came.
   */
  readonly known?: number | undefined;
  readonly absent?: number | undefined;
  /** Of a shard: when its locations that its last good sweep had no answer for were read, by id. */
  readonly unread?: Readonly<Record<string, Instant>> | undefined;
  /** Of a shard: when a good sweep last counted other groups than the one before, and wrote them. */
  readonly groupsAt?: Instant | undefined;
}

export interface IntegrationHealth {
  readonly id: string;
  readonly receiver: string;
  readonly type: string;
  /** Since when sending fails, and a sentence on the cause, without secrets; undefined while it works. */
  readonly trouble: IntegrationTrouble | undefined;
}

export interface IntegrationTrouble {
  readonly since: Instant;
  readonly detail: string;
  /** Where every integration that uses the endpoint fails. */
  readonly endpoint?: string | undefined;
  /** Nothing is due there any more that would show whether it works. */
  readonly isOver?: boolean;
}

export interface SelfEvidence {
  readonly shards: readonly Attempt[];
  readonly inventory: Attempt;
  /** Of each shard, as those of counts. */
  readonly uptimes: readonly Attempt[];
  readonly counts?: readonly Attempt[] | undefined;
  /** Of `GET /v1/status`. */
  readonly health?: Attempt | undefined;
  readonly integrations: readonly IntegrationHealth[];
  /** Undefined: rules on groups are not evaluated, and their alerts stay. */
  readonly groups?: GroupEvidence | undefined;
  /** Undefined: rules on burn rates are not evaluated, and their alerts stay. */
  readonly slos?: readonly SloEvidence[] | undefined;
}

export interface SelfContext extends GroupMoment {
  readonly uptimeIntervalMs: number;
  /** Undefined: no rule depends on counts. */
  readonly countsIntervalMs?: number | undefined;
  readonly inventoryIntervalMs: number;
  /** How long a request may be under way: an attempt is known only when it ends. */
  readonly requestTimeoutMs: number;
  /** Since when this process sweeps; no shard is late before. */
  readonly startedAt?: Instant;
}

/** Alerts by subject: `service/analytics`, `integration/<id>`, `group/<label>/<value>`. Subjects without alerts are left out. */
export type SelfAlertState = Readonly<Record<string, AlertStates>>;

/** The analytics service, as alerts and decisions name it. */
export const serviceSubject: Subject = { kind: "service", id: "analytics" };

/** An error budget without a sample for longer has no recordings any more: no schedule and no holiday lasts so long. */
const SLO_WATCHED_MS = 7 * 24 * 3_600_000;

/** Evaluates the service, the integrations and the groups. `previous` is not changed; alerts of removed integrations end. */
export function evaluateSelf(previous: SelfAlertState, evidence: SelfEvidence, context: SelfContext) {
  const { now, rules, intervalMs } = context;
  const out: Outcomes = { transitions: [], decisions: [] };
  const moment = { now, maxGapMs: GAP_INTERVALS * intervalMs };
  const next = new Map<string, AlertStates>();
  const evaluated = new Set<string>();
  const evaluate = (evaluator: Evaluator, kind: Rule["when"]["kind"]) => {
    const key = `${evaluator.subject.kind}/${evaluator.subject.id}`;
    if (evaluated.has(key)) return;
    evaluated.add(key);
    const own = rules.filter(({ when }) => when.kind === kind);
    const before = Object.hasOwn(previous, key) ? previous[key] : undefined;
    const alerts = applyRules(evaluator, before, own, moment, out);
    if (alerts) next.set(key, alerts);
  };
  evaluate(serviceEvaluator(evidence, context), "service");
  const untried = new Set<string>();
  for (const one of evidence.integrations) {
    if (one.trouble?.isOver) untried.add(`integration/${one.id}`);
    else evaluate(integrationEvaluator(one, now), "notifications");
  }
  for (const slo of evidence.slos ?? [])
    if (now - slo.budget.at <= SLO_WATCHED_MS) evaluate(sloEvaluator(slo, now), "slo_burn");
  for (const [key, alerts] of evidence.groups ? evaluateGroups(previous, evidence.groups, context, out) : []) {
    evaluated.add(key);
    if (alerts) next.set(key, alerts);
  }
  for (const [key, alerts] of Object.entries(previous)) {
    if (!evidence.slos && key.startsWith("group/slo/")) {
      next.set(key, alerts);
      continue;
    }
    const endReason = untried.has(key) ? "expired" : "no_longer_watched";
    if (!evaluated.has(key)) endAlerts(subjectOf(key), alerts, { endReason, now, out });
  }
  return { next: Object.fromEntries(next) satisfies SelfAlertState, ...out };
}

function subjectOf(key: string): Subject {
  const slash = key.indexOf("/");
  return { kind: key.slice(0, slash) as SubjectKind, id: key.slice(slash + 1) };
}

function isFailing(
  { attemptedAt, goodAt, error }: Attempt,
  { now, requestTimeoutMs }: SelfContext,
  intervalMs: number,
): boolean | undefined {
  if (attemptedAt <= 0 && goodAt <= 0) return undefined;
  const recentMs = GAP_INTERVALS * intervalMs + requestTimeoutMs;
  if (now - Math.max(attemptedAt, goodAt) > recentMs) return undefined;
  if (goodAt >= attemptedAt) return false;
  return error === undefined ? undefined : true;
}

/** How far apart sweeps of a shard are, ms, that are answered and late all the same; undefined while they keep time. */
function lateMs({ goodAt, attemptedAt, slowMs }: Attempt, context: SelfContext): number | undefined {
  const { now, intervalMs, requestTimeoutMs, startedAt = 0 } = context;
  if (goodAt <= 0 || goodAt < attemptedAt) return undefined;
  const ageMs = now - Math.max(goodAt, startedAt);
  return ageMs > GAP_INTERVALS * intervalMs + requestTimeoutMs ? Math.max(ageMs, slowMs ?? 0) : slowMs;
}

type Sweeps = ReturnType<typeof sweepsOf>;

/**
 * The last sweeps that failed, or in part, how many succeeded, and how far apart late ones are. Before there is a shard,
 * the inventory stands for the service.
 */
function sweepsOf({ shards, inventory }: SelfEvidence, context: SelfContext) {
  const asked = shards.length > 0 ? shards : [inventory];
  const intervalMs = shards.length > 0 ? context.intervalMs : context.inventoryIntervalMs;
  const failing = asked.map((attempts) => isFailing(attempts, context, intervalMs));
  return {
    failed: asked.filter((_, i) => failing[i] === true),
    partly: asked.filter(({ error }, i) => failing[i] === false && error !== undefined),
    succeeded: failing.filter((is) => is === false).length,
    late: shards.map((attempts) => lateMs(attempts, context)).filter((ms) => ms !== undefined),
  };
}

/** The oldest of the figures that are old and cannot be read; those of a shard that is not asked for say nothing. */
function stalest(figures: readonly Attempt[], context: SelfContext, intervalMs: number): Attempt[] {
  const isOld = ({ goodAt }: Attempt) => context.now - goodAt > GAP_INTERVALS * intervalMs;
  const stale = figures.filter((one) => isOld(one) && isFailing(one, context, intervalMs) === true);
  return stale.sort((a, b) => a.goodAt - b.goodAt).slice(0, 1);
}

function serviceEvaluator(evidence: SelfEvidence, context: SelfContext): Evaluator {
  const sweeps = sweepsOf(evidence, context);
  const { shards, inventory, uptimes, counts = [] } = evidence;
  const stale = stalest(uptimes, context, context.uptimeIntervalMs);
  const { countsIntervalMs } = context;
  const uncounted = countsIntervalMs ? stalest(counts, context, countsIntervalMs) : [];
  const isLate = sweeps.late.length > 0 && sweeps.failed.length + sweeps.partly.length === 0;
  // A location list that failed or was rejected, while the locations known so far are swept.
  const listFailing = shards.length > 0 && isFailing(inventory, context, context.inventoryIntervalMs) === true;
  const isUnreachable = ({ when }: Rule) => when.kind === "service" && when.state === "unreachable";
  const lacking = disbelieved(shards);
  const late = lateSegments(uptimes);
  const others = [...stale, ...(listFailing ? [inventory] : []), ...lacking, ...late];
  const causes = (rule: Rule) =>
    isUnreachable(rule) ? sweeps.failed : [...others, ...sweeps.failed, ...sweeps.partly, ...uncounted];
  const damaged = sweeps.failed.find((one) => one.isUnreadable);
  const failure = (rule: Rule) => causes(rule).find((one) => one.error && !one.isUnreadable);
  const isUnreadable = (rule: Rule) => damaged !== undefined && !failure(rule);
  const detail = (rule: Rule) => {
    const health = isUnreachable(rule) && !isUnreadable(rule) && healthOf(evidence, context);
    const others = [failure(rule)?.error, health].filter(Boolean).join(" ") || undefined;
    return damaged && others ? `${others.replace(/[^.]$/, "$&.")} ${damaged.error}` : (damaged?.error ?? others);
  };
  return {
    subject: serviceSubject,
    evidence: (rule) =>
      isUnreachable(rule)
        ? unreachable(sweeps)
        : partlyUnreachable(sweeps, others.length + uncounted.length > 0 || isLate),
    // Until every shard was asked again, recordings of the others have only the state of before.
    defersResolve: (rule, clearingSince) =>
      isUnreachable(rule) && sweeps.failed.some(({ attemptedAt }) => attemptedAt < clearingSince),
    startsAt: (rule) => lastGoodAt(causes(rule), context.now),
    facts: (rule) => ({
      timezone: "UTC",
      detail: detail(rule),
      // The other summaries name the part that does not answer.
      restated:
        !isUnreadable(rule) && (isUnreachable(rule) || (others.length + uncounted.length === 0 && !isLate))
          ? generatedOf(rule, ["summary"])
          : [],
    }),
    describe(rule) {
      const figures = late.length > 0 ? SEGMENTS_LACKING : PARTLY_UNREACHABLE;
      const isPartly = sweeps.partly.length > 0 || sweeps.failed.some((one) => !one.isUnreadable);
      const lasting = uncounted.length > 0 && !isPartly && figures === PARTLY_UNREACHABLE ? STALE_COUNTS : figures;
      const answers = lacking.length > 0 ? RECORDINGS_LACKING : lasting;
      const named = stale.length > 0 ? STALE_UPTIMES : listFailing ? LIST_FAILING : answers;
      if (isUnreadable(rule)) return describe(rule, {}, UNREADABLE, detail(rule));
      const partly = isLate && named === PARTLY_UNREACHABLE ? lateSweeps(sweeps.late, shards.length, context) : named;
      return describe(rule, {}, isUnreachable(rule) ? UNREACHABLE : partly, detail(rule));
    },
  };
}

/** Whether the service calls itself healthy: so, whether the fault is on its side. */
function healthOf({ health }: SelfEvidence, context: SelfContext): string | undefined {
  const failing = health && isFailing(health, context, context.intervalMs);
  if (failing === undefined) return undefined;
  if (failing) return `Its own health check fails too: ${health?.error}`;
  return "It calls itself healthy (GET /v1/status).";
}

function describe(
  rule: Rule,
  subject: Labels,
  [summary, description]: readonly [summary: string, description: string],
  detail = "",
): ReturnType<Evaluator["describe"]> {
  const annotations = alertAnnotations(rule, [summary, `${description} ${detail}`.trimEnd()]);
  return { labels: alertLabels(rule, subject), annotations };
}

const UNREACHABLE = [
  "The analytics service is unreachable",
  "No sweep succeeds: alerts keep their state until the service answers again.",
] as const;
const PARTLY_UNREACHABLE = [
  "The analytics service is partly unreachable",
  "Sweeps of some locations fail: their recordings keep their last known state.",
] as const;
const UNREADABLE = [
  "Stored state of recordings cannot be read",
  "They are not evaluated, and their alerts keep their state.",
] as const;
const STALE_UPTIMES = [
  "Uptime figures of the analytics service are stale",
  "The Core API does not answer: uptime figures stay as they were.",
] as const;
const STALE_COUNTS = [
  "Visitor counts of the analytics service are stale",
  "They cannot be read: rules on counts find nothing new, and their alerts stay.",
] as const;
const LIST_FAILING = [
  "The location list of the analytics service is missing or rejected",
  "The locations known so far are watched; new ones are not.",
] as const;

const RECORDINGS_LACKING = [
  "Status answers of the analytics service lack too many recordings",
  "Those left out keep their last known state, and none is reported missing.",
] as const;

const SEGMENTS_LACKING = [
  "Hardly any segments of most recordings arrive, though they are online",
  "Either the service's uptime figures are late, or what most recordings share fails; none is reported as not uploading.",
] as const;

/** So many recordings without segments that it is not their own failure, as an attempt that failed at no known time. */
function lateSegments(uptimes: readonly Attempt[]): Attempt[] {
  const presence = segmentsOf(uptimes);
  if (areSegmentsBelieved(presence)) return [];
  const error = `uptime figures lack the segments of ${presence.absent} of ${presence.known} recordings that are online`;
  return [{ goodAt: 0, attemptedAt: 0, error }];
}

/** Answers that lack so many recordings that they are not believed, as an attempt that failed at no known time. */
function disbelieved(shards: readonly Attempt[]): Attempt[] {
  const presence = presenceOf(shards);
  if (isAbsenceBelieved(presence)) return [];
  const error = `status answers lack ${presence.absent} of ${presence.known} known recordings; if that is right, put those that left in watch.exclude`;
  return [{ goodAt: 0, attemptedAt: 0, error }];
}

function lateSweeps(late: readonly number[], shards: number, { intervalMs }: SelfContext) {
  return [
    "Sweeps of recordings cannot keep their interval",
    `Sweeps of ${late.length} of ${shards} shards are up to ${humanDuration(Math.max(...late))} apart instead of ${humanDuration(intervalMs)}: alerts come late. If the service answers slowly, report it to its support, or raise watch.status_interval; else give lenswatch more CPU, or replicas with the role poll.`,
  ] as const;
}

function unreachable({ failed, succeeded }: Sweeps): boolean | undefined {
  return succeeded > 0 ? false : failed.length > 0 || undefined;
}

/** Where every sweep fails, a part has not recovered: then there is no evidence. */
function partlyUnreachable({ failed, partly, succeeded }: Sweeps, othersFail: boolean): boolean | undefined {
  if (failed.length > 0 && succeeded === 0) return undefined;
  if (othersFail || failed.length + partly.length > 0) return true;
  return succeeded > 0 ? false : undefined;
}

function lastGoodAt(causes: readonly Attempt[], now: Instant): Instant {
  const known = causes.map(({ goodAt, attemptedAt }) => goodAt || attemptedAt).filter((at) => at > 0);
  return Math.min(now, Math.max(...known, 0) || now);
}

function integrationEvaluator({ id, receiver, type, trouble }: IntegrationHealth, now: Instant): Evaluator {
  const summary = `Notifications to ${receiver} by ${type} fail`;
  return {
    subject: { kind: "integration", id },
    evidence: () => trouble !== undefined,
    startsAt: () => Math.min(trouble?.since ?? now, now),
    facts: () => ({ timezone: "UTC", detail: trouble?.detail, endpoint: trouble?.endpoint }),
    describe: (rule) =>
      describe(rule, { receiver, integration: type }, [summary, "Sending keeps failing:"], trouble?.detail),
  };
}
