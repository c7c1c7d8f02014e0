/**
 * Silences as Alertmanager has them (silence/silence.go): matchers between two instants. With other matchers it becomes
 * another silence; an expired one is kept for a while, to be read and made again.
 */
import type { Alert, Labels } from "../health/alert.ts";
import { ownLabels } from "../health/directory.ts";
import type { Instant } from "../lib/clock.ts";
import { isUndoable } from "./acknowledgement.ts";
import { type Matcher, matchersCost, matchesAll } from "./matcher.ts";
import type { Suppression } from "./model.ts";
import { isMatched, type MatchingBudget } from "./silence-verdicts.ts";
import { type Viewed, viewsOf } from "./views.ts";

export const silenceStates = ["active", "pending", "expired"] as const;
export type SilenceState = (typeof silenceStates)[number];

export interface Silence {
  /** A UUID. */
  readonly id: string;
  /** All have to match. */
  readonly matchers: readonly Matcher[];
  readonly startsAt: Instant;
  /** Exclusive. */
  readonly endsAt: Instant;
  readonly updatedAt: Instant;
  readonly createdBy: string;
  readonly comment: string;
  readonly annotations: Labels;
  /** The last change, and what it changed; `at` is 0 where that was undoing one, which is not undone. */
  readonly last?: { readonly at: Instant; readonly before?: SilenceVersion } | undefined;
}

/** What a change in place may change. */
type SilenceVersion = Pick<Silence, "startsAt" | "endsAt" | "createdBy" | "comment" | "annotations">;

/** A silence as requested; without an id, a new one. */
export interface WantedSilence extends Omit<Silence, "id" | "updatedAt" | "startsAt" | "last"> {
  readonly id: string | undefined;
  /** Undefined: from now on. */
  readonly startsAt: Instant | undefined;
}

/** The time for which an expired silence is kept: Alertmanager's retention. */
export const SILENCE_KEPT_MS = 120 * 3_600_000;

const ASK_MS = 10 * 60_000;

/** The time at which people are asked how it goes on, ten minutes before its end; undefined for a short one. */
export function askAtOf({ startsAt, endsAt }: Pick<Silence, "startsAt" | "endsAt">): Instant | undefined {
  const at = endsAt - ASK_MS;
  return at > startsAt + ASK_MS ? at : undefined;
}

/** The suppression that it is. */
export function silencedBy(silence: Silence): Suppression {
  const { id: by, startsAt: since, endsAt: until, createdBy: author, comment } = silence;
  return { reason: "silenced", by, since, until, askAt: askAtOf(silence), author, comment };
}

/** By the clock alone. */
export function silenceState({ startsAt, endsAt }: Pick<Silence, "startsAt" | "endsAt">, now: Instant): SilenceState {
  if (now >= endsAt) return "expired";
  return now < startsAt ? "pending" : "active";
}

/**
 * The active silences that match an alert, the one that lasts longest first; yields after each it asks. Of an alert about
 * several shops each of `views` needs one: of several that it takes, the one that ends first comes first. `isComplete`:
 * all were asked, which for an external alert the budget may not permit.
 */
export function* silencesOf(
  silences: readonly Silence[],
  alert: Viewed & Pick<Alert, "id">,
  now: Instant,
  budget?: MatchingBudget,
  views = viewsOf(alert),
): Generator<void, { readonly found: Silence[]; readonly isComplete: boolean }, void> {
  const within = alert.subject.kind === "external" ? budget : undefined;
  const found: Silence[] = [];
  let isComplete = true;
  for (const silence of silences) {
    if (silenceState(silence, now) !== "active") continue;
    const verdict = isMatched(silence.matchers, alert, within);
    if (verdict) found.push(silence);
    if (verdict === undefined) isComplete = false;
    yield;
  }
  found.sort((a, b) => b.endsAt - a.endsAt);
  if (!alert.shops) return { found, isComplete };
  const isOf =
    ({ matchers }: Silence) =>
    (labels: Labels) =>
      matchesAll(matchers, labels);
  const whole = found.filter((silence) => views.every(isOf(silence)));
  if (whole.length > 0) return { found: whole, isComplete };
  const isCovered = (labels: Labels) => found.some((silence) => isOf(silence)(labels));
  return { found: views.every(isCovered) ? found.reverse() : [], isComplete };
}

/** The first of `silencesOf`, without a pause. */
export function silenceOf(...asked: Parameters<typeof silencesOf>): Silence | undefined {
  const asking = silencesOf(...asked);
  let step = asking.next();
  while (!step.done) step = asking.next();
  return step.value.found[0];
}

/** More silences that are not expired, or larger ones, are a mistake: each is matched against every alert. */
const MOST_SILENCES = 2_000;
export const MOST_SILENCE_CHARACTERS = 1_000_000;
const MOST_PATTERN_COST = 1_000;

/** Characters of its matchers and texts. */
export function silenceSize({ matchers, createdBy, comment, annotations }: WantedSilence): number {
  const texts = [createdBy, comment, ...Object.entries({ ...annotations }).flat()];
  return [...texts, ...matchers.flatMap(({ name, value }) => [name, value])].join("  ").length;
}

