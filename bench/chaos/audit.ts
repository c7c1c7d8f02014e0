/**
 * Compares the simulator's ledger with the accepted messages: per integration and subject, every notice must match an
 * outage, every lasting outage must be notified once, and every start must have an end.
 * Pure: the same logs give the same verdicts.
 */
import type { Instant } from "../../src/lib/clock.ts";
import { type AppLog, auditApp } from "./app-posts.ts";
import { auditFlapping, type FlapRule } from "./audit-flapping.ts";
import { auditGroups, type CameraServer, type GroupLine } from "./audit-groups.ts";
import { auditEscalations, auditIncidents, type IncidentLog } from "./audit-incidents.ts";
import { auditOther } from "./audit-other.ts";
import { auditRecording, type RecordingAudit } from "./audit-recording.ts";
import type { Excuse } from "./expectations.ts";
import { FLAPPING, type Notice } from "./messages.ts";
import { allowedRepetitions } from "./repetitions.ts";
import type { KnownSuppression } from "./suppressions.ts";
import { confirmed, countedAnswers, outagesOf, type Span, type StatusChange, unsureTimes } from "./timeline.ts";

export interface WatchedRecording {
  readonly id: string;
  readonly name: string;
  readonly locationId: string;
  /** The location's name. */
  readonly locationName: string;
  /** Integrations its alerts are routed to. */
  readonly integrations: readonly string[];
  /** Spans of its uploading schedule; undefined: always. */
  readonly within?: readonly Span[] | undefined;
}

export interface AuditInput {
  readonly recordings: readonly WatchedRecording[];
  readonly ledger: readonly StatusChange[];
  /** In order of time. */
  readonly notices: readonly Notice[];
  /** Lines of accepted messages that could not be parsed. */
  readonly unreadable: readonly string[];
  /** By location: when the service answered about it. */
  readonly answers: ReadonlyMap<string, readonly Instant[]>;
  /** By location: when an answer about it was evaluated, by what the daemon stored. */
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
  /** Of the Slack app; its notices are among `notices`. */
  readonly app?: AppLog;
  readonly incidents?: IncidentLog;
  /** Camera servers, and the alerts about them in accepted messages. */
  readonly groups?: { readonly servers: readonly CameraServer[]; readonly lines: readonly GroupLine[] };
  readonly rule: Timing;
  readonly flapping: FlapRule;
  readonly end: Instant;
}

