/** Incidents at PagerDuty, each with its end, and escalations: none while acknowledged, none missing. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Verdict } from "./audit.ts";
import { type AppLog, byTrace, type Episode, type Notice } from "./notices.ts";
import { activeSpan, isActiveThroughout, type KnownSuppression } from "./suppressions.ts";
import type { Span } from "./timeline.ts";

export interface IncidentEvent {
  readonly at: Instant;
  /** `pagerduty/0`. */
  readonly integration: string;
  readonly action: "trigger" | "acknowledge" | "resolve";
  readonly key: string;
  /** Of a trigger; `timestamp`: when the oldest of its alerts began. */
  readonly summary?: string;
  readonly source?: string;
  readonly timestamp?: string;
}

interface Facts {
  readonly app: AppLog;
  /** By recording. */
  readonly suppressions: ReadonlyMap<string, readonly KnownSuppression[]>;
  readonly offline: ReadonlyMap<string, readonly Span[]>;
  readonly end: Instant;
}

/** From the time a step is reached to its message, whatever was killed meanwhile. */
const SLACK_MS = 40_000;
const DECIDING_MS = 6_000;

/** Each incident is opened once and resolved. */
export function auditIncidents(events: readonly IncidentEvent[], { app, end }: Facts): Verdict[] {
  const firing = new Set(
    [...app.episodes.values()].filter((one) => one.endsAt === undefined).map((one) => one.location),
  );
  const verdicts: Verdict[] = [];
  /** By key: its trigger. */
  const open = new Map<string, IncidentEvent>();
  const acknowledged = new Map<string, IncidentEvent>();
  for (const event of events) {
    const { integration, action, at, source: subject = "" } = event;
    const key = `${integration} ${event.key}`;
    // An acknowledged incident rings nobody: what fires on is begun again, and it is resolved after that.
    if (action === "acknowledge") acknowledged.set(key, open.get(key) ?? acknowledged.get(key) ?? event);
    if (action === "resolve") acknowledged.delete(key);
    if (action !== "trigger") open.delete(key);
    if (action !== "trigger") continue;
    const other = [...open].find(([one, trigger]) => one !== key && isSame(trigger, event));
    const why = `a second incident, ${event.key}, beside ${other?.[1].key}`;
    if (other) verdicts.push({ kind: "doubled", integration, subject, at, why });
    if (!open.has(key)) open.set(key, event);
  }
  for (const { integration, source: subject = "", key, at } of [...open.values(), ...acknowledged.values()]) {
    const why = `incident ${key} of ${new Date(at).toISOString()} was never resolved`;
    if (!firing.has(subject)) verdicts.push({ kind: "unresolved", integration, subject, at: end, why });
  }
  return verdicts;
}

/** About the same outage of one location; a summary has the name of any of its locations. */
function isSame(one: IncidentEvent, other: IncidentEvent): boolean {
  const isSummary = ({ summary = "" }: IncidentEvent) => summary.includes("locations");
  const isAlike = (["integration", "source", "timestamp"] as const).every((part) => one[part] === other[part]);
  return isAlike && !isSummary(one) && !isSummary(other);
}

/** `escalated`: what the phones accepted; due `afterMs` after the app's post. */
export function auditEscalations(escalated: readonly Notice[], afterMs: number, facts: Facts): Verdict[] {
  const episodes = new Map([...facts.app.episodes.values()].map((one) => [keyOf(one), one]));
  const byEpisode = Map.groupBy(escalated, keyOf);
  const verdicts = [...byEpisode].flatMap(([key, notices]) => auditOne(notices, episodes.get(key), afterMs, facts));
  const known = byTrace(facts.app.episodes);
  const missing = facts.app.posts.flatMap(({ at, integration, traces }) =>
    traces.flatMap((trace): Verdict[] => {
      const { status, episode } = known.get(trace) ?? {};
      if (status !== "firing" || !episode || byEpisode.has(keyOf(episode))) return [];
      const due = at + afterMs;
      const isLong = (episode.endsAt ?? facts.end) >= due + SLACK_MS;
      if (!isLong || isSuppressed(episode, due + SLACK_MS, facts)) return [];
      const why = `fired from ${new Date(at).toISOString()} on, never escalated`;
      return [
        { kind: "lost", integration: integration.replace("app", "phone"), subject: episode.recordingId, at: due, why },
      ];
    }),
  );
  return [...verdicts, ...missing];
}

function auditOne(notices: readonly Notice[], episode: Episode | undefined, afterMs: number, facts: Facts): Verdict[] {
  const [first] = notices;
  if (!first) return [];
  const { integration, recordingId: subject, at } = first;
  const judge = (kind: Verdict["kind"], why: string): Verdict => ({ kind, integration, subject, at, why });
  const offline = facts.offline.get(subject) ?? [];
  const acks = (facts.suppressions.get(subject) ?? []).filter(({ kind }) => kind === "ack");
  const waiting = { from: at - afterMs - DECIDING_MS, to: at };
  const isHandled = acks.some((one) => isActiveThroughout(one, waiting, offline));
  // A receiver that was away gets what began and ended meanwhile once, as over.
  const isShort = episode?.endsAt !== undefined && episode.endsAt - episode.startsAt < afterMs;
  const isOver = notices.some(({ status }) => status === "resolved");
  return [
    ...(first.status === "resolved" && isShort ? [judge("false", "escalated before its step was reached")] : []),
    ...(first.status === "firing" && isHandled ? [judge("false", "escalated while acknowledged")] : []),
    ...(!isOver && episode?.endsAt ? [judge("unresolved", "escalated, never resolved")] : []),
  ];
}

/** By anything, for a moment: that stops the clock. */
function isSuppressed({ recordingId, startsAt }: Episode, to: Instant, { suppressions, offline }: Facts): boolean {
  const spans = (suppressions.get(recordingId) ?? []).map((one) => activeSpan(one, offline.get(recordingId) ?? []));
  return spans.some((span) => span.from <= to && span.to >= startsAt);
}

function keyOf({ recordingId, startsAt }: Pick<Notice, "recordingId" | "startsAt">): string {
  return `${recordingId} ${startsAt}`;
}