/** Why there is no room for one more, as a sentence; undefined where there is. */
export function roomProblem(others: readonly Silence[], wanted: WantedSilence, now: Instant): string | undefined {
  const all = [...others.filter((one) => silenceState(one, now) !== "expired"), wanted];
  const total = (of: (one: WantedSilence) => number) => all.reduce((sum, one) => sum + of({ ...one, id: "" }), 0);
  if (all.length > MOST_SILENCES) return `there are ${MOST_SILENCES} silences already; end some of them first`;
  if (total(silenceSize) > MOST_SILENCE_CHARACTERS)
    return `all silences together have ${MOST_SILENCE_CHARACTERS} characters at most; end some of them first`;
  if (total(({ matchers }) => matchersCost(matchers)) > MOST_PATTERN_COST)
    return "the regular expressions of all silences are too large together; end some silences first, or compare with =";
  return undefined;
}

/** The problem of a request, as a sentence; undefined where there is none. */
export function silenceProblem(wanted: WantedSilence, now: Instant): string | undefined {
  const { matchers, startsAt = now, endsAt } = wanted;
  if (matchers.length === 0) return "at least one matcher is needed";
  if (matchers.every((matcher) => matcher.matches("")))
    return "at least one matcher must not match the empty string: this silence would match everything";
  if (endsAt <= startsAt) return "the start must be before the end";
  return endsAt <= now ? "the end is in the past" : undefined;
}

/**
 * Changes `previous` in place where it may be (same matchers; an active one keeps its start, a pending one starts no
 * earlier than now), else ends it and begins another under `newId`. `replaced` is the one it ended, to be written too.
 */
export function changeSilence(
  previous: Silence | undefined,
  wanted: WantedSilence,
  { now, newId }: { readonly now: Instant; readonly newId: string },
): { silence: Silence; replaced: Silence | undefined } {
  const { startsAt = now, ...rest } = wanted;
  if (previous && canUpdate(previous, wanted, now)) {
    const start = silenceState(previous, now) === "active" ? previous.startsAt : startsAt;
    return { silence: { ...rest, id: previous.id, startsAt: start, updatedAt: now }, replaced: undefined };
  }
  const replaced = previous && silenceState(previous, now) !== "expired" ? endSilence(previous, now) : undefined;
  return { silence: { ...rest, id: newId, startsAt: Math.max(startsAt, now), updatedAt: now }, replaced };
}

/** The silence as a change writes it, with what it was before. */
export function changedFrom(before: Silence | undefined, silence: Silence, now: Instant): Silence {
  return { ...silence, last: { at: now, ...(before && { before: versionOf(before) }) } };
}

function versionOf({ startsAt, endsAt, createdBy, comment, annotations }: Silence): SilenceVersion {
  return { startsAt, endsAt, createdBy, comment, annotations };
}

/** The silence as it was before the last change; a new one expires. Undefined once that was undone, or is too late. */
export function undoneSilence(silence: Silence, now: Instant): Silence | undefined {
  const { last } = silence;
  if (!isUndoable(last, now)) return undefined;
  const undone = last?.before ? { ...silence, ...last.before, updatedAt: now } : endSilence(silence, now);
  return { ...undone, last: { at: 0, before: versionOf(silence) } };
}

/** The silences that were set together last, are not over, and can be undone: they end together. */
export function undoneTogether(silences: readonly Silence[], now: Instant): Silence[] {
  const all = silences.filter((one) => silenceState(one, now) !== "expired" && isUndoable(one.last, now));
  const end = Math.max(...all.map(({ endsAt }) => endsAt));
  return all.filter(({ endsAt }) => endsAt === end);
}

/** The silence, expired now; unchanged where it was already. */
export function endSilence(silence: Silence, now: Instant): Silence {
  if (silenceState(silence, now) === "expired") return silence;
  return { ...silence, startsAt: Math.min(silence.startsAt, now), endsAt: now, updatedAt: now };
}

function canUpdate(previous: Silence, wanted: WantedSilence, now: Instant): boolean {
  const { startsAt = now, endsAt, matchers } = wanted;
  if (!sameMatchers(previous.matchers, matchers)) return false;
  const state = silenceState(previous, now);
  if (state !== "active") return state === "pending" && startsAt >= now;
  // Clients drop milliseconds, and so does Alertmanager's comparison.
  return Math.floor(startsAt / 1000) === Math.floor(previous.startsAt / 1000) && endsAt > now;
}

function sameMatchers(a: readonly Matcher[], b: readonly Matcher[]): boolean {
  const written = (matchers: readonly Matcher[]) =>
    matchers.map(({ name, operator, value }) => JSON.stringify([name, operator, value])).sort();
  return JSON.stringify(written(a)) === JSON.stringify(written(b));
}

/** Labels that identify recordings; the others come from rules, and any alert may have them. */
export const RECORDING_LABELS: ReadonlySet<string> = new Set(ownLabels.filter((name) => name !== "alertname"));
