/**
 * What truly happened, held against what was told: per integration and subject, every telling must speak of an
 * outage there was, every outage that lasted must be told, each thing once, and every beginning must have an end.
 * Pure: the same logs give the same verdicts.
 */
import type { Instant } from "../../src/lib/clock.ts";
import { auditFlapping, type FlapRule } from "./audit-flapping.ts";
import { auditOther } from "./audit-other.ts";
import { auditRecording, type RecordingAudit } from "./audit-recording.ts";
import type { Excuse } from "./expectations.ts";
import { FLAPPING, type Telling } from "./messages.ts";
import { excuse } from "./repetitions.ts";
import type { Held } from "./suppressions.ts";
import {
  confirmed,
  countedAnswers,
  darkTimes,
  type Span,
  type StatusChange,
  unsureTimes,
} from "./timeline.ts";

export interface Watched {
  readonly id: string;
  readonly name: string;
  readonly locationId: string;
  /** The location's name. */
  readonly place: string;
  /** Who is to be told of it. */
  readonly integrations: readonly string[];
  /** The times of its uploading schedule; undefined: always. */
  readonly within?: readonly Span[] | undefined;
}

export interface AuditInput {
  readonly recordings: readonly Watched[];
  readonly ledger: readonly StatusChange[];
  /** In order of time. */
  readonly tellings: readonly Telling[];
  /** Lines of accepted messages that could not be read. */
  readonly unreadable: readonly string[];
  /** By location: when the service answered about it. */
  readonly answers: ReadonlyMap<string, readonly Instant[]>;
  /** By location: when an answer about it was judged, by what the daemon remembers. */
  readonly judged: ReadonlyMap<string, readonly Instant[]>;
  /** Kills of replicas and of Redis. */
  readonly crashes: readonly Instant[];
  /** The service, or Redis, did not do its part. */
  readonly blind: readonly Span[];
  /** From the kill of Redis until it answered again. */
  readonly redisDown: readonly Span[];
  /** Any fault at all, for what counts as late. */
  readonly disturbed: readonly Span[];
  /** Silences and acknowledgements. */
  readonly held: readonly Held[];
  readonly rule: Timing;
  readonly flapping: FlapRule;
  readonly end: Instant;
}

export interface Timing {
  readonly intervalMs: number;
  readonly forMs: number;
  readonly keepFiringForMs: number;
  /** What nothing held up is late after this, ms. */
  readonly lateMs: number;
}

export type VerdictKind = "lost" | "false" | "doubled" | "unresolved" | "late" | "unreadable";

export interface Verdict {
  readonly kind: VerdictKind;
  readonly integration: string;
  readonly subject: string;
  readonly at: Instant;
  readonly why: string;
  /** `doubled`: the message that repeats, and when what it repeats was first accepted. */
  readonly message?: number;
  readonly firstAt?: Instant;
}

/** From a flip to the acceptance of the message about it. */
export interface Delay {
  readonly ms: number;
  readonly says: "firing" | "recovered";
  /** Nothing failed from shortly before the flip until the acceptance. */
  readonly undisturbed: boolean;
  readonly integration: string;
  readonly subject: string;
  readonly at: Instant;
}

export interface Audit {
  /** Dark times, counted once for each integration that is to hear of them. */
  readonly outages: number;
  /** Of those, how many were surely seen for long enough. */
  readonly mustBeTold: number;
  /** Outages seen for long enough that were rightly not told, by the reason. */
  readonly excused: Readonly<Partial<Record<Excuse, number>>>;
  /** Times a recording was told to flap. */
  readonly flaps: number;
  readonly tellings: number;
  /** Answers about a place while nothing failed, and how many of them were judged. */
  readonly answers: { readonly sure: number; readonly judged: number };
  /** All verdicts but the doubled ones that are excused. */
  readonly verdicts: readonly Verdict[];
  /** Messages that repeat what was told; `excused`: each by a kill of its own while the first was in flight. */
  readonly doubled: { readonly messages: number; readonly excused: number };
  readonly delays: readonly Delay[];
}

