/**
 * Visits that an outage kept from being counted: the usual ones less those counted, with the 10th and 90th percentile.
 *
 * Assumptions:
 * - What is usual, and how much days and hours vary around it, is what `baseline.ts` learns.
 * - The hours of a day that were counted tell how busy it was, as far as chance lets them.
 * - A recording that is offline alone may cover no entrance: only what chance does not explain is lost.
 */
import { HOUR_MS } from "../lib/clock.ts";
import { type Interval, lengthIn, subtract, total, union } from "../lib/intervals.ts";
import { createLocalHours, localDay } from "../lib/local-hours.ts";
import { type Baseline, type HourAt, learnBaseline } from "./baseline.ts";
import { closedOn } from "./closed.ts";
import type { CountSeries } from "./series.ts";

/** Times at which recordings of a location did not record. */
export interface LocationOutage {
  /** None of them did: nothing can have been counted. */
  readonly all: readonly Interval[];
  /** Some did not. */
  readonly some: readonly Interval[];
}

/** Visits, not rounded. */
export interface VisitsLost {
  readonly estimate: number;
  /** The 10th and the 90th percentile. */
  readonly low: number;
  readonly high: number;
}

/** Why nothing is said. */
export type NothingLost = "too_long" | "history_too_thin" | "nothing_expected" | "unusual_day" | "chance_explains_it";

const LONGEST_MS = 14 * 24 * HOUR_MS;
/** Below this share of what is usual on the rest of it, a day is unusual. */
const UNUSUAL = 1 / 3;
/** Usual visits of the rest of a day, with which it can be seen to be unusual. */
const ENOUGH_TODAY = 10;
/** Usual visits of whole hours in which none was counted, with which it can be seen that nothing can have been. */
const ENOUGH_TO_SHOW = 5;
/** Seasons and promotions change a location from week to week: of a logarithm, the 90th percentile. */
const DRIFT = 0.1;
/** Standard errors by which counts fall that are less for a reason, and those of the 90th percentile. */
const BEYOND_CHANCE = 3;
const OF_TENTH = 1.28;
/** The share of the variance of days that those in a row have in common: weather, season, promotions. */
const SHARED = 0.5;
/** The largest standard error of a logarithm: the counts of any location vary by less. */
const MOST_ERROR = 1;
/** The counts of an ordinary day, of what is usual. */
const BUSY = { least: 0.5, most: 2 } as const;

/** Counts of whole local hours: those of the last eight weeks, and of the outage as far as they are known. */
export interface CountedHours extends Pick<CountSeries, "hours" | "timezone"> {
  /** Weekdays and dates as configured, on which nobody is expected. */
  readonly closedDays?: readonly string[] | undefined;
}

/** `others`: further outages of the location in the last eight weeks, whose hours are no history. */
export function visitsLost(
  series: CountedHours,
  outage: LocationOutage,
  others: readonly Interval[] = [],
): VisitsLost | NothingLost {
  const span = [...outage.all, ...outage.some];
  const lengthMs = total(span);
  if (lengthMs === 0) return "nothing_expected";
  if (lengthMs > LONGEST_MS) return "too_long";
  const counts = createCounts(series, span, others);
  if (!counts) return "history_too_thin";
  // Nothing is said of hours without a history, and no less of the others.
  const whole = partsOf(withEvidence(outage, counts), counts.hourAt);
  const touched = whole.filter(({ at }) => counts.usual(at) !== undefined);
  if (touched.length === 0 && whole.length > 0) return "history_too_thin";
  const parts = touched.flatMap(({ at, all, some }): Part[] => {
    const counted = some > 0 ? counts.served(at) : null;
    if (counted === undefined) return all > 0 ? [certainPart({ at, all })] : [];
    return [{ at, weight: counted === null ? all + some : 1, counted: counted ?? 0, most: all + some }];
  });
  const found = lostIn(parts, counts);
  const certain = touched.filter(({ all }) => all > 0);
  return found === "chance_explains_it" && certain.length > 0 ? lostIn(certain.map(certainPart), counts) : found;
}

/** Time in which nothing can have been counted. */
function certainPart({ at, all }: { readonly at: number; readonly all: number }): Part {
  return { at, weight: all, counted: 0, most: all };
}

/** A partial outage in whose whole hours nothing was counted is one of everything that counts. */
function withEvidence({ all, some }: LocationOutage, { hourAt, served, usual }: Counts): LocationOutage {
  const silent = subtract(some, all).filter((span) => {
    const whole = partsOf({ all: [], some: [span] }, hourAt).filter((part) => part.some === 1);
    const expected = whole.reduce((sum, { at }) => sum + (usual(at) ?? 0), 0);
    return expected >= ENOUGH_TO_SHOW && whole.every(({ at }) => served(at) === null || served(at) === 0);
  });
  return { all: union([...all, ...silent]), some };
}

/** An hour of the outage. */
interface Part {
  readonly at: number;
  /** The part of its usual visits that is compared with `counted`; in an hour of a partial outage all. */
  readonly weight: number;
  readonly counted: number;
  /** The part of its usual visits that can be lost. */
  readonly most: number;
}

