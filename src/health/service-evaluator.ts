/** Evaluates the analytics service by how old the evidence is: unreachable where hardly any recording is read, else partly. */

import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { counted } from "../lib/format.ts";
import type { Subject } from "./alert.ts";
import type { Evaluator } from "./apply-rules.ts";
import type { Attempt } from "./attempt.ts";
import { type DirectoryLookup, describedBy } from "./directory.ts";
import type { Cause, CauseKind, Evidence, EvidenceMoment } from "./evidence.ts";
import type { Rule } from "./model.ts";
import { GAP_INTERVALS } from "./rhythm.ts";
import { alertAnnotations, alertLabels, generatedOf } from "./rule.ts";

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
  const old = evidence.causes.flatMap(({ kind, attempts }) =>
    CAUSES[kind].isUnread && kind !== "misread" ? attempts : [],
  );
  const isAsked = ({ attemptedAt }: Attempt) => now - attemptedAt <= GAP_INTERVALS * context.intervalMs;
  const explain = (rule: Rule) => explained(isUnreachable(rule), evidence, health, context);
  return {
    subject: serviceSubject,
    evidence: (rule) => (isUnreachable(rule) ? isGone(evidence) : isPartlyGone(evidence)),
    // Until every shard was asked again, recordings of the others have only the state of before.
    defersResolve: (rule, clearingSince) =>
      isUnreachable(rule) && old.some((one) => isAsked(one) && one.attemptedAt < clearingSince),
    startsAt: (rule) => lastGoodAt(explain(rule).causes, now),
    facts(rule) {
      const { detail, isService, causes } = explain(rule);
      // The other summaries name the part that is not read.
      const isRestated = isService || causes[0]?.kind === "failing";
      return { timezone: "UTC", detail, restated: isRestated ? generatedOf(rule, ["summary"]) : [] };
    },
    describe(rule) {
      const { causes, isService, detail } = explain(rule);
      const [first, ...others] = causes;
      const { summary, description } = isService ? UNREACHABLE : first ? CAUSES[first.kind] : PARTLY_UNREACHABLE;
      const late = !isService && first?.kind === "late" ? [lateness(first, context)] : [];
      const also = isUnreachable(rule) ? [] : others.map(({ kind }) => `${CAUSES[kind].summary}.`);
      const sentence = [...late, description, ...also, detail ?? ""].join(" ").trimEnd();
      const { labels, shops } = describedBy(inventory, inventory.locationsOf?.());
      const annotations = alertAnnotations(rule, [summary, sentence]);
      return { labels: alertLabels(rule, labels), ...(shops && { shops }), annotations };
    },
  };
}

function isUnreachable({ when }: Rule): boolean {
  return when.kind === "service" && when.state === "unreachable";
}

/** The causes that a rule is about, the widest first, whether the service is at fault as a whole, and its own words. */
function explained(isWhole: boolean, evidence: Evidence, health: Attempt | undefined, context: EvidenceMoment) {
  const isOfWhole = ({ kind }: Cause) =>
    CAUSES[kind].isUnread || (kind === "absent" && evidence.state === "unreachable");
  const causes = isWhole ? evidence.causes.filter(isOfWhole) : evidence.causes;
  const isFailing = isWhole && causes.some(({ kind }) => kind === "failing");
  const detail = sentences([...causes.map(({ error }) => error), isFailing ? healthOf(health, context) : undefined]);
  return { causes, detail, isService: isWhole && !(causes[0] && CAUSES[causes[0].kind].isOwn) };
}

function isGone({ state }: Evidence): boolean | undefined {
  return state === "unknown" ? undefined : state === "unreachable";
}

/** No part has recovered where all is unreachable; while it is still read now and then, it is partly so as well. */
function isPartlyGone({ state, isRare }: Evidence): boolean | undefined {
  if (state === "unreachable") return isRare || undefined;
  return state === "unknown" ? undefined : state === "partly";
}

/** Sentences one after the other, each once; undefined where there is none. */
export function sentences(all: readonly (string | undefined)[]): string | undefined {
  const said = [...new Set(all.filter((one) => one !== undefined))];
  return said.map((one, i) => (i < said.length - 1 ? one.replace(/[^.]$/, "$&.") : one)).join(" ") || undefined;
}

