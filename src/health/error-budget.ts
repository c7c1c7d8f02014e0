/**
 * How much of an objective's error budget is spent, from what sweeps see: at each sample the recordings that should
 * record, and those of them that do. Kept in buckets of five minutes, hours and days, a few kilobytes in all. The alerts
 * are those of the SRE workbook (https://sre.google/workbook/alerting-on-slos/, multiwindow, multi-burn-rate).
 */
import type { Instant } from "../lib/clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Of recordings at a moment; of those that nothing is known of, neither. */
type SloCount = { readonly good: number; readonly bad: number };

/** When it began; then in whole seconds: watched, recordings added up that recorded, and that did not. */
type Bucket = readonly [from: Instant, watched: number, good: number, bad: number];

export interface ErrorBudget {
  /** Of the last sample. */
  readonly at: Instant;
  /** One list for each of `TIERS`, oldest first. */
  readonly tiers: readonly (readonly Bucket[])[];
}

const TIERS = [
  { ms: 5 * MINUTE, kept: 80 },
  { ms: HOUR, kept: 80 },
  { ms: DAY, kept: 92 },
] as const;

/** Samples further apart than this, or than three intervals, have an unwatched time between them. */
const GAP_MS = 10 * MINUTE;

/** The budget after a sample, which stands for the time since the last one; `everyMs`: how often one is taken. */
export function addSample(
  known: ErrorBudget | undefined,
  count: SloCount,
  now: Instant,
  everyMs: number = MINUTE,
): ErrorBudget {
  const sinceMs = now - (known?.at ?? now);
  const seconds = sinceMs > Math.max(GAP_MS, 3 * everyMs) ? 0 : Math.max(0, Math.round(sinceMs / 1000));
  const tiers = TIERS.map(({ ms, kept }, i) => {
    const buckets = known?.tiers[i] ?? [];
    if (seconds === 0 || count.good + count.bad === 0) return buckets;
    const from = now - (now % ms);
    const last = buckets.at(-1);
    const [, watched, good, bad] = last?.[0] === from ? last : [from, 0, 0, 0];
    const moved: Bucket = [from, watched + seconds, good + seconds * count.good, bad + seconds * count.bad];
    return [...buckets.filter((one) => one[0] < from && one[0] > from - kept * ms), moved];
  });
  return { at: now, tiers };
}

interface Observed extends SloCount {
  /** Of the time asked for, what was watched, 0–1. */
  readonly share: number;
}

/** What was observed in the last `overMs`, to the length of a bucket. */
export function observedIn(budget: ErrorBudget, overMs: number, now: Instant): Observed {
  const at = overMs <= 6 * HOUR ? 0 : overMs <= 3 * DAY ? 1 : 2;
  const ms = TIERS[at].ms;
  const recent = (budget.tiers[at] ?? []).filter(([from]) => from + ms > now - overMs && from <= now);
  const sum = (of: 1 | 2 | 3) => recent.reduce((all, bucket) => all + bucket[of], 0);
  return { share: Math.min(1, (sum(1) * 1000) / overMs), good: sum(2), bad: sum(3) };
}

/** Below this share of a window there is too little to tell. */
const ENOUGH_WATCHED = 0.5;

/** How many times faster than the objective allows over its whole period; undefined where too little was watched. */
export function burnRate(budget: ErrorBudget, objective: number, overMs: number, now: Instant): number | undefined {
  const { good, bad, share } = observedIn(budget, overMs, now);
  return share < ENOUGH_WATCHED || good + bad === 0 ? undefined : bad / (good + bad) / (1 - objective);
}

export type BurnSpeed = "fast" | "slow";

/** The rate, the window it is about, and the short one that shows whether it still goes on. */
export const burnWindows: Readonly<
  Record<BurnSpeed, readonly Readonly<Record<"rate" | "overMs" | "recentMs", number>>[]>
> = {
  fast: [
    { rate: 14.4, overMs: HOUR, recentMs: 5 * MINUTE },
    { rate: 6, overMs: 6 * HOUR, recentMs: 30 * MINUTE },
  ],
  slow: [{ rate: 1, overMs: 3 * DAY, recentMs: 6 * HOUR }],
};

/** Whether both windows of a pair burn at its rate; undefined where too little was watched to tell. */
export function isBurning(budget: ErrorBudget, objective: number, speed: BurnSpeed, now: Instant): boolean | undefined {
  const pairs = burnWindows[speed].map(({ rate, overMs, recentMs }) => {
    const recent = burnRate(budget, objective, recentMs, now);
    if (recent === undefined || recent < rate) return recent === undefined ? undefined : false;
    const long = burnRate(budget, objective, overMs, now);
    return long === undefined ? undefined : long >= rate;
  });
  return pairs.includes(true) ? true : pairs.includes(undefined) ? undefined : false;
}

/**
 * The ratio of the error budget of the whole period that is left: 1 where nothing was spent, negative where it is
 * overspent. Time that was not watched spends nothing. Undefined before the first sample with anything known.
 */
export function budgetRemaining(
  budget: ErrorBudget,
  { objective, periodMs }: { readonly objective: number; readonly periodMs: number },
  now: Instant,
): number | undefined {
  const { good, bad, share } = observedIn(budget, periodMs, now);
  return good + bad === 0 ? undefined : 1 - ((bad / (good + bad)) * share) / (1 - objective);
}
