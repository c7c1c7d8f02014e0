/**
 * The judgement whether counts can be true, by themselves and by what else is counted at the location.
 *
 * Assumed: a location where nobody is has no sales and nothing in its other zones either. So where something else shows
 * people, only chance is left to explain the counts; where nothing else is there to ask, a closed day is as likely as a
 * failure, and more than a whole day has to be missing; where all else is silent too, nobody is there. The last decides.
 */
import type { CountsSince } from "../health/counts.ts";
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import { type Baseline, HARDLY } from "./baseline.ts";
import { createSpread, type SpreadParts, surprise } from "./dispersion.ts";
import type { Counted, Piece, Sum } from "./track.ts";
import type { CountsFinding, CountsVerdict, PlausibleReason, UndecidedReason } from "./verdict.ts";
import type { DayFactor, Testimony } from "./witness.ts";

/** From some instant until now. */
interface Stretch extends CountsSince {
  /** From when on nothing is missing in it: of the time before, witnesses may know what it does not. */
  readonly wholeSince: Instant;
}

/** The span of which hardly anything was counted. */
interface Candidate extends Stretch, SpreadParts {}

interface Question {
  /** Visits missing before it is said. */
  readonly sensitivity: number;
  readonly now: Instant;
  /** Since when an alert of this rule is firing. */
  readonly firingSince: Instant | undefined;
  readonly testimony: (since: Instant) => Testimony;
}

/** Older data is none. */
const FRESH_MS = 1.5 * HOUR_MS;
/** Chance explains what happens once in e^13 ≈ 440,000 times. */
export const NATS = 13;
/** Share of the sensitivity that is enough with a witness, and times it that is needed without. */
const WITH_WITNESS = 0.5;
const ALONE = 3;
/** Times the busiest day, and the deepest lull, that are needed without a witness. */
const MORE_THAN_A_DAY = 1.25;
/** The share of the variance of a day's factor that is the subject's own: no witness tells of it. */
const OWN_DAY = 0.25;
/** The knowledge of the day without a witness. */
const ANY_DAY: DayFactor = { factor: 1, variance: Number.POSITIVE_INFINITY };
/** Counts that fell are as usual again from this share of what is usual, and have not fallen above the other. */
const USUAL = { again: 0.5, least: 0.33 } as const;
/** An alert begins while it lasts: of the last hours so many are missing. */
const LATELY = { ms: 3 * HOUR_MS, least: 4 } as const;

interface Judged {
  readonly verdict: CountsVerdict;
  /** Beyond chance, whatever else is counted. */
  readonly fall?: CountsSince | undefined;
}

export function judgeCounts(counted: Counted, question: Question): Judged {
  const { baseline, pieces } = counted;
  if (!baseline) return undecided("history_too_thin");
  const { now, firingSince } = question;
  // The first visits ever are an opening.
  if (baseline.ofDay < 1 && firingSince === undefined) return undecided("nothing_expected");
  const walked = walk(pieces, baseline, question);
  if (walked.until < now - FRESH_MS) return undecided("no_data");
  if (walked.isOut) return undecided("not_recording");
  if (firingSince !== undefined) return goesOn(walked, question, baseline);
  return decide(walked, baseline, question);
}

interface Walked {
  /** The end of the newest piece. */
  readonly until: Instant;
  /** Nothing is recorded at its end. */
  readonly isOut: boolean;
  /** The latest first. */
  readonly candidates: readonly Candidate[];
  readonly isUsual: boolean;
  /** Visits are missing in the last hours. */
  readonly isRecent: boolean;
  readonly all: Stretch | undefined;
  /** The pieces of the newest local day. */
  readonly today: Stretch | undefined;
  readonly sinceFiring: Stretch | undefined;
}

