/** The verdict on the counts of a location or of a recording, or the reason for none. */

import type { CountsEvidence, CountsSince, CountsTogether, CountsWitnessed } from "../health/counts.ts";
import type { Instant } from "../lib/clock.ts";

/** Whose counts they are; without a recording, those of the whole location. */
export interface CountsSubject {
  readonly locationId: string;
  readonly recordingId?: string | undefined;
}

/** Something else at the location that shows whether people are there. */
export interface CountsWitness extends CountsWitnessed {
  /** The recording that covers the zone, where only one does. */
  readonly recordingId?: string | undefined;
  /** Usual there in that time; undefined where its history is too thin. */
  readonly expected?: number | undefined;
}

/** `witnessed`: something else at the location contradicts the counts; `beyond_chance`: they do so by themselves. */
type FindingReason = "witnessed" | "beyond_chance";

export interface CountsFinding extends CountsSince {
  readonly witness?: CountsWitness | undefined;
  readonly reason: FindingReason;
}

/** Evidence that the counts are as they should be. */
export type PlausibleReason = "as_usual" | "counts_are_back" | "dropped_together";

/** No evidence: an alert neither begins nor ends. */
export type UndecidedReason =
  | "history_too_thin"
  | "no_data"
  | "nothing_expected"
  | "not_recording"
  | "too_early"
  | "chance_explains_it"
  | "happens_here"
  | "nobody_seems_there"
  | "others_dropped_too"
  | "zones_shared";

export type CountsVerdict =
  | { readonly is: "implausible"; readonly finding: CountsFinding }
  | { readonly is: "plausible"; readonly reason: PlausibleReason }
  | { readonly is: "undecided"; readonly reason: UndecidedReason };

export interface SubjectVerdict {
  readonly subject: CountsSubject;
  readonly verdict: CountsVerdict;
  /** The moment at which counts fell away beyond chance, whatever may explain it. */
  readonly fall?: CountsSince | undefined;
  /** Since when an alert about it fires. */
  readonly firingSince?: Instant | undefined;
}

/** Most locations that share a label dropped together: it replaces the findings of each. */
export interface DroppedTogether extends Omit<CountsTogether, "dropped"> {
  /** The ids of the locations that dropped; the counts are of all of them. */
  readonly dropped: readonly string[];
}

/** The evidence of each subject, by `location/<id>` or `recording/<id>`. */
export function evidenceBySubject(
  verdicts: readonly Pick<SubjectVerdict, "subject" | "verdict">[],
): ReadonlyMap<string, CountsEvidence> {
  return new Map(verdicts.map(({ subject, verdict }) => [subjectKey(subject), evidenceOf(verdict)]));
}

export function subjectKey({ locationId, recordingId }: CountsSubject): string {
  return recordingId === undefined ? `location/${locationId}` : `recording/${recordingId}`;
}

function evidenceOf(verdict: CountsVerdict): CountsEvidence {
  if (verdict.is !== "implausible")
    return { met: verdict.is === "plausible" ? false : undefined, reason: verdict.reason };
  const { since, expected, counted, witness, reason } = verdict.finding;
  return { met: true, reason, counts: { since, expected, counted, witness } };
}
