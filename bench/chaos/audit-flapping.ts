/**
 * One recording at one integration: what was told of its flapping, held against its changes of status. The share is
 * worked out here anew, from Nagios' description, and only from minutes of which it is sure what was seen. Pure.
 */
import type { Instant } from "../../src/lib/clock.ts";
import type { Verdict, VerdictKind } from "./audit.ts";
import { SENDING_MS } from "./match.ts";
import type { Telling } from "./messages.ts";
import type { StatusChange } from "./timeline.ts";

/** Shares 0–1. */
export interface FlapRule {
  readonly high: number;
  readonly low: number;
}

export interface FlappingCase {
  readonly integration: string;
  readonly subject: string;
  /** Its changes of status, oldest first; it was online before. */
  readonly changes: readonly StatusChange[];
  /** All answers about its place, and those that must have counted, oldest first. */
  readonly answers: readonly Instant[];
  readonly counted: readonly Instant[];
  readonly rule: FlapRule;
  readonly end: Instant;
}

/** From when it may have flapped until it was told to be steady (or the end of the run), and the two messages. */
export interface FlapTime {
  readonly from: Instant;
  readonly to: Instant;
  readonly message: number;
  readonly steadyMessage: number;
}

const MINUTE_MS = 60_000;
/** From the state that ended it until everybody was told, where much else is told. */
const SETTLING_MS = 40_000;
const COMPARISONS = 20;
const NEWEST = 1.25;
const STEP = 0.5 / 19;
/** A status that was seen is no older than this. */
const SEEN_MS = 4_000;
/** Around a change nobody knows which status was seen. */
const DOUBT_MS = 500;

/** `tellings` about flapping alone, in order of acceptance. */
export function auditFlapping(
  tellings: readonly Telling[],
  one: FlappingCase,
): { readonly verdicts: Verdict[]; readonly flaps: FlapTime[] } {
  const { changes, integration, subject, rule, end } = one;
  const verdicts: Verdict[] = [];
  const flaps: FlapTime[] = [];
  let open: Telling | undefined;
  let last: Telling | undefined;
  const judge = (kind: VerdictKind, { at, message }: Telling, why: string) =>
    verdicts.push({ kind, integration, subject, at, why, message, ...(last ? { firstAt: last.at } : {}) });
  const least = leastChanges(rule);
  const canFlap = ({ at }: Telling) => changes.filter((change) => change.at <= at).length >= least;
  const began = changes[least - 1]?.at ?? 0;
  const close = (steady: Telling) => {
    if (open)
      flaps.push({ from: began, to: steady.at, message: open.message, steadyMessage: steady.message });
    open = undefined;
  };

  for (const telling of tellings) {
    if (telling.says === "flapping") {
      if (open) judge("doubled", telling, "told twice to flap");
      else if (!canFlap(telling)) judge("false", telling, `told to flap after fewer than ${least} changes`);
      open ??= telling;
    } else if (telling.says === "steady") {
      if (!open && last) judge("doubled", telling, "told twice to be steady");
      else if (!open && !canFlap(telling))
        judge("false", telling, "told to be steady though it never flapped");
      if (telling.state !== undefined && !wasIn(telling, changes))
        judge("false", telling, `told to be steady ${telling.state}, which it was not`);
      close(telling);
    } else if (!open) judge("false", telling, "told as still flapping, never told as new");
    last = telling;
  }
  if (open && mustBeSteady(one))
    judge("unresolved", { ...open, at: end }, "told to flap, never to be steady");
  if (open)
    flaps.push({ from: began, to: end, message: open.message, steadyMessage: Number.POSITIVE_INFINITY });
  const since = surelyFlaps(one);
  if (since !== undefined && tellings.length === 0)
    verdicts.push({ kind: "lost", integration, subject, at: since, why: "flapped, and nobody was told" });
  return { verdicts, flaps };
}

/** The share where changes are this many minutes old, the newest first. */
export function shareOf(ages: readonly number[]): number {
  return ages.reduce((sum, age) => (age < COMPARISONS ? sum + NEWEST - age * STEP : sum), 0) / COMPARISONS;
}

/** How many changes one after the other begin it. */
function leastChanges({ high }: FlapRule): number {
  let count = 1;
  while (shareOf(Array.from({ length: count }, (_, i) => i)) < high - 1e-9 && count < COMPARISONS) count++;
  return count;
}

/** Whether, however many of its changes were seen, so few are left that it must have been told to be steady. */
function mustBeSteady(one: FlappingCase): boolean {
  const settled = { ...one, end: one.end - SETTLING_MS };
  return greatestShare(settled) <= one.rule.low;
}

/**
 * The greatest share there can be: of each minute any status between its first answer and the first that must have
 * counted may be the one that was remembered.
 */
function greatestShare({ answers, counted, changes, end }: FlappingCase): number {
  const sure = new Set(counted);
  const minutes = [...Map.groupBy(answers, (at) => Math.floor(at / MINUTE_MS)).values()].filter(
    ([first = end]) => first < end,
  );
  let best = new Map([["online", 0]]);
  minutes.forEach((all, i) => {
    const [first = 0] = all;
    const until = all.find((at) => sure.has(at)) ?? all.at(-1) ?? first;
    const weight = shareOf([minutes.length - 1 - i]);
    const next = new Map<string, number>();
    for (const status of statusesBetween(changes, first - DOUBT_MS, until + DOUBT_MS)) {
      const sums = [...best].map(([before, sum]) => (before === status ? sum : sum + weight));
      next.set(status, Math.max(...sums));
    }
    best = next;
  });
  return Math.max(...best.values());
}

function statusesBetween(changes: readonly StatusChange[], from: Instant, to: Instant): Set<string> {
  const before = changes.findLast(({ at }) => at <= from)?.status ?? "online";
  const during = changes.filter(({ at }) => at > from && at <= to).map(({ status }) => status);
  return new Set([before, ...during]);
}

/** Whether it was, or had a moment ago been, in the status it was told to be in. */
function wasIn({ at, state }: Telling, changes: readonly StatusChange[]): boolean {
  return statusesBetween(changes, at - SENDING_MS - SEEN_MS, at).has(state ?? "");
}

/** When it surely began to flap; undefined where that is not sure. */
function surelyFlaps(one: FlappingCase): Instant | undefined {
  if (one.changes.length < leastChanges(one.rule)) return undefined;
  let seen: { readonly status: string; readonly at: Instant }[] = [];
  const sure = new Set(one.counted);
  const byMinute = Map.groupBy(one.answers, (at) => Math.floor(at / MINUTE_MS));
  for (const answers of byMinute.values()) {
    const status = surelySeen(answers, sure, one);
    if (status === undefined) {
      seen = [];
      continue;
    }
    seen.push({ status, at: answers[0] ?? 0 });
    const ages = seen.flatMap((state, i) =>
      i > 0 && seen[i - 1]?.status !== state.status ? [seen.length - 1 - i] : [],
    );
    if (shareOf(ages) >= one.rule.high + 1e-9) return answers[0];
  }
  return undefined;
}

/** The status of the minute's first reading: one of the answers up to the first that must have counted. */
function surelySeen(
  answers: readonly Instant[],
  counted: ReadonlySet<Instant>,
  { changes }: FlappingCase,
): string | undefined {
  const sure = answers.find((at) => counted.has(at));
  const [first] = answers;
  if (sure === undefined || first === undefined) return undefined;
  const doubtful = changes.some(({ at }) => at >= first - DOUBT_MS && at <= sure + DOUBT_MS);
  return doubtful ? undefined : (changes.findLast(({ at }) => at <= first)?.status ?? "online");
}