/** The service's own word on its health: whether the fault is on its side. */
function healthOf(
  health: Attempt | undefined,
  { now, intervalMs, requestTimeoutMs }: EvidenceMoment,
): string | undefined {
  if (!health || now - Math.max(health.attemptedAt, health.goodAt) > GAP_INTERVALS * intervalMs + requestTimeoutMs)
    return undefined;
  if (health.goodAt < health.attemptedAt) return `Its own health check fails too: ${health.error}`;
  return "It calls itself healthy (GET /v1/status).";
}

interface CauseWords {
  readonly summary: string;
  readonly description: string;
  /** Recordings are not read; the other causes are about figures, lists and lateness. */
  readonly isUnread?: boolean;
  /** The cause is on the side of lenswatch. */
  readonly isOwn?: boolean;
}

const UNREACHABLE: CauseWords = {
  summary: "The analytics service is unreachable",
  description:
    "Hardly any recording was read for three intervals: alerts keep their state until the service is understood again.",
};
const PARTLY_UNREACHABLE: CauseWords = {
  summary: "The analytics service is partly unreachable",
  description: "Sweeps of some locations fail: their recordings keep their last known state.",
};

/** In the order of `causeKinds`: the first cause that holds gives the summary. */
const CAUSES: Readonly<Record<CauseKind, CauseWords>> = {
  failing: { ...PARTLY_UNREACHABLE, isUnread: true },
  misread: {
    summary: "Some recordings cannot be read",
    description:
      "Answers come, but not for these, or not in words that are understood: they keep their last known state.",
    isUnread: true,
  },
  internal: {
    summary: "lenswatch fails to evaluate some recordings",
    description:
      "The service answers, and what it answers cannot be evaluated or stored: these recordings keep their last known state. The log has the cause.",
    isUnread: true,
    isOwn: true,
  },
  unasked: {
    summary: "Some recordings are not swept",
    description:
      "No request fails, and none is made: these recordings keep their last known state. Is there a replica with the role poll, with CPU left?",
    isUnread: true,
    isOwn: true,
  },
  late: {
    summary: "Sweeps of recordings cannot keep their interval",
    description:
      "If the service fails or answers slowly, report it to its support, or raise watch.status_interval; else give lenswatch more CPU, or replicas with the role poll.",
  },
  absent: {
    summary: "Status answers of the analytics service lack too many recordings",
    description: "Those left out keep their last known state, and none is reported missing.",
  },
  list: {
    summary: "The location list of the analytics service is missing or rejected",
    description: "The locations known so far are watched; new ones are not.",
  },
  uptimes: {
    summary: "Uptime figures of the analytics service are stale",
    description: "They are older than twice their interval: the Core API does not answer, or too slowly.",
  },
  segments: {
    summary: "Hardly any segments of most recordings arrive, though they are online",
    description:
      "Either the service's uptime figures are late, or what most recordings share fails; none is reported as not uploading.",
  },
  counts: {
    summary: "Visitor counts of the analytics service are stale",
    description: "They are older than twice their interval: rules on counts find nothing new, and their alerts stay.",
  },
  unreadable: {
    summary: "Stored state of recordings cannot be read",
    description: "They are not evaluated, and their alerts keep their state.",
    isUnread: true,
    isOwn: true,
  },
};

/** A sentence on each cause, without a full stop. */
export function summariesOf({ causes }: Evidence): string[] {
  return causes.map(({ kind }) => CAUSES[kind].summary);
}

function lateness({ attempts }: Cause, { intervalMs }: EvidenceMoment): string {
  const apart = humanDuration(Math.max(...attempts.map(({ lateMs = 0 }) => lateMs)));
  const shards = counted(attempts.length, "shard");
  return `Good readings of ${shards} are up to ${apart} apart instead of ${humanDuration(intervalMs)}: alerts come late.`;
}

function lastGoodAt(causes: readonly Cause[], now: Instant): Instant {
  const attempts = causes.flatMap((cause) => cause.attempts);
  const known = attempts.map(({ goodAt, attemptedAt }) => goodAt || attemptedAt).filter((at) => at > 0);
  return Math.min(now, Math.max(...known, 0) || now);
}
