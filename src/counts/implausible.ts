/**
 * The judgement whether counts can be true, by themselves and by what else is counted at the location.
 *
 * Assumed: a location where nobody is has no sales and nothing in its other zones either. So where something else shows
 * people, only chance is left to explain the counts; where nothing else is there to ask, a closed day is as likely as a
 * failure, and more than a whole day has to be missing; where all else is silent too, nobody is there. The last decides.
 */
import type { CountsSince } from "../health/counts.ts";
import { HOUR_MS, type Instant } from "../lib/clock.ts";
import { type Baseline, FAR_MORE, HARDLY } from "./baseline.ts";
import { createSpread, type SpreadParts, surprise } from "./dispersion.ts";
import type { Counted, Piece, Sum } from "./track.ts";
import type { CountsFinding, CountsVerdict, Implausible, PlausibleReason, UndecidedReason } from "./verdict.ts";
import type { DayFactor, Testimony } from "./witness.ts";

export interface CountsRule {
  readonly implausible: Implausible;
  /** Visits missing, or counted too many, before it is said. */
  readonly sensitivity: number;
}

/** From some instant until now. */
interface Stretch extends CountsSince {
  /** From when on nothing is missing in it: of the time before, witnesses may know what it does not. */
  readonly wholeSince: Instant;
}

/** The span of which hardly anything was counted, or far too much. */
interface Candidate extends Stretch, SpreadParts {}

interface Question {
  readonly rule: CountsRule;
  readonly now: Instant;
  /** Since when an alert of this rule is firing. */
  readonly firingSince: Instant | undefined;
  readonly testimony: (since: Instant) => Testimony;
}

/** Older data is none. */
const FRESH_MS = 1.5 * HOUR_MS;
/** Chance explains what happens once in e^13 ≈ 440,000 times; too many, as parties come, once in e^15 ≈ 3 million. */
export const NATS = { low: 13, high: 15 } as const;
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
const USUAL = { again: 0.5, least: 0.33, most: 1.5 } as const;
const QUIET_MS = 6 * HOUR_MS;
/** An alert begins while it lasts: of the last hours so many are missing, or too many. */
const LATELY = { ms: 3 * HOUR_MS, least: 4 } as const;
/** Ghosts come in hour after hour: too many in fewer, or in less than this share of them, are parties and late openings. */
const GHOSTS = { hours: 6, share: 0.5 } as const;

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
  /** Visits are missing in the last hours, or were too many. */
  readonly isRecent: boolean;
  readonly all: Stretch | undefined;
  /** The pieces of the newest local day. */
  readonly today: Stretch | undefined;
  readonly sinceFiring: Stretch | undefined;
}

/** Back from now, until the counts are as usual. */
function walk(pieces: Iterable<Piece>, dispersion: Baseline, question: Question): Walked {
  const { rule, now, firingSince } = question;
  const spread = createSpread(dispersion);
  const candidates: Candidate[] = [];
  const needed = rule.sensitivity * (rule.implausible === "low" ? WITH_WITNESS : 1);
  let until = Number.NEGATIVE_INFINITY;
  let isOut: boolean | undefined;
  let [all, sinceFiring]: [Stretch | undefined, Stretch | undefined] = [undefined, undefined];
  let [expected, counted] = [0, 0];
  let back: Sum = { expected, counted };
  let [wholeSince, day]: [Instant | undefined, number | undefined] = [undefined, undefined];
  let today: Stretch | undefined;
  let isRecent = false;
  const ghosts = createGhosts();
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
    // Too many of minutes are those that are served early.
    const isKept: boolean = isRecent && rule.implausible === "low";
    if (piece.to > now - LATELY.ms) isRecent = isKept || deviates({ expected, counted }, rule, LATELY.least);
    ghosts.add(piece);
    all = { since: piece.from, wholeSince, expected, counted };
    day ??= piece.at.day;
    if (piece.at.day === day) today = all;
    const isUsual = piece.from >= (firingSince ?? piece.from) && isAsUsual(all, back, question);
    if (isUsual) return { until, isOut: isOut ?? false, candidates, isUsual, isRecent, all, today, sinceFiring };
    if ((rule.implausible === "low" || ghosts.areMost()) && deviates(all, rule, needed))
      candidates.push({ ...all, ...spread.parts() });
    if (firingSince !== undefined && piece.from <= firingSince) sinceFiring ??= all;
  }
  return { until, isOut: isOut ?? false, candidates, isUsual: false, isRecent, all, today, sinceFiring };
}

/** Ghosts in hours that are added newest first. */
function createGhosts() {
  let [hours, high] = [0, 0];
  let [last, lastHigh] = [Number.NaN, Number.NaN];
  return {
    areMost: () => high >= Math.max(GHOSTS.hours, hours * GHOSTS.share),
    add({ expected, counted, at: { hour } }: Piece): void {
      if (hour !== last) hours++;
      last = hour;
      if (counted <= expected * FAR_MORE || hour === lastHigh) return;
      high++;
      lastHigh = hour;
    },
  };
}

function deviates({ expected, counted }: Sum, { implausible }: CountsRule, needed: number): boolean {
  if (implausible === "low") return expected >= needed && counted <= expected * HARDLY;
  return counted - expected >= needed && counted >= expected * FAR_MORE;
}

