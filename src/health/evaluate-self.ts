/** Evaluates the self alerts. While lenswatch is down, nothing is asked and nothing proved. */

import type { Instant } from "../lib/clock.ts";
import type { Subject, SubjectKind } from "./alert.ts";
import type { AlertStates } from "./alert-machine.ts";
import { applyRules, type Evaluator, endAlerts } from "./apply-rules.ts";
import type { Attempt, Attempts } from "./attempt.ts";
import { evaluateGroups, type GroupEvidence, type GroupMoment } from "./evaluate-groups.ts";
import type { Outcomes } from "./evaluation.ts";
import { ageOf, type EvidenceMoment, fleetEvidence } from "./evidence.ts";
import { groupsReadAt } from "./groups-read.ts";
import type { Rule } from "./model.ts";
import { GAP_INTERVALS } from "./rhythm.ts";
import { alertAnnotations, alertLabels, generatedOf } from "./rule.ts";
import { directoryWords, notificationWords } from "./self-words.ts";
import { serviceEvaluator } from "./service-evaluator.ts";

export interface IntegrationHealth {
  readonly id: string;
  /** For people. */
  readonly name: string;
  readonly receiver: string;
  readonly type: string;
  /** Since when sending fails, and a sentence on the cause, without secrets; undefined while it works. */
  readonly trouble: IntegrationTrouble | undefined;
}

export interface IntegrationTrouble {
  readonly since: Instant;
  readonly detail: string;
  /** Set where every integration that uses the endpoint fails. */
  readonly endpoint?: string | undefined;
  /** Nothing is due there any more that would show whether it works. */
  readonly isOver?: boolean;
}

export interface SelfEvidence extends Attempts {
  /** The attempts of `GET /v1/status`. */
  readonly health?: Attempt | undefined;
  readonly integrations: readonly IntegrationHealth[];
  /** The attempts of all replicas to read the directory; undefined without one. */
  readonly directory?: Attempt | undefined;
  /** Undefined: rules on groups are not evaluated, and their alerts stay. Its shards are those of the attempts. */
  readonly groups?: GroupEvidence | undefined;
}

export interface SelfContext extends GroupMoment, EvidenceMoment {}

/** Alerts by subject: `service/analytics`, `integration/<id>`, `group/<label>/<value>`. Subjects without alerts are left out. */
export type SelfAlertState = Readonly<Record<string, AlertStates>>;

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
  const { health, groups: counted } = evidence;
  const service = fleetEvidence(evidence, context);
  evaluate(serviceEvaluator(service, health, context, counted?.inventory), "service");
  evaluate(directoryEvaluator(evidence.directory, now), "directory");
  const untried = new Set<string>();
  for (const one of evidence.integrations) {
    if (one.trouble?.isOver) untried.add(`integration/${one.id}`);
    else evaluate(integrationEvaluator(one, now), "notifications");
  }
  const groups = evidence.groups && withoutUnread(evidence.groups, evidence.shards, context);
  for (const [key, alerts] of groups ? evaluateGroups(previous, groups, context, out) : []) {
    evaluated.add(key);
    if (alerts) next.set(key, alerts);
  }
  for (const [key, alerts] of Object.entries(previous)) {
    const endReason = untried.has(key) ? "expired" : "no_longer_watched";
    if (!evaluated.has(key)) endAlerts(subjectOf(key), alerts, { endReason, now, out });
  }
  const state: SelfAlertState = Object.fromEntries(next);
  const groupsRead = groups && groupsReadAt(state, groups, context);
  return { next: state, service, groupsRead, ...out };
}

function subjectOf(key: string): Subject {
  const slash = key.indexOf("/");
  return { kind: key.slice(0, slash) as SubjectKind, id: key.slice(slash + 1) };
}

/** A shard that is not read, and is said not to be, keeps no group of the others waiting: it counts as having nothing of it. */
function withoutUnread(groups: GroupEvidence, shards: readonly Attempt[], context: SelfContext): GroupEvidence {
  const mostMs = GAP_INTERVALS * context.intervalMs;
  const nothing = { camera_server: {}, organisation: {}, timezone: {} };
  return {
    ...groups,
    shards: groups.shards.map((counted, i) => {
      const attempt = shards[i];
      if (!attempt || ageOf(attempt, context, mostMs) !== "old") return counted;
      return { at: 0, offline: 0, ...counted, counts: { ...nothing, ...counted?.counts } };
    }),
  };
}

function directoryEvaluator(attempt: SelfEvidence["directory"], now: Instant): Evaluator {
  const { goodAt = 0, error } = attempt ?? {};
  const instead = goodAt > 0 ? "The last one stays in force" : "Shops are without labels, contacts and recipients";
  const detail = `${instead}: ${error}`;
  const { summary, text } = directoryWords(detail);
  return {
    subject: { kind: "directory", id: "shops" },
    evidence: () => error !== undefined,
    startsAt: () => Math.min(goodAt || now, now),
    facts: (rule) => ({ timezone: "UTC", detail, restated: generatedOf(rule, ["summary"]) }),
    describe: (rule) => ({ labels: alertLabels(rule, {}), annotations: alertAnnotations(rule, [summary, text]) }),
  };
}

function integrationEvaluator({ id, name, receiver, type, trouble }: IntegrationHealth, now: Instant): Evaluator {
  const { summary, text } = notificationWords(name, trouble?.detail);
  return {
    subject: { kind: "integration", id },
    evidence: () => trouble !== undefined,
    startsAt: () => Math.min(trouble?.since ?? now, now),
    facts: (rule) => ({
      timezone: "UTC",
      detail: trouble?.detail,
      endpoint: trouble?.endpoint,
      restated: generatedOf(rule, ["summary"]),
    }),
    describe: (rule) => ({
      labels: alertLabels(rule, { receiver, integration: type }),
      annotations: alertAnnotations(rule, [summary, text]),
    }),
  };
}
