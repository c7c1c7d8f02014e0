/** Incidents at PagerDuty, each with its end, and escalations: none while acknowledged, none missing. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { AppLog, Episode } from "./app-posts.ts";
import { beginnings } from "./app-posts.ts";
import type { Verdict } from "./audit.ts";
import { activeSpan, isActiveThroughout, type KnownSuppression } from "./suppressions.ts";
import type { Span } from "./timeline.ts";

export interface IncidentEvent {
  readonly at: Instant;
  /** `pagerduty/0`. */
  readonly integration: string;
  readonly action: "trigger" | "acknowledge" | "resolve";
  readonly key: string;
  /** Of a trigger. */
  readonly summary?: string;
  readonly source?: string;
  /** Of a trigger: when the oldest of its alerts began. */
  readonly timestamp?: string;
}

/** An alert in an accepted message of a receiver that is escalated to. */
export interface Escalated {
  readonly at: Instant;
  /** `phone/0`. */
  readonly integration: string;
  readonly message: number;
  readonly status: "firing" | "resolved";
  readonly rule: string;
  readonly recordingId: string;
  readonly startsAt: Instant;
}

export interface IncidentLog {
  readonly events: readonly IncidentEvent[];
  readonly escalated: readonly Escalated[];
  readonly afterMs: number;
}

interface Facts {
  readonly app: AppLog;
  readonly suppressions: readonly KnownSuppression[];
  readonly offline: ReadonlyMap<string, readonly Span[]>;
  readonly end: Instant;
}

/** From the time a step is reached to its message, whatever was killed meanwhile. */
const SLACK_MS = 40_000;
const DECIDING_MS = 6_000;

export function auditIncidents({ events }: IncidentLog, { app, end }: Facts): Verdict[] {
  const firing = new Set(
    [...app.episodes.values()].filter((one) => one.endsAt === undefined).map((one) => one.location),
  );
  const verdicts: Verdict[] = [];
  /** By key: its trigger. */
  const open = new Map<string, IncidentEvent>();
  for (const event of events) {
    const { integration, action, at, source = "" } = event;
    const key = `${integration} ${event.key}`;
    if (action === "resolve") open.delete(key);
    if (action !== "trigger") continue;
    const other = [...open].find(([one, trigger]) => one !== key && isSame(trigger, event));
    const why = `a second incident, ${event.key}, beside ${other?.[1].key}`;
    if (other) verdicts.push({ kind: "doubled", integration, subject: source, at, why });
    if (!open.has(key)) open.set(key, event);
  }
  for (const { integration, source = "", key, at } of open.values()) {
    const why = `incident ${key} of ${new Date(at).toISOString()} was never resolved`;
    if (!firing.has(source)) verdicts.push({ kind: "unresolved", integration, subject: source, at: end, why });
  }
  return verdicts;
}

/**
 * About the same outage of one location: what is new there is an incident of its own. A summary has the name of any of
 * its locations.
 */
function isSame(one: IncidentEvent, other: IncidentEvent): boolean {
  const isSummary = ({ summary = "" }: IncidentEvent) => summary.includes("locations");
  const isAlike = (["integration", "source", "timestamp"] as const).every((part) => one[part] === other[part]);
  return isAlike && !isSummary(one) && !isSummary(other);
}

export function auditEscalations({ escalated, afterMs }: IncidentLog, facts: Facts): Verdict[] {
  const { app, end } = facts;
  const told = Map.groupBy(escalated, keyOf);
  const episodes = [...app.episodes.values()];
  const known = new Map(episodes.map((one) => [keyOf({ ...one, rule: ruleOf(one) }), one]));
  const verdicts = [...told].flatMap(([key, notices]) => auditOne(notices, known.get(key), facts, afterMs));
  const missing = beginnings(app).flatMap(({ episode, at, integration }): Verdict[] => {
    const due = at + afterMs;
    const isLong = (episode.endsAt ?? end) >= due + SLACK_MS;
    const isTold = told.has(keyOf({ ...episode, rule: ruleOf(episode) }));
    if (!isLong || isTold || episode.isFlapping || isSuppressed(episode, due + SLACK_MS, facts)) return [];
    const why = `fired from ${new Date(at).toISOString()} on, never escalated`;
    const to = integration.replace("app", "phone");
    return [{ kind: "lost", integration: to, subject: episode.recording, at: due, why }];
  });
  return [...verdicts, ...missing];
}

function auditOne(notices: readonly Escalated[], episode: Episode | undefined, facts: Facts, afterMs: number) {
  const [first] = notices;
  if (!first) return [];
  const { integration, recordingId } = first;
  const subject = episode?.recording ?? recordingId;
  const ends = notices.filter(({ status }) => status === "resolved");
  const judge = (kind: Verdict["kind"], { at, message }: Escalated, why: string, firstAt = at): Verdict => {
    return { kind, integration, subject, at, why, message, firstAt };
  };
  const offline = facts.offline.get(recordingId) ?? [];
  const acks = facts.suppressions.filter(
    ({ kind, recordingIds }) => kind === "ack" && recordingIds.includes(recordingId),
  );
  const waiting = { from: first.at - afterMs - DECIDING_MS, to: first.at };
  const isHandled = !episode?.isFlapping && acks.some((one) => isActiveThroughout(one, waiting, offline));
  // A receiver that was away gets what began and ended meanwhile once, as over.
  const isShort = episode?.endsAt !== undefined && episode.endsAt - episode.startsAt < afterMs;
  return [
    ...(first.status === "resolved" && isShort ? [judge("false", first, "escalated before its step was reached")] : []),
    ...(first.status === "firing" && isHandled ? [judge("false", first, "escalated while acknowledged")] : []),
    ...(ends.length === 0 && episode?.endsAt ? [judge("unresolved", first, "escalated, never resolved")] : []),
    ...ends.slice(1).map((one) => judge("doubled", one, "its end was escalated twice", ends[0]?.at)),
  ];
}

/** By anything, for a moment: that stops the clock. */
function isSuppressed({ recordingId, startsAt }: Episode, to: Instant, { suppressions, offline, app }: Facts): boolean {
  const own = suppressions.filter(({ recordingIds }) => recordingIds.includes(recordingId));
  const flapped = [...app.episodes.values()].some((one) => one.isFlapping && one.recordingId === recordingId);
  const spans = own.map((one) => activeSpan(one, offline.get(recordingId) ?? []));
  return flapped || spans.some((span) => span.from <= to && span.to >= startsAt);
}

function ruleOf({ isFlapping }: Episode): string {
  return isFlapping ? "RecordingFlapping" : "RecordingOffline";
}

function keyOf({ rule, recordingId, startsAt }: Pick<Escalated, "rule" | "recordingId" | "startsAt">): string {
  return `${rule} ${recordingId} ${startsAt}`;
}