/** `back`: the time before which they did not count enough; they may have counted less since, by chance. */
function isAsUsual({ since, expected, counted }: Stretch, back: Sum, question: Question): boolean {
  const { rule, now } = question;
  const some = rule.sensitivity / 3;
  if (rule.implausible === "low") return back.counted >= some && hasCounted(back, question);
  return now - since >= QUIET_MS && counted <= expected * USUAL.most + some / 3;
}

function hasCounted({ expected, counted }: Sum, { firingSince }: Question): boolean {
  return counted >= expected * (firingSince === undefined ? USUAL.least : USUAL.again);
}

function addSums(one: Sum, other: Sum): Sum {
  return { expected: one.expected + other.expected, counted: one.counted + other.counted };
}

/** A firing alert ends when counts are as usual again, and where nothing is usual any more. */
function goesOn({ isUsual, candidates, all, sinceFiring }: Walked, question: Question, baseline: Baseline): Judged {
  const { rule, testimony, firingSince = 0 } = question;
  if (isUsual) return plausible("counts_are_back");
  if (!all || (rule.implausible === "low" && baseline.ofDay < 1)) return plausible("as_usual");
  const clearest = candidates.reduce<Found | undefined>((best, stretch) => {
    const nats = surpriseOf(stretch, rule);
    return stretch.since <= firingSince && isClearer(nats, best) ? { stretch, said: NO_WITNESS, nats } : best;
  }, undefined);
  const stretch = clearest?.stretch ?? sinceFiring ?? all;
  const finding = findingOf({ stretch, said: testimony(stretch.since), nats: 0 }, rule);
  return { verdict: { is: "implausible", finding }, fall: fallOf(stretch) };
}

const NO_WITNESS: Testimony = { is: "none" };

function decide({ candidates, isUsual, isRecent, all, today }: Walked, baseline: Baseline, question: Question): Judged {
  const { rule, testimony } = question;
  const least = NATS[rule.implausible];
  let refused: UndecidedReason | undefined;
  let found: Found | undefined;
  let fallen: Found | undefined;
  const newest = rule.implausible === "low" ? today : undefined;
  for (const stretch of candidates) {
    const nats = surpriseOf(stretch, rule);
    if (surpriseOf(stretch, rule, { factor: 1, variance: 0 }) < least) continue;
    const said = allSaid(stretch, newest, testimony);
    // After a failure that ended, the newest day does not show it.
    const isOver = newest !== undefined && stretch.since < newest.since && !isMissingIn(newest);
    const still = isOver ? "chance_explains_it" : objection(stretch, said, baseline, rule);
    const reason = isRecent ? still : "nothing_expected";
    refused = reason ?? refused;
    if (reason === undefined && isClearer(nats, found)) found = { stretch, said, nats };
    if (nats >= least && isClearer(nats, fallen)) fallen = { stretch, said, nats };
  }
  const fall = fallen && fallOf(fallen.stretch);
  if (found) return { verdict: { is: "implausible", finding: findingOf(found, rule) }, fall: fallOf(found.stretch) };
  if (refused) return { ...undecided(refused), fall };
  if (isUsual) return plausible("as_usual");
  if (!all || all.expected === 0) return undecided("nothing_expected");
  return undecided(all.expected < rule.sensitivity ? "too_early" : "chance_explains_it");
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

function findingOf({ stretch, said: { named: witness } }: Found, { implausible: kind }: CountsRule): CountsFinding {
  return { kind, ...fallOf(stretch), witness, reason: witness ? "witnessed" : "beyond_chance" };
}

/** Why it is not said; undefined: it is. */
function objection(
  stretch: Candidate,
  said: Testimony,
  baseline: Baseline,
  rule: CountsRule,
): UndecidedReason | undefined {
  const { expected, counted } = stretch;
  const isLow = rule.implausible === "low";
  const lacking = isLow ? expected - counted / HARDLY : counted - expected * FAR_MORE;
  const least = NATS[rule.implausible];
  const habit = isLow ? baseline.lull : baseline.surge;
  if (said.is === "silent") return "nobody_seems_there";
  const isWitnessed = said.is === "confirms" && surpriseOf(stretch, rule, said) >= least;
  if (isWitnessed && lacking >= (isLow ? baseline.ownLull : habit)) return undefined;
  if (surpriseOf(stretch, rule) < least) return "chance_explains_it";
  if (lacking < habit * MORE_THAN_A_DAY) return "happens_here";
  const isClosed = expected * 10 <= counted;
  const isEnough = isLow ? expected >= baseline.ofDay * MORE_THAN_A_DAY : isClosed;
  return isEnough && lacking >= rule.sensitivity * ALONE ? undefined : "too_early";
}

/** The surprise of a stretch: one visit may come even where nothing is expected. */
function surpriseOf(stretch: Candidate, rule: CountsRule, day = ANY_DAY): number {
  const { expected, counted, ofDays, ofHours, visit } = stretch;
  const mean = rule.implausible === "low" ? expected * day.factor : Math.max(1, expected * day.factor);
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