/** Back from now, until the counts are as usual. */
function walk(pieces: Iterable<Piece>, dispersion: Baseline, question: Question): Walked {
  const { sensitivity, now, firingSince } = question;
  const spread = createSpread(dispersion);
  const candidates: Candidate[] = [];
  const needed = sensitivity * WITH_WITNESS;
  let until = Number.NEGATIVE_INFINITY;
  let isOut: boolean | undefined;
  let [all, sinceFiring]: [Stretch | undefined, Stretch | undefined] = [undefined, undefined];
  let [expected, counted] = [0, 0];
  let back: Sum = { expected, counted };
  let [wholeSince, day]: [Instant | undefined, number | undefined] = [undefined, undefined];
  let today: Stretch | undefined;
  let isRecent = false;
  for (const piece of pieces) {
    until = Math.max(until, piece.to);
    if (wholeSince === undefined || piece.to >= wholeSince - HOUR_MS) wholeSince = piece.from;
    if (piece.expected > 0) isOut ??= piece.isExplained;
    if (piece.isExplained) continue;
    expected += piece.expected;
    counted += piece.counted;
    const lasts = Math.min(HOUR_MS, piece.to - piece.from);
    back = hasCounted(back, question) ? addSums(back, piece) : piece;
    spread.add(piece.expected, piece.at.day, lasts > 0 ? (piece.expected * HOUR_MS) / lasts : 0);
    if (piece.to > now - LATELY.ms) isRecent ||= deviates({ expected, counted }, LATELY.least);
    all = { since: piece.from, wholeSince, expected, counted };
    day ??= piece.at.day;
    if (piece.at.day === day) today = all;
    const isUsual = piece.from >= (firingSince ?? piece.from) && isAsUsual(back, question);
    if (isUsual) return { until, isOut: isOut ?? false, candidates, isUsual, isRecent, all, today, sinceFiring };
    if (deviates(all, needed)) candidates.push({ ...all, ...spread.parts() });
    if (firingSince !== undefined && piece.from <= firingSince) sinceFiring ??= all;
  }
  return { until, isOut: isOut ?? false, candidates, isUsual: false, isRecent, all, today, sinceFiring };
}

function deviates({ expected, counted }: Sum, needed: number): boolean {
  return expected >= needed && counted <= expected * HARDLY;
}

/** `back`: the time before which they did not count enough; they may have counted less since, by chance. */
function isAsUsual(back: Sum, question: Question): boolean {
  return back.counted >= question.sensitivity / 3 && hasCounted(back, question);
}

function hasCounted({ expected, counted }: Sum, { firingSince }: Question): boolean {
  return counted >= expected * (firingSince === undefined ? USUAL.least : USUAL.again);
}

function addSums(one: Sum, other: Sum): Sum {
  return { expected: one.expected + other.expected, counted: one.counted + other.counted };
}

/** A firing alert ends when counts are as usual again, and where nothing is usual any more. */
function goesOn({ isUsual, candidates, all, sinceFiring }: Walked, question: Question, baseline: Baseline): Judged {
  const { testimony, firingSince = 0 } = question;
  if (isUsual) return plausible("counts_are_back");
  if (!all || baseline.ofDay < 1) return plausible("as_usual");
  const clearest = candidates.reduce<Found | undefined>((best, stretch) => {
    const nats = surpriseOf(stretch);
    return stretch.since <= firingSince && isClearer(nats, best) ? { stretch, said: NO_WITNESS, nats } : best;
  }, undefined);
  const stretch = clearest?.stretch ?? sinceFiring ?? all;
  const finding = findingOf({ stretch, said: testimony(stretch.since), nats: 0 });
  return { verdict: { is: "implausible", finding }, fall: fallOf(stretch) };
}

const NO_WITNESS: Testimony = { is: "none" };

