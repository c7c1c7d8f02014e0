/**
 * Compares the simulator's ledger with the accepted messages: per integration and recording, every alert must match an
 * outage, every lasting outage must be notified once, and every beginning must have an end.
 * Pure: the same logs give the same verdicts.
 */
import type { Instant } from "../../src/lib/clock.ts";
import { auditApp } from "./audit-app.ts";
import { auditEscalations, auditIncidents, type IncidentEvent } from "./audit-incidents.ts";
import { auditRecording } from "./audit-recording.ts";
import { type AppLog, type Notice, noticesOfApp } from "./notices.ts";
import { auditRepetitions } from "./repetitions.ts";
import { type KnownSuppression, withdrawnTogether } from "./suppressions.ts";
import { confirmed, countedAnswers, outagesOf, type Span, type StatusChange, unsureTimes } from "./timeline.ts";

export interface WatchedRecording {
  readonly id: string;
  readonly locationId: string;
  /** Integrations its alerts are routed to; escalations apart. */
  readonly integrations: readonly string[];
}

export interface AuditInput {
  readonly recordings: readonly WatchedRecording[];
  readonly ledger: readonly StatusChange[];
  /** What webhooks and phones accepted, in order of time. */
  readonly notices: readonly Notice[];
  readonly app: AppLog;
  readonly incidents: readonly IncidentEvent[];
  /** By location: when the service answered about it, and when an answer was evaluated, by what the daemon stored. */
  readonly answers: ReadonlyMap<string, readonly Instant[]>;
  readonly judged: ReadonlyMap<string, readonly Instant[]>;
  /** Kills of replicas and of Redis. */
  readonly crashes: readonly Instant[];
  /** When the service or Redis gave no good answers. */
  readonly unreachable: readonly Span[];
  /** From the kill of Redis until it answered again. */
  readonly redisDown: readonly Span[];
  /** Any fault: messages during one are not late. */
  readonly disturbed: readonly Span[];
  /** Silences and acknowledgements. */
  readonly suppressions: readonly KnownSuppression[];
  readonly rule: Timing;
  readonly end: Instant;
}

export interface Timing {
  readonly intervalMs: number;
  readonly forMs: number;
  readonly keepFiringForMs: number;
  readonly repeatMs: number;
  readonly escalateMs: number;
  /** Undisturbed notifications are late after this, ms. */
  readonly lateMs: number;
}

/** `repeated`: by the Slack app; `stale`: its root does not show what is true at the end. */
export type VerdictKind = "lost" | "false" | "doubled" | "unresolved" | "late" | "unreadable" | "repeated" | "stale";

export interface Verdict {
  readonly kind: VerdictKind;
  readonly integration: string;
  readonly subject: string;
  readonly at: Instant;
  readonly why: string;
}

/** Time from a flip to the acceptance of its message. */
export interface Delay {
  readonly ms: number;
  readonly kind: "firing" | "recovered";
  /** Nothing failed from shortly before the flip until the acceptance. */
  readonly undisturbed: boolean;
  readonly integration: string;
  readonly subject: string;
  readonly at: Instant;
}

export type Audit = ReturnType<typeof audit>;