export interface Timing {
  readonly intervalMs: number;
  readonly forMs: number;
  readonly keepFiringForMs: number;
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
  /** `doubled`: the repeating message, and when the first was accepted. */
  readonly message?: number;
  readonly firstAt?: Instant;
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

export interface Audit {
  /** Outages, counted once for each integration they are routed to. */
  readonly outages: number;
  /** Outages certainly read for long enough. */
  readonly mustBeNotified: number;
  /** Outages read for long enough that were rightly not notified, by reason. */
  readonly excused: Readonly<Partial<Record<Excuse, number>>>;
  /** Outages of camera servers certainly read for long enough. */
  readonly groupsToNotify: number;
  /** Number of flapping notices. */
  readonly flaps: number;
  readonly notices: number;
  /** Answers about a location while nothing failed, and the number evaluated. */
  readonly answers: { readonly sure: number; readonly judged: number };
  /** All verdicts except excused repetitions. */
  readonly verdicts: readonly Verdict[];
  /** Repeated messages; `excused`: each by a kill of its own while the first was in flight. */
  readonly doubled: { readonly messages: number; readonly excused: number };
  readonly delays: readonly Delay[];
}

/** Audits a whole run. */
export function audit(input: AuditInput): Audit {
  const bySubject = Map.groupBy(input.notices, ({ subject, integration }) => `${integration}\n${subject}`);
  const { byLocation, sure } = countedByLocation(input);
  const auditOne = createAuditOne(input, byLocation);
  const parts = input.recordings.flatMap((recording) =>
    recording.integrations.map((integration) => {
      const key = `${integration}\n${recording.name}`;
      const notices = bySubject.get(key) ?? [];
      bySubject.delete(key);
      return auditOne(recording, integration, notices);
    }),
  );
  const others = [...bySubject.values()].flatMap((notices) => auditOther(notices, input));
  const delays = parts.flatMap((part) => part.delays);
  const found = [...parts.flatMap(({ verdicts }) => verdicts), ...others, ...lateOf(delays, input.rule)];
  found.push(...incidentVerdicts(input));
  const ofGroups = groupVerdicts(input, byLocation);
  found.push(...ofGroups.verdicts);
  const doubled = allowedRepetitions(
    found.filter(({ kind }) => kind === "doubled"),
    input,
  );
  const sum = (of: (part: OneAudit) => number) => parts.reduce((all, part) => all + of(part), 0);
  const excused = Map.groupBy(
    parts.flatMap((part) => part.excused),
    (reason) => reason,
  );
  return {
    outages: sum((part) => part.outages),
    mustBeNotified: sum((part) => part.mustBeNotified),
    excused: Object.fromEntries([...excused].map(([reason, all]) => [reason, all.length])),
    groupsToNotify: ofGroups.mustBeNotified,
    flaps: sum((part) => part.flaps),
    notices: input.notices.length,
    answers: { sure, judged: [...byLocation.values()].reduce((all, { length }) => all + length, 0) },
    verdicts: [
      ...found.filter(({ kind }) => kind !== "doubled"),
      ...doubled.left,
      ...(input.app ? auditApp(input.app) : []),
      ...input.unreadable.map(
        (why): Verdict => ({ kind: "unreadable", integration: "", subject: "", at: input.end, why }),
      ),
    ],
    doubled: { messages: doubled.messages, excused: doubled.excused },
    delays,
  };
}

function incidentVerdicts({ incidents, app, ledger, suppressions, end }: AuditInput): Verdict[] {
  if (!incidents || !app) return [];
  const facts = { app, suppressions, offline: outagesOf(ledger, end), end };
  return [...auditIncidents(incidents, facts), ...auditEscalations(incidents, facts)];
}

function groupVerdicts({ groups, ledger, rule, end }: AuditInput, answers: ReadonlyMap<string, readonly Instant[]>) {
  const { servers = [], lines = [] } = groups ?? {};
  return auditGroups(lines, { servers, answers, rule, end, offline: outagesOf(ledger, end) });
}

/** Answers that were certainly evaluated, with no failure around them. */
function countedByLocation({ answers, judged, unreachable, crashes }: AuditInput) {
  const unsure = unsureTimes(unreachable, crashes);
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

interface OneAudit extends RecordingAudit {
  readonly flaps: number;
}

/** Audits one recording at one integration; flapping first, since it excuses or forbids other notices. */
function createAuditOne(input: AuditInput, byLocation: ReadonlyMap<string, readonly Instant[]>) {
  const offline = outagesOf(input.ledger, input.end);
  const changes = Map.groupBy(input.ledger, ({ recordingId }) => recordingId);
  const suppressions = new Map<string, KnownSuppression[]>();
  for (const one of input.suppressions)
    for (const id of one.recordingIds) suppressions.set(id, [...(suppressions.get(id) ?? []), one]);

  return (recording: WatchedRecording, integration: string, notices: readonly Notice[]): OneAudit => {
    const { id, name: subject, locationId, within } = recording;
    const common = { integration, subject, end: input.end };
    const counted = byLocation.get(locationId) ?? [];
    const [ofFlapping, ofOutages] = [true, false].map((is) =>
      notices.filter(({ kind }) => FLAPPING.has(kind) === is),
    ) as [Notice[], Notice[]];
    const flapping = auditFlapping(ofFlapping, {
      ...common,
      changes: changes.get(id) ?? [],
      answers: input.answers.get(locationId) ?? [],
      counted,
      rule: input.flapping,
    });
    const { rule, disturbed } = input;
    const outages = auditRecording(ofOutages, {
      ...common,
      offline: offline.get(id) ?? [],
      answers: counted,
      disturbed,
      within,
      suppressions: suppressions.get(id) ?? [],
      flaps: flapping.flaps,
      rule,
    });
    return { ...outages, flaps: flapping.flaps.length, verdicts: [...flapping.verdicts, ...outages.verdicts] };
  };
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