function decide({ candidates, isUsual, isRecent, all, today }: Walked, baseline: Baseline, question: Question): Judged {
  const { sensitivity, testimony } = question;
  let refused: UndecidedReason | undefined;
  let found: Found | undefined;
  let fallen: Found | undefined;
  for (const stretch of candidates) {
    const nats = surpriseOf(stretch);
    if (surpriseOf(stretch, { factor: 1, variance: 0 }) < NATS) continue;
    const said = allSaid(stretch, today, testimony);
    // After a failure that ended, the newest day does not show it.
    const isOver = today !== undefined && stretch.since < today.since && !isMissingIn(today);
    const still = isOver ? "chance_explains_it" : objection(stretch, said, baseline, sensitivity);
    const reason = isRecent ? still : "nothing_expected";
    refused = reason ?? refused;
    if (reason === undefined && isClearer(nats, found)) found = { stretch, said, nats };
    if (nats >= NATS && isClearer(nats, fallen)) fallen = { stretch, said, nats };
  }
  const fall = fallen && fallOf(fallen.stretch);
  if (found) return { verdict: { is: "implausible", finding: findingOf(found) }, fall: fallOf(found.stretch) };
  if (refused) return { ...undecided(refused), fall };
  if (isUsual) return plausible("as_usual");
  if (!all || all.expected === 0) return undecided("nothing_expected");
  return undecided(all.expected < sensitivity ? "too_early" : "chance_explains_it");
}

function isMissingIn({ expected, counted }: Sum): boolean {
  return expected - counted / HARDLY >= LATELY.least;
}

/**
 * A day that only began to be silent may be one on which nobody comes, whatever was counted on the evening before, and
 * one on which some were counted may be one after a failure: the newest day has to show it too. So has the time before a
 * gap, as a night without data is one: nobody may have come on the day before.
 */
function allSaid(
  { since, wholeSince }: Stretch,
  today: Stretch | undefined,
  testimony: Question["testimony"],
): Testimony {
  const own = testimony(wholeSince);
  if (own.is !== "confirms") return own;
  const before = since < wholeSince ? testimony(since) : own;
  if (before.is !== "confirms") return before;
  const said = { ...own, factor: Math.min(own.factor, before.factor) };
  if (!today || since >= today.since) return said;
  const lately = testimony(today.wholeSince);
  return lately.is === "confirms" ? said : lately;
}

interface Found {
  readonly stretch: Stretch;
  readonly said: Testimony;
  readonly nats: number;
}

/** True where it is clearer; of two that are about as clear the later one is, for its `since`. */
function isClearer(nats: number, than: Found | undefined): boolean {
  return !than || nats > than.nats + 0.5;
}

function fallOf({ since, expected, counted }: Stretch): CountsSince {
  return { since, expected, counted };
}

function findingOf({ stretch, said: { named: witness } }: Found): CountsFinding {
  return { ...fallOf(stretch), witness, reason: witness ? "witnessed" : "beyond_chance" };
}

/** Why it is not said; undefined: it is. */
function objection(
  stretch: Candidate,
  said: Testimony,
  { lull, ownLull, ofDay }: Baseline,
  sensitivity: number,
): UndecidedReason | undefined {
  const { expected, counted } = stretch;
  const lacking = expected - counted / HARDLY;
  if (said.is === "silent") return "nobody_seems_there";
  if (said.is === "confirms" && surpriseOf(stretch, said) >= NATS && lacking >= ownLull) return undefined;
  if (surpriseOf(stretch) < NATS) return "chance_explains_it";
  if (lacking < lull * MORE_THAN_A_DAY) return "happens_here";
  return expected >= ofDay * MORE_THAN_A_DAY && lacking >= sensitivity * ALONE ? undefined : "too_early";
}

function surpriseOf({ expected, counted, ofDays, ofHours, visit }: Candidate, day = ANY_DAY): number {
  const mean = expected * day.factor;
  const shared = ofDays * (1 - OWN_DAY);
  const unknown = ofDays * OWN_DAY + 1 / (1 / shared + 1 / day.variance);
  return surprise(counted, mean, unknown + ofHours + visit / mean);
}

function undecided(reason: UndecidedReason): Judged {
  return { verdict: { is: "undecided", reason } };
}

function plausible(reason: PlausibleReason): Judged {
  return { verdict: { is: "plausible", reason } };
}
