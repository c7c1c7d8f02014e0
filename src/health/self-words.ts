/** The words of self alerts, and of the banner, which is on every page: what is wrong with lenswatch itself, and what to do. */
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { counted } from "../lib/format.ts";
import type { Attempt } from "./attempt.ts";
import type { Cause, CauseKind, Evidence, EvidenceMoment } from "./evidence.ts";
import { GAP_INTERVALS } from "./rhythm.ts";

export interface TroubleWords {
  /** Without a full stop. */
  readonly summary: string;
  /** Sentences on what it means, its cause, and what to do. */
  readonly text: string;
}

/** `name`: of the integration. */
export function notificationWords(name: string, detail = ""): TroubleWords {
  const summary = `Notifications to ${name} fail`;
  return {
    summary,
    text: sentences([`Sending keeps failing: ${detail}`.trimEnd(), "Watch the status page meanwhile."]) ?? "",
  };
}

/** `detail`: what is in force instead, and why. */
export function directoryWords(detail: string): TroubleWords {
  const text = sentences([detail, "`lenswatch check-config` tries it."]) ?? "";
  return { summary: "The directory of shops cannot be read", text };
}

type Moment = Pick<EvidenceMoment, "now" | "intervalMs" | "requestTimeoutMs">;

/**
 * The words for evidence that is not in time. `isWhole`: of the service as a whole. `detail`: the service's own words;
 * `since`: the last good reading; `isNamed`: the summary names the part that is not read.
 */
export function evidenceWords(isWhole: boolean, evidence: Evidence, moment: Moment, health?: Attempt) {
  const causes = causesFor(isWhole, evidence);
  const [first, ...others] = causes;
  const isService = isWhole && !(first && CAUSES[first.kind].isOwn);
  const isFailing = isWhole && causes.some(({ kind }) => kind === "failing");
  const detail = sentences([...causes.map(({ error }) => error), isFailing ? healthOf(health, moment) : undefined]);
  const { summary, description } = isService ? UNREACHABLE : first ? CAUSES[first.kind] : PARTLY_UNREACHABLE;
  const late = !isService && first?.kind === "late" ? [lateness(first, moment)] : [];
  const also = isWhole ? [] : others.map(({ kind }) => `${CAUSES[kind].summary}.`);
  const text = [...late, description, ...also, detail ?? ""].join(" ").trimEnd();
  const isNamed = !isService && first?.kind !== "failing";
  return { summary, text, detail, isNamed, since: lastGoodAt(causes, moment.now) };
}

/** The causes that a rule is about, the widest first. */
function causesFor(isWhole: boolean, { state, causes }: Evidence): readonly Cause[] {
  const isOfWhole = ({ kind }: Cause) => CAUSES[kind].isUnread || (kind === "absent" && state === "unreachable");
  return isWhole ? causes.filter(isOfWhole) : causes;
}

/** The attempts at recordings that were not read. */
export function unreadAttempts({ causes }: Evidence): readonly Attempt[] {
  return causes.flatMap(({ kind, attempts }) => (CAUSES[kind].isUnread && kind !== "misread" ? attempts : []));
}

/** Sentences one after the other, each once; undefined where there is none. */
export function sentences(all: readonly (string | undefined)[]): string | undefined {
  const said = [...new Set(all.filter((one) => one !== undefined))];
  return said.map((one, i) => (i < said.length - 1 ? one.replace(/[^.]$/, "$&.") : one)).join(" ") || undefined;
}

/** The service's own word on its health: whether the fault is on its side. */
function healthOf(health: Attempt | undefined, { now, intervalMs, requestTimeoutMs }: Moment): string | undefined {
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
      "Answers come, but not for these, or not in words that are understood: they keep their last known state. Report it to the operator of the service.",
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
    summary: "Recordings are not swept",
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
    description: "The locations known so far are watched; new ones are not. Report it to the operator of the service.",
  },
  uptimes: {
    summary: "Uptime figures of the analytics service are stale",
    description:
      "They are older than twice their interval: the Core API does not answer, or too slowly. If it lasts, report it to the operator of the service.",
  },
  segments: {
    summary: "Hardly any segments of most recordings arrive, though they are online",
    description:
      "Either the service's uptime figures are late, or what most recordings share fails; none is reported as not uploading.",
  },
  counts: {
    summary: "Visitor counts of the analytics service are stale",
    description:
      "They are older than twice their interval: rules on counts find nothing new, and their alerts stay. If it lasts, report it to the operator of the service.",
  },
  unreadable: {
    summary: "Stored state of recordings cannot be read",
    description: "They are not evaluated, and their alerts keep their state.",
    isUnread: true,
    isOwn: true,
  },
};

function lateness({ attempts }: Cause, { intervalMs }: Moment): string {
  const apart = humanDuration(Math.max(...attempts.map(({ lateMs = 0 }) => lateMs)));
  const shards = counted(attempts.length, "shard");
  return `Good readings of ${shards} are up to ${apart} apart instead of ${humanDuration(intervalMs)}: alerts come late.`;
}

function lastGoodAt(causes: readonly Cause[], now: Instant): Instant {
  const attempts = causes.flatMap((cause) => cause.attempts);
  const known = attempts.map(({ goodAt, attemptedAt }) => goodAt || attemptedAt).filter((at) => at > 0);
  return Math.min(now, Math.max(...known, 0) || now);
}
