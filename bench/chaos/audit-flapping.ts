/**
 * One recording at one integration: notices of flapping compared with its changes of status. The share is computed
 * independently, from Nagios' description, and only from minutes with a certain reading. Pure.
 */
import type { Instant } from "../../src/lib/clock.ts";
import type { Verdict, VerdictKind } from "./audit.ts";
import { SENDING_MS } from "./match.ts";
import type { Notice } from "./messages.ts";
import type { StatusChange } from "./timeline.ts";

/** Shares 0–1. */
export interface FlapRule {
  readonly high: number;
  readonly low: number;
}

export interface FlappingCase {
  readonly integration: string;
  readonly subject: string;
  /** Its changes of status, oldest first; online before the first. */
  readonly changes: readonly StatusChange[];
  /** All answers about its location, and those certainly evaluated, oldest first. */
  readonly answers: readonly Instant[];
  readonly counted: readonly Instant[];
  readonly rule: FlapRule;
  readonly end: Instant;
}

/** From its first possible flapping to its steady notice (or the end of the run), and the two messages. */
export interface FlapTime {
  readonly from: Instant;
  readonly to: Instant;
  readonly message: number;
  readonly steadyMessage: number;
}

const MINUTE_MS = 60_000;
/** From the state that ended it to the last notification, under load. */
const SETTLING_MS = 40_000;
const COMPARISONS = 20;
const NEWEST = 1.25;
const STEP = 0.5 / 19;
/** Longest age of a reading. */
const SEEN_MS = 4_000;
/** Around a change the reading is uncertain. */
const DOUBT_MS = 500;

/** `notices` of flapping only, in order of acceptance. */
export function auditFlapping(
  notices: readonly Notice[],
  one: FlappingCase,
): { readonly verdicts: Verdict[]; readonly flaps: FlapTime[] } {
  const { changes, integration, subject, rule, end } = one;
  const verdicts: Verdict[] = [];
  const flaps: FlapTime[] = [];
  let open: Notice | undefined;
  let last: Notice | undefined;
  const judge = (kind: VerdictKind, { at, message }: Notice, why: string) =>
    verdicts.push({ kind, integration, subject, at, why, message, ...(last ? { firstAt: last.at } : {}) });
  const least = leastChanges(rule);
  const canFlap = ({ at }: Notice) => changes.filter((change) => change.at <= at).length >= least;
  const began = changes[least - 1]?.at ?? 0;
  const close = (steady: Notice) => {
    if (open) flaps.push({ from: began, to: steady.at, message: open.message, steadyMessage: steady.message });
    open = undefined;
  };

  for (const notice of notices) {
    if (notice.kind === "flapping") {
      if (open) judge("doubled", notice, "notified twice as flapping");
      else if (!canFlap(notice)) judge("false", notice, `notified as flapping after fewer than ${least} changes`);
      open ??= notice;
    } else if (notice.kind === "steady") {
      if (!open && last) judge("doubled", notice, "notified twice as steady");
      else if (!open && !canFlap(notice)) judge("false", notice, "notified as steady without flapping");
      if (notice.state !== undefined && !wasIn(notice, changes))
        judge("false", notice, `notified as steady ${notice.state}, which it was not`);
      close(notice);
    } else if (!open) judge("false", notice, "flapping reminder without a first notification");
    last = notice;
  }
  if (open && mustBeSteady(one)) judge("unresolved", { ...open, at: end }, "notified as flapping, never as steady");
  if (open) flaps.push({ from: began, to: end, message: open.message, steadyMessage: Number.POSITIVE_INFINITY });
  const since = surelyFlaps(one);
  if (since !== undefined && notices.length === 0)
    verdicts.push({ kind: "lost", integration, subject, at: since, why: "flapped, never notified" });
  return { verdicts, flaps };
}

/** The weighted share of changes of these ages, in minutes. */
export function shareOf(ages: readonly number[]): number {
  return ages.reduce((sum, age) => (age < COMPARISONS ? sum + NEWEST - age * STEP : sum), 0) / COMPARISONS;
}

/** Number of consecutive changes that start flapping. */
function leastChanges({ high }: FlapRule): number {
  let count = 1;
  while (shareOf(Array.from({ length: count }, (_, i) => i)) < high - 1e-9 && count < COMPARISONS) count++;
  return count;
}

/** Whether its share is below the lower threshold whichever changes were read, so that a steady notice is due. */
function mustBeSteady(one: FlappingCase): boolean {
  const settled = { ...one, end: one.end - SETTLING_MS };
  return greatestShare(settled) <= one.rule.low;
}

/**
 * The greatest possible share: the reading of a minute is any status between its first answer and the first that was
 * certainly evaluated.
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

/** Whether it is, or was a moment ago, in the notified status. */
function wasIn({ at, state }: Notice, changes: readonly StatusChange[]): boolean {
  return statusesBetween(changes, at - SENDING_MS - SEEN_MS, at).has(state ?? "");
}

/** When it certainly started to flap; undefined where uncertain. */
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

/** The certain status of the minute's first reading; undefined where uncertain. */
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
