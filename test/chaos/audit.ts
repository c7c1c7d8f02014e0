/**
 * What truly happened, held against what was told: per integration and subject, every telling must speak of an
 * outage there was, every outage that lasted must be told, each thing once, and every beginning must have an end.
 * Pure: the same logs give the same verdicts.
 */
import type { Instant } from "../../src/lib/clock.ts";
import { auditOther } from "./audit-other.ts";
import { auditRecording } from "./audit-recording.ts";
import { excuse } from "./excuse.ts";
import type { Telling } from "./tellings.ts";
import { countedAnswers, darkTimes, type Span, type StatusChange } from "./truth.ts";

export interface Watched {
  readonly id: string;
  readonly name: string;
  readonly locationId: string;
  /** Who is to be told of it. */
  readonly integrations: readonly string[];
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
  /** Kills of replicas and of Redis. */
  readonly crashes: readonly Instant[];
  /** The service, or Redis, did not do its part. */
  readonly blind: readonly Span[];
  /** From the kill of Redis until it answered again. */
  readonly redisDown: readonly Span[];
  /** Any fault at all, for what counts as late. */
  readonly disturbed: readonly Span[];
  readonly rule: Timing;
  readonly end: Instant;
}

export interface Timing {
  readonly intervalMs: number;
  readonly forMs: number;
  readonly keepFiringForMs: number;
}

export type VerdictKind = "lost" | "false" | "doubled" | "unresolved" | "unreadable";

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
}

export interface Audit {
  /** Dark times, counted once for each integration that is to hear of them. */
  readonly outages: number;
  /** Of those, how many were surely seen for long enough. */
  readonly mustBeTold: number;
  readonly tellings: number;
  /** All verdicts but the doubled ones that are excused. */
  readonly verdicts: readonly Verdict[];
  /** Messages that repeat what was told; `excused`: each by a kill of its own while the first was in flight. */
  readonly doubled: { readonly messages: number; readonly excused: number };
  readonly delays: readonly Delay[];
}

/** Judges a whole run. */
export function audit(input: AuditInput): Audit {
  const dark = darkTimes(input.ledger, input.end);
  const byPlace = new Map(
    [...input.answers].map(([id, answers]) => [id, countedAnswers(answers, input.blind, input.crashes)]),
  );
  const bySubject = Map.groupBy(input.tellings, ({ subject, integration }) => `${integration}\n${subject}`);
  const parts = input.recordings.flatMap((recording) =>
    recording.integrations.map((integration) => {
      const key = `${integration}\n${recording.name}`;
      const tellings = bySubject.get(key) ?? [];
      bySubject.delete(key);
      return auditRecording(tellings, {
        integration,
        subject: recording.name,
        dark: dark.get(recording.id) ?? [],
        answers: byPlace.get(recording.locationId) ?? [],
        disturbed: input.disturbed,
        rule: input.rule,
        end: input.end,
      });
    }),
  );
  const others = [...bySubject.values()].flatMap((tellings) => auditOther(tellings, input));
  const found = [...parts.flatMap(({ verdicts }) => verdicts), ...others];
  const doubled = excuse(
    found.filter(({ kind }) => kind === "doubled"),
    input,
  );
  return {
    outages: parts.reduce((sum, part) => sum + part.outages, 0),
    mustBeTold: parts.reduce((sum, part) => sum + part.mustBeTold, 0),
    tellings: input.tellings.length,
    verdicts: [
      ...found.filter(({ kind }) => kind !== "doubled"),
      ...doubled.left,
      ...input.unreadable.map(
        (why): Verdict => ({ kind: "unreadable", integration: "", subject: "", at: input.end, why }),
      ),
    ],
    doubled: { messages: doubled.messages, excused: doubled.excused },
    delays: parts.flatMap(({ delays }) => delays),
  };
}
