/** Evaluates the analytics service by how old the evidence is: unreachable where hardly any recording is read, else partly. */
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { counted } from "../lib/format.ts";
import type { Evaluator } from "./apply-rules.ts";
import type { Subject } from "./evaluation.ts";
import type { Attempt, Cause, CauseKind, Evidence, EvidenceMoment } from "./evidence.ts";
import { GAP_INTERVALS } from "./rhythm.ts";
import { alertAnnotations, alertLabels, generatedOf, type Rule } from "./rule.ts";

/** The analytics service, as alerts and decisions name it. */
export const serviceSubject: Subject = { kind: "service", id: "analytics" };

/** Those for which recordings are not read; the others are about figures, lists and lateness. */
const UNREAD: ReadonlySet<CauseKind> = new Set(["failing", "misread", "internal", "unasked", "unreadable"]);

/** Causes on the side of lenswatch. */
const OWN: ReadonlySet<CauseKind> = new Set(["internal", "unasked", "unreadable"]);

/** `health`: of `GET /v1/status`. */
export function serviceEvaluator(evidence: Evidence, health: Attempt | undefined, context: EvidenceMoment): Evaluator {
  const { now } = context;
  const isUnreachable = ({ when }: Rule) => when.kind === "service" && when.state === "unreachable";
  const causesOf = (rule: Rule) =>
    isUnreachable(rule)
      ? evidence.causes.filter(
          ({ kind }) => UNREAD.has(kind) || (kind === "absent" && evidence.state === "unreachable"),
        )
      : evidence.causes;
  const detailOf = (rule: Rule) => {
    const causes = causesOf(rule);
    const isFailing = isUnreachable(rule) && causes.some(({ kind }) => kind === "failing");
    return sentences([...causes.map(({ error }) => error), isFailing ? healthOf(health, context) : undefined]);
  };
  const isGoneItself = (rule: Rule) => isUnreachable(rule) && !OWN.has(causesOf(rule)[0]?.kind ?? "failing");
  const old = evidence.causes.flatMap(({ kind, attempts }) => (UNREAD.has(kind) && kind !== "misread" ? attempts : []));
  const isAsked = ({ attemptedAt }: Attempt) => now - attemptedAt <= GAP_INTERVALS * context.intervalMs;
  return {
    subject: serviceSubject,
    evidence: (rule) => (isUnreachable(rule) ? isGone(evidence) : isPartlyGone(evidence)),
    // Until every shard was asked again, recordings of the others have only the state of before.
    defersResolve: (rule, clearingSince) =>
      isUnreachable(rule) && old.some((one) => isAsked(one) && one.attemptedAt < clearingSince),
    startsAt: (rule) => lastGoodAt(causesOf(rule), now),
    facts: (rule) => ({
      timezone: "UTC",
      detail: detailOf(rule),
      // The other summaries name the part that is not read.
      restated: isGoneItself(rule) || causesOf(rule)[0]?.kind === "failing" ? generatedOf(rule, ["summary"]) : [],
    }),
    describe(rule) {
      const [first, ...others] = causesOf(rule).map((cause) => wordsOf(cause, context));
      const named = isGoneItself(rule) ? UNREACHABLE : (first ?? PARTLY_UNREACHABLE);
      const also = isUnreachable(rule) ? [] : others.map(([summary]) => `${summary}.`);
      const description = [named[1], ...also, detailOf(rule) ?? ""].join(" ").trimEnd();
      return { labels: alertLabels(rule, {}), annotations: alertAnnotations(rule, [named[0], description]) };
    },
  };
}

function isGone({ state }: Evidence): boolean | undefined {
  return state === "unknown" ? undefined : state === "unreachable";
}

/** Where all is unreachable, no part has recovered; while it is still read now and then, it is partly so as well. */
function isPartlyGone({ state, isRare }: Evidence): boolean | undefined {
  if (state === "unreachable") return isRare || undefined;
  return state === "unknown" ? undefined : state === "partly";
}