/** Audits a whole run. */
export function audit(input: AuditInput) {
  const { rule, end, recordings, disturbed } = input;
  const ofApp = noticesOfApp(input.app);
  const { byLocation, sure } = countedByLocation(input);
  const offline = outagesOf(input.ledger, end);
  const suppressions = byRecording(input.suppressions);
  const isPhone = ({ integration }: Notice) => integration.startsWith("phone/");
  const all = [...input.notices.filter((one) => !isPhone(one)), ...ofApp.notices].sort((a, b) => a.at - b.at);
  const own = Map.groupBy(all, ({ integration, recordingId }) => `${integration} ${recordingId}`);
  const parts = recordings.flatMap(({ id: subject, locationId, integrations }) =>
    integrations.map((integration) => {
      const key = `${integration} ${subject}`;
      const notices = own.get(key) ?? [];
      own.delete(key);
      return auditRecording(notices, {
        integration,
        subject,
        offline: offline.get(subject) ?? [],
        answers: byLocation.get(locationId) ?? [],
        disturbed,
        suppressions: suppressions.get(subject) ?? [],
        rule,
        end,
      });
    }),
  );
  const facts = { app: input.app, suppressions, offline, end };
  const delays = parts.flatMap((part) => part.delays);
  const repetitions = auditRepetitions(input.notices, rule.repeatMs, input);
  const sum = (of: "mustBeNotified" | "excused") => parts.reduce((total, part) => total + part[of], 0);
  const verdicts: Verdict[] = [
    ...parts.flatMap((part) => part.verdicts),
    ...[...own.values()].flatMap((notices) => auditOther(notices, end)),
    ...lateOf(delays, rule),
    ...auditIncidents(input.incidents, facts),
    ...auditEscalations(input.notices.filter(isPhone), rule.escalateMs, facts),
    ...repetitions.left,
    ...auditApp(input.app),
    ...ofApp.unknown.map((why): Verdict => ({ kind: "unreadable", integration: "app", subject: "", at: end, why })),
  ];
  return {
    outages: recordings.reduce((total, { id }) => total + (offline.get(id)?.length ?? 0), 0),
    /** Outages certainly read for long enough, and those rightly not notified; each integration's counted. */
    mustBeNotified: sum("mustBeNotified"),
    excused: sum("excused"),
    notices: all.length,
    /** Answers about a location while nothing failed, and the number evaluated. */
    answers: { sure, judged: [...byLocation.values()].reduce((total, { length }) => total + length, 0) },
    /** All verdicts except excused repetitions. */
    verdicts,
    /** Repeated messages; `excused`: each by a kill of its own while the first was in flight. */
    doubled: { messages: repetitions.messages, excused: repetitions.excused },
    delays,
  };
}

function byRecording(suppressions: readonly KnownSuppression[]): Map<string, KnownSuppression[]> {
  const found = new Map<string, KnownSuppression[]>();
  for (const one of withdrawnTogether(suppressions))
    for (const id of one.recordingIds) found.set(id, [...(found.get(id) ?? []), one]);
  return found;
}

/** Answers that were certainly evaluated, with no failure around them. */
function countedByLocation({ answers, judged, unreachable, redisDown, crashes }: AuditInput) {
  const unsure = unsureTimes([...unreachable, ...redisDown], crashes);
  let sure = 0;
  const byLocation = new Map(
    [...answers].map(([id, all]) => {
      const counted = countedAnswers(all, unsure);
      sure += counted.length;
      return [id, confirmed(counted, judged.get(id) ?? [])] as const;
    }),
  );
  return { byLocation, sure };
}

/** Notices at one integration of what is not routed to it, or of an alert about no recording, which must end. */
function auditOther(notices: readonly Notice[], end: Instant): Verdict[] {
  const [first] = notices;
  if (!first) return [];
  const { integration, recordingId, rule, at } = first;
  if (recordingId !== "") {
    const why = "notified to an integration it is not routed to";
    return [{ kind: "false", integration, subject: recordingId, at, why }];
  }
  return [...Map.groupBy(notices, (one) => `${one.rule} ${one.startsAt}`).values()]
    .filter((episode) => episode.every(({ status }) => status === "firing"))
    .map(() => ({ kind: "unresolved", integration, subject: rule, at: end, why: "notified, never resolved" }));
}

/** Notifications that took too long without a failure. */
function lateOf(delays: readonly Delay[], { lateMs }: Timing): Verdict[] {
  return delays
    .filter(({ ms, undisturbed }) => undisturbed && ms > lateMs)
    .map(({ integration, subject, at, ms, kind }) => {
      const why = `notified ${kind} ${(ms / 1_000).toFixed(1)} s after the flip, without a failure`;
      return { kind: "late", integration, subject, at, why };
    });
}