/** Judges a whole run. */
export function audit(input: AuditInput): Audit {
  const bySubject = Map.groupBy(input.tellings, ({ subject, integration }) => `${integration}\n${subject}`);
  const { byPlace, sure } = countedByPlace(input);
  const auditOne = createAuditOne(input, byPlace);
  const parts = input.recordings.flatMap((recording) =>
    recording.integrations.map((integration) => {
      const key = `${integration}\n${recording.name}`;
      const tellings = bySubject.get(key) ?? [];
      bySubject.delete(key);
      return auditOne(recording, integration, tellings);
    }),
  );
  const others = [...bySubject.values()].flatMap((tellings) => auditOther(tellings, input));
  const delays = parts.flatMap((part) => part.delays);
  const found = [...parts.flatMap(({ verdicts }) => verdicts), ...others, ...lateOf(delays, input.rule)];
  const doubled = excuse(
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
    mustBeTold: sum((part) => part.mustBeTold),
    excused: Object.fromEntries([...excused].map(([reason, all]) => [reason, all.length])),
    flaps: sum((part) => part.flaps),
    tellings: input.tellings.length,
    answers: { sure, judged: [...byPlace.values()].reduce((all, { length }) => all + length, 0) },
    verdicts: [
      ...found.filter(({ kind }) => kind !== "doubled"),
      ...doubled.left,
      ...input.unreadable.map(
        (why): Verdict => ({ kind: "unreadable", integration: "", subject: "", at: input.end, why }),
      ),
    ],
    doubled: { messages: doubled.messages, excused: doubled.excused },
    delays,
  };
}

/** Answers that must have counted: nothing failed around them, and what they said was judged. */
function countedByPlace({ answers, judged, blind, crashes }: AuditInput) {
  const unsure = unsureTimes(blind, crashes);
  let sure = 0;
  const byPlace = new Map(
    [...answers].map(([id, all]) => {
      const counted = countedAnswers(all, unsure);
      sure += counted.length;
      return [id, confirmed(counted, judged.get(id) ?? [])] as const;
    }),
  );
  return { byPlace, sure };
}

interface OneAudit extends RecordingAudit {
  readonly flaps: number;
}

/** Judges one recording at one integration; what was told of its flapping first, since that excuses and condemns. */
function createAuditOne(input: AuditInput, byPlace: ReadonlyMap<string, readonly Instant[]>) {
  const dark = darkTimes(input.ledger, input.end);
  const changes = Map.groupBy(input.ledger, ({ recordingId }) => recordingId);
  const held = new Map<string, Held[]>();
  for (const one of input.held)
    for (const id of one.recordingIds) held.set(id, [...(held.get(id) ?? []), one]);

  return (recording: Watched, integration: string, tellings: readonly Telling[]): OneAudit => {
    const { id, name: subject, locationId, within } = recording;
    const common = { integration, subject, end: input.end };
    const counted = byPlace.get(locationId) ?? [];
    const [ofFlapping, ofOutages] = [true, false].map((is) =>
      tellings.filter(({ says }) => FLAPPING.has(says) === is),
    ) as [Telling[], Telling[]];
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
      dark: dark.get(id) ?? [],
      answers: counted,
      disturbed,
      within,
      held: held.get(id) ?? [],
      flaps: flapping.flaps,
      rule,
    });
    return {
      ...outages,
      flaps: flapping.flaps.length,
      verdicts: [...flapping.verdicts, ...outages.verdicts],
    };
  };
}

/** What took too long although nothing failed. */
function lateOf(delays: readonly Delay[], { lateMs }: Timing): Verdict[] {
  return delays
    .filter(({ ms, undisturbed }) => undisturbed && ms > lateMs)
    .map(({ integration, subject, at, ms, says }) => {
      const why = `told ${says} ${(ms / 1_000).toFixed(1)} s after the flip, with nothing failing`;
      return { kind: "late", integration, subject, at, why };
    });
}