/** Sentences one after the other, each once; undefined where there is none. */
export function sentences(all: readonly (string | undefined)[]): string | undefined {
  const said = [...new Set(all.filter((one) => one !== undefined))];
  return said.map((one, i) => (i < said.length - 1 ? one.replace(/[^.]$/, "$&.") : one)).join(" ") || undefined;
}

/** Whether the service calls itself healthy: so, whether the fault is on its side. */
function healthOf(
  health: Attempt | undefined,
  { now, intervalMs, requestTimeoutMs }: EvidenceMoment,
): string | undefined {
  if (!health || now - Math.max(health.attemptedAt, health.goodAt) > GAP_INTERVALS * intervalMs + requestTimeoutMs)
    return undefined;
  if (health.goodAt < health.attemptedAt) return `Its own health check fails too: ${health.error}`;
  return "It calls itself healthy (GET /v1/status).";
}

type Words = readonly [summary: string, description: string];

const UNREACHABLE: Words = [
  "The analytics service is unreachable",
  "Hardly any recording was read for three intervals: alerts keep their state until the service is understood again.",
];
const PARTLY_UNREACHABLE: Words = [
  "The analytics service is partly unreachable",
  "Sweeps of some locations fail: their recordings keep their last known state.",
];

const WORDS: Readonly<Record<CauseKind, Words>> = {
  failing: PARTLY_UNREACHABLE,
  misread: [
    "Some recordings cannot be read",
    "Answers come, but not for these, or not in words that are understood: they keep their last known state.",
  ],
  internal: [
    "lenswatch fails to evaluate some recordings",
    "The service answers, and what it answers cannot be evaluated or stored: these recordings keep their last known state. The log has the cause.",
  ],
  unasked: [
    "Some recordings are not swept",
    "No request fails, and none is made: these recordings keep their last known state. Is there a replica with the role poll, with CPU left?",
  ],
  late: [
    "Sweeps of recordings cannot keep their interval",
    "If the service fails or answers slowly, report it to its support, or raise watch.status_interval; else give lenswatch more CPU, or replicas with the role poll.",
  ],
  absent: [
    "Status answers of the analytics service lack too many recordings",
    "Those left out keep their last known state, and none is reported missing.",
  ],
  list: [
    "The location list of the analytics service is missing or rejected",
    "The locations known so far are watched; new ones are not.",
  ],
  uptimes: [
    "Uptime figures of the analytics service are stale",
    "They are older than twice their interval: the Core API does not answer, or too slowly.",
  ],
  segments: [
    "Hardly any segments of most recordings arrive, though they are online",
    "Either the service's uptime figures are late, or what most recordings share fails; none is reported as not uploading.",
  ],
  counts: [
    "Visitor counts of the analytics service are stale",
    "They are older than twice their interval: rules on counts find nothing new, and their alerts stay.",
  ],
  unreadable: [
    "Stored state of recordings cannot be read",
    "They are not evaluated, and their alerts keep their state.",
  ],
};

/** A sentence on each cause, without a full stop. */
export function summariesOf({ causes }: Evidence): string[] {
  return causes.map(({ kind }) => WORDS[kind][0]);
}

function wordsOf({ kind, attempts }: Cause, { intervalMs }: EvidenceMoment): Words {
  const [summary, description] = WORDS[kind];
  if (kind !== "late") return [summary, description];
  const apart = humanDuration(Math.max(...attempts.map(({ lateMs = 0 }) => lateMs)));
  return [
    summary,
    `Good readings of ${counted(attempts.length, "shard")} are up to ${apart} apart instead of ${humanDuration(intervalMs)}: alerts come late. ${description}`,
  ];
}

function lastGoodAt(causes: readonly Cause[], now: Instant): Instant {
  const attempts = causes.flatMap((cause) => cause.attempts);
  const known = attempts.map(({ goodAt, attemptedAt }) => goodAt || attemptedAt).filter((at) => at > 0);
  return Math.min(now, Math.max(...known, 0) || now);
}