function lostIn(parts: readonly Part[], counts: Counts): VisitsLost | NothingLost {
  const { baseline, usual, dayAt, restOf } = counts;
  const days = Map.groupBy(parts, ({ at }) => dayAt(at));
  const today = restOf([...days.keys()], parts);
  if (today.expected >= ENOUGH_TODAY && today.counted < UNUSUAL * today.expected) return "unusual_day";
  const around = new Set([...days.keys()].flatMap((day) => [day - 1, day, day + 1]));
  const factor = factorOf([...around].map((day) => restOf([day], parts)).filter(isOrdinary), baseline);
  let [expected, most, variance, partly, counted] = [0, 0, 0, 0, 0];
  for (const own of days.values()) {
    let ofDay = 0;
    for (const part of own) {
      const visits = factor.mean * (usual(part.at) ?? 0);
      ofDay += part.weight * visits;
      most += part.most * visits;
      variance += baseline.hour * (part.weight * visits) ** 2 + (1 + baseline.visit) * part.weight * visits;
      if (part.counted === 0) continue;
      partly += visits;
      counted += part.counted;
    }
    expected += ofDay;
    variance += (1 - SHARED) * baseline.day * ofDay ** 2;
  }
  if (expected < 1) return "nothing_expected";
  variance += factor.variance * expected ** 2;
  const error = Math.min(MOST_ERROR, Math.sqrt(Math.log1p(variance / expected ** 2)));
  if (counted > 0 && partly - counted <= BEYOND_CHANCE * error * partly) return "chance_explains_it";
  const lost = (times: number) => Math.min(Math.max(0, times * expected - counted), times * most);
  const times = Math.exp(Math.hypot(OF_TENTH * error, DRIFT));
  return { estimate: lost(1), low: lost(1 / times), high: lost(times) };
}

interface Rest {
  readonly expected: number;
  readonly counted: number;
  /** The sum of the squares of what is usual in each hour. */
  readonly squares: number;
}

/** A holiday or a promotion says nothing of the days beside it. */
function isOrdinary({ expected, counted }: Rest): boolean {
  return expected > 0 && counted >= BUSY.least * expected && counted <= BUSY.most * expected;
}

/** How busy these days were, by what was counted of them, and the variance that is left. */
function factorOf(days: readonly Rest[], { day, hour, visit }: Baseline) {
  const shared = SHARED * day;
  const sum = (of: keyof Rest) => days.reduce((total, one) => total + one[of], 0);
  const expected = sum("expected");
  if (expected < 1) return { mean: 1, variance: shared };
  const noise = ((1 - SHARED) * day) / days.length + (1 + visit) / expected + (hour * sum("squares")) / expected ** 2;
  const share = shared / (shared + noise);
  return { mean: 1 + share * (sum("counted") / expected - 1), variance: shared * (1 - share) };
}

type Counts = NonNullable<ReturnType<typeof createCounts>>;

/** The counts and what is usual for them, by the beginning of a local hour; undefined where the history is too thin. */
function createCounts(
  { hours, timezone, closedDays = [] }: CountedHours,
  span: readonly Interval[],
  others: readonly Interval[],
) {
  const local = createLocalHours();
  const hourAt: HourAt = (at) => local.at(at, timezone);
  const isClosed = closedOn(closedDays, hourAt);
  const outages = [...span, ...others];
  const baseline = learnBaseline({ hours }, Math.max(...span.map(({ to }) => to)), { hourAt, outages, isClosed });
  if (!baseline) return undefined;
  const usual = (at: number) => (isClosed?.(at) ? 0 : baseline.usual[hourAt(at).ofWeek]);
  const dayAt = (at: number) => localDay(hourAt(at).slot);
  const isOut = (at: number) => outages.some(({ from, to }) => from < at + HOUR_MS && to > at);
  return {
    ...{ baseline, hourAt, dayAt, usual },
    /** `null`: the service had no data; undefined: not read. */
    served: (at: number) => hours.get(at),
    /** The hours of these days that were counted, without those of outages. */
    restOf(days: readonly number[], parts: readonly Part[]): Rest {
      const own = new Set(parts.map(({ at }) => at));
      const rest = { expected: 0, counted: 0, squares: 0 };
      for (const [at, count] of hours) {
        if (count === null || own.has(at) || !days.includes(dayAt(at)) || isOut(at)) continue;
        const expected = usual(at) ?? 0;
        if (expected === 0) continue;
        rest.expected += expected;
        rest.counted += count;
        rest.squares += expected ** 2;
      }
      return rest;
    },
  };
}

/** The local hours that an outage touches, and which share of each. */
function partsOf({ all, some }: LocationOutage, hourAt: HourAt) {
  const rest = subtract(some, all);
  const hours = new Set<number>();
  for (const { from, to } of union([...all, ...some]))
    for (let at = hourAt(from).startsAt; at < to; at += HOUR_MS) hours.add(at);
  return Array.from(hours, (at) => {
    const shareOf = (spans: readonly Interval[]) => lengthIn(spans, { from: at, to: at + HOUR_MS }) / HOUR_MS;
    return { at, all: shareOf(all), some: shareOf(rest) };
  });
}
