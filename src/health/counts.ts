/** Rules about visitor counts: what they show of a subject, and how that is put. */
import type { Instant } from "../lib/clock.ts";
import { count, isoMinute } from "../lib/format.ts";
import { cut, stripControls } from "../lib/text.ts";
import { inZone } from "../lib/when.ts";
import type { SubjectKind } from "./alert.ts";
import type { CountsCondition } from "./model.ts";

/** Usual and counted visits, since then and until now. */
export interface CountsSince {
  /** The best estimate of the time at which counts fell away: the start of a local hour, or a reading. */
  readonly since: Instant;
  readonly expected: number;
  readonly counted: number;
}

/** Counts that cannot be true. */
export interface ImplausibleCounts extends CountsSince {
  /** The witness at the location that people are there: the tills, a zone, or its entries. */
  readonly witness?: CountsWitnessed | undefined;
}

/** `zone`: its taxonomy; `counted`: there, since the counts changed. */
export type CountsWitnessed = Readonly<{
  kind: "tills" | "zone" | "entries";
  zone?: string | undefined;
  counted: number;
}>;

/** `met` undefined: not known. */
export interface CountsEvidence {
  readonly met: boolean | undefined;
  readonly counts?: ImplausibleCounts | undefined;
  /** Why, by name. */
  readonly reason: string;
}

/** Counts that fell at most locations that share a label's value. */
export interface CountsTogether extends CountsSince {
  readonly label: string;
  readonly value: string;
  /** Locations, of those that could be compared. */
  readonly dropped: number;
  readonly judged: number;
}

/** Looks up the evidence that counts give of a subject under a rule; undefined where they were not read, or too long ago. */
export type CountsLookup = (when: CountsCondition, kind: SubjectKind, id: string) => CountsEvidence | undefined;

const NAME_LENGTH = 60;

/** Why an alert about it ends now, where nothing shows that its counts are back. */
export function countsEndReason(evidence: CountsEvidence | undefined): "dropped_together" | undefined {
  return evidence?.reason === "dropped_together" ? evidence.reason : undefined;
}

/** The key that rules with the same condition share. */
export function countsKey({ sensitivity }: Pick<CountsCondition, "sensitivity">): string {
  return `${sensitivity}`;
}

/** `Entrance counts 0 since 10:00, usually 140 by now; Tills counted 41`: times of the given zone. Plain text. */
export function countsText(name: string, counts: ImplausibleCounts, moment: Moment): string {
  const text = `${shortName(name)} counts ${figuresText(counts, moment)}`;
  return counts.witness ? `${text}; ${witnessText(counts.witness)}` : text;
}

/** `38 of 40 locations count 120 since 10:00, usually 900 by now`. */
export function togetherText(counts: CountsTogether, moment: Moment): string {
  return `${count(counts.dropped)} of ${count(counts.judged)} locations count ${figuresText(counts, moment)}`;
}

type Moment = { readonly now: Instant; readonly timezone: string };

function figuresText({ since, expected, counted }: CountsSince, { now, timezone }: Moment): string {
  const [from, today] = [inZone(since, timezone), inZone(now, timezone)];
  const time = from.toFormat(from.hasSame(today, "day") ? "HH:mm" : "ccc d LLL HH:mm");
  return `${count(Math.round(counted))} since ${time}, usually ${count(Math.round(expected))} by now`;
}

function witnessText({ kind, zone = "", counted }: CountsWitnessed): string {
  const many = count(Math.round(counted));
  if (kind === "tills") return `the tills sold ${many} times`;
  return `${kind === "zone" ? shortName(zone.split(":").at(-1) ?? "") : "the location"} counted ${many}`;
}

function shortName(name: string): string {
  return cut(stripControls(name.slice(0, 4 * NAME_LENGTH)).trim(), NAME_LENGTH);
}

/** Generated annotations of an alert; the figures of its beginning. */
export function describeCounts(
  name: string,
  counts: ImplausibleCounts | undefined,
  now: Instant,
): readonly [summary: string, description: string] {
  const summary = `${name} counts too few visits`;
  if (!counts) return [summary, ""];
  const { since, expected, counted } = counts;
  const figures = `${count(Math.round(counted))} from ${isoMinute(since)} to ${isoMinute(now)}, usually ${count(Math.round(expected))}`;
  return [summary, `Counted ${figures}.`];
}
