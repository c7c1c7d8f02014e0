/**
 * Visits that an outage kept from being counted: the usual ones less those counted, with the 10th and 90th percentile.
 *
 * Assumptions:
 * - The same local hour of the eight weeks before tells what is usual, without closed days and those that differ from their weekday threefold.
 * - The hours around the outage that were counted tell how busy those days were; how much, the past weeks show.
 * - Chance does to this span what it did to the same hours of the other days: their errors, each of what was usual
 *   before it, are the spread; with a little for parts of hours, and for what changes from week to week.
 * - A recording that is offline alone may cover no entrance: only what chance does not explain is lost.
 */

import { HOUR_MS } from "../lib/clock.ts";
import { type Interval, lengthIn, subtract, total, union } from "../lib/intervals.ts";
import { createLocalHours, localDay } from "../lib/local-hours.ts";
import type { HourAt } from "./baseline.ts";
import { closedDay } from "./closed.ts";
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

const DAY = 24;
const WEEK = 7 * DAY;
const WEEKS = 8;
const LONGEST_MS = 14 * DAY * HOUR_MS;
/** Fewer counts of the same hour of the week are no history. */
const FEWEST_WEEKS = 3;
/** Fewer days on which the same hours were counted tell nothing of the spread. */
const FEWEST_DAYS = 12;
/** The share of the outage's hours that must be known on such a day, and be busy enough. */
const ENOUGH_HOURS = 0.7;
const ENOUGH_VISITS = 0.3;
/** So many times its weekday's median, or its inverse, is an unusual day. */
const UNUSUAL = 3;
/** Usual visits of the rest of a day, with which it can be seen to be unusual. */
const ENOUGH_TODAY = 10;
/** A ratio of counts says little of so few. */
const FEW = 0.5;
/** Past days are less than eight weeks, and many of them overlap: their errors are a little too small. */
const WIDER = 1.15;
/** Seasons and promotions change a location from week to week: of a logarithm, the 90th percentile. */
const DRIFT = 0.1;
/** People come in groups: the variance of a count for each visit. */
const GROUP = 1.7;
/** Standard errors by which counts fall that are less for a reason. */
const BEYOND_CHANCE = 3;

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
  if (total(span) > LONGEST_MS) return "too_long";
  const hours = createLocalHours();
  const hourAt: HourAt = (at) => hours.at(at, series.timezone);
  const counts = createCounts(series, [...span, ...others], hourAt);
  const whole = partsOf(withEvidence(outage, counts, hourAt), hourAt);
  // Nothing is said of hours without a history, and no less of the others.
  const touched = whole.filter(({ slot }) => counts.usual(slot) !== undefined);
  if (touched.length === 0 && whole.length > 0) return "history_too_thin";
  const parts = touched.flatMap(({ slot, all, some }): Part[] => {
    const counted = some > 0 ? counts.served(slot) : null;
    if (counted === undefined) return all > 0 ? [certainPart({ slot, all })] : [];
    return [{ slot, weight: counted === null ? all + some : 1, counted: counted ?? 0, most: all + some }];
  });
  const found = lostIn(parts, counts);
  const certain = touched.filter(({ all }) => all > 0);
  return found === "chance_explains_it" && certain.length > 0 ? lostIn(certain.map(certainPart), counts) : found;
}

/** Time in which nothing can have been counted. */
function certainPart({ slot, all }: { readonly slot: number; readonly all: number }): Part {
  return { slot, weight: all, counted: 0, most: all };
}

/** Usual visits of whole hours in which none was counted, with which it can be seen that nothing can have been. */
const ENOUGH_TO_SHOW = 5;

/** A partial outage in whose whole hours nothing was counted is one of everything that counts. */
function withEvidence({ all, some }: LocationOutage, counts: Counts, hourAt: HourAt): LocationOutage {
  const silent = subtract(some, all).filter((span) => {
    const whole = partsOf({ all: [], some: [span] }, hourAt).filter((part) => part.some === 1);
    const served = whole.map(({ slot }) => counts.served(slot));
    const usual = whole.reduce((sum, { slot }) => sum + (counts.usual(slot) ?? 0), 0);
    return usual >= ENOUGH_TO_SHOW && served.every((count) => count === null || count === 0);
  });
  return { all: union([...all, ...silent]), some };
}

/** An hour of the outage. */
interface Part {
  readonly slot: number;
  /** The part of its usual visits that is compared with `counted`; in an hour of a partial outage all. */
  readonly weight: number;
  readonly counted: number;
  /** The part of its usual visits that can be lost. */
  readonly most: number;
}

function lostIn(parts: readonly Part[], counts: Counts): VisitsLost | NothingLost {
  const usualOf = (key: "weight" | "most", of = parts) =>
    of.reduce((sum, part) => sum + part[key] * (counts.usual(part.slot) ?? 0), 0);
  const [expected, most] = [usualOf("weight"), usualOf("most")];
  if (expected < 1) return "nothing_expected";
  const today = ratioOf(hoursAround(parts, [0], counts), 0, counts);
  if (today && today.expected >= ENOUGH_TODAY && today.ratio < 1 / UNUSUAL) return "unusual_day";
  const around = hoursAround(parts, [-1, 0, 1], counts);
  const now = ratioOf(around, 0, counts);
  const past = pastDays(parts, around, expected, counts);
  if (past.length < FEWEST_DAYS) return "history_too_thin";
  const slope = slopeOf(past);
  const errors = past.map(([own, context]) => own - slope * context).sort((a, b) => a - b);
  const factor = Math.exp(slope * (now ? bounded(now.ratio) : 0));
  const sampling = samplingError(parts, expected, counts);
  const below = Math.hypot(WIDER * Math.max(0, -quantile(errors, 0.1)), sampling, DRIFT);
  const above = Math.hypot(WIDER * Math.max(0, quantile(errors, 0.9)), sampling, DRIFT);
  const [low, high] = [factor * Math.exp(-below), factor * Math.exp(above)];
  const partial = parts.filter(({ weight, counted }) => weight === 1 && counted > 0);
  const counted = partial.reduce((sum, part) => sum + part.counted, 0);
  const spread = (Math.log(high / low) / 2.56) * usualOf("weight", partial) * factor;
  if (counted > 0 && factor * usualOf("weight", partial) - counted <= BEYOND_CHANCE * spread)
    return "chance_explains_it";
  const lost = (times: number) => Math.min(Math.max(0, times * expected - counted), times * most);
  const estimate = lost(factor);
  return { estimate, low: Math.min(estimate, lost(low)), high: Math.max(estimate, lost(high)) };
}

/** The error of visits in parts of hours, whose share is due to chance: of a logarithm, the 90th percentile. */
function samplingError(parts: readonly Part[], expected: number, counts: Counts): number {
  const variance = parts.reduce((sum, { slot, weight }) => {
    return sum + GROUP * weight * Math.max(0, 1 - weight) * (counts.usual(slot) ?? 0);
  }, 0);
  return (1.28 * Math.sqrt(variance)) / expected;
}

type Sums = { readonly ratio: number; readonly expected: number };
type Weighted = Pick<Part, "slot" | "weight">;

/** Counted by usual visits, the hours shifted by `shift`; undefined where too few of them are known. */
function ratioOf(hours: readonly Weighted[], shift: number, counts: Counts): Sums | undefined {
  let [known, expected, counted] = [0, 0, 0];
  for (const { slot, weight } of hours) {
    const [usual, own] = [counts.usual(slot + shift), counts.counted(slot + shift)];
    if (usual === undefined || own === undefined) continue;
    known += 1;
    expected += weight * usual;
    counted += weight * own;
  }
  if (known < ENOUGH_HOURS * hours.length || known === 0) return undefined;
  return { ratio: (counted + FEW) / (expected + FEW), expected };
}

const bounded = (ratio: number) => Math.max(-Math.LN2, Math.min(Math.LN2, Math.log(ratio)));

/** Hours that were counted on the days of the outage, or so many days before and after them. */
function hoursAround(parts: readonly Part[], offsets: readonly number[], counts: Counts): Weighted[] {
  const own = new Set(parts.map(({ slot }) => slot));
  const days = new Set(parts.flatMap(({ slot }) => offsets.map((by) => localDay(slot) + by)));
  return [...days]
    .flatMap((day) => Array.from({ length: DAY }, (_, hour) => day * DAY + hour))
    .filter((slot) => !own.has(slot) && (counts.usual(slot) ?? 0) > 0 && counts.counted(slot) !== undefined)
    .map((slot) => ({ slot, weight: 1 }));
}

/** Logarithms of the ratios of the same hours on other days, and of those around them. */
function pastDays(parts: readonly Part[], around: readonly Weighted[], expected: number, counts: Counts) {
  const found: (readonly [own: number, context: number])[] = [];
  for (let days = -7 * WEEKS; days <= 7 * WEEKS; days += 1) {
    if (days === 0) continue;
    const own = ratioOf(parts, days * DAY, counts);
    if (!own || own.expected < ENOUGH_VISITS * expected) continue;
    const context = ratioOf(around, days * DAY, counts);
    found.push([Math.log(own.ratio), context ? bounded(context.ratio) : 0]);
  }
  return found;
}

/** Between 0 and 1: of what the hours around were busier, how much these were. */
function slopeOf(past: readonly (readonly [own: number, context: number])[]): number {
  let [both, square] = [0, 0.05];
  for (const [own, context] of past) {
    both += Math.max(-Math.LN2, Math.min(Math.LN2, own)) * context;
    square += context * context;
  }
  return Math.max(0, Math.min(1, both / square));
}

/** A quantile of a sorted list that is not empty; between two of its values in proportion. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1);
  const [low = 0, high = low] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at % 1);
}

type Counts = ReturnType<typeof createCounts>;

/** Counts by local hour since 1970 (`slot`), so that a week before is 168 less. */
function createCounts({ hours, closedDays = [] }: CountedHours, outages: readonly Interval[], hourAt: HourAt) {
  const out = new Set(partsOf({ all: union(outages), some: [] }, hourAt).map(({ slot }) => slot));
  const served = new Map<number, number | null>();
  for (const [at, count] of hours) served.set(hourAt(at).slot, count);
  const unusual = unusualDays(served, out);
  const known = new Map<number, number | undefined>();
  const isClosed = closedDay(closedDays);

  function usualOf(slot: number): number | undefined {
    if (isClosed(localDay(slot))) return 0;
    const around = [];
    let silent = 0;
    for (let week = 1; week <= WEEKS; week += 1) {
      const at = slot - week * WEEK;
      const count = out.has(at) || isClosed(localDay(at)) ? undefined : served.get(at);
      if (count === null) silent += 1;
      else if (count !== undefined && !unusual.has(localDay(at))) around.push(count);
    }
    if (around.length >= FEWEST_WEEKS) return around.reduce((a, b) => a + b) / around.length;
    return around.length === 0 && silent >= FEWEST_WEEKS ? 0 : undefined;
  }

  return {
    served: (slot: number) => served.get(slot),
    /** Undefined during outages, and where the service had no data. */
    counted: (slot: number) => (out.has(slot) ? undefined : (served.get(slot) ?? undefined)),
    /** The usual visits of the same hour in the weeks before; undefined where too few are known. */
    usual(slot: number): number | undefined {
      if (!known.has(slot)) known.set(slot, usualOf(slot));
      return known.get(slot);
    },
  };
}

function unusualDays(served: ReadonlyMap<number, number | null>, out: ReadonlySet<number>): Set<number> {
  const days = new Map<number, number>();
  for (const [slot, count] of served) {
    const day = localDay(slot);
    if (count !== null && !out.has(slot)) days.set(day, (days.get(day) ?? 0) + count);
  }
  const weekdays = Map.groupBy(days, ([day]) => day % 7);
  const unusual = new Set<number>();
  for (const all of weekdays.values()) {
    const usual = median(all.map(([, sum]) => sum));
    for (const [day, sum] of all) if (sum > UNUSUAL * usual || sum < usual / UNUSUAL) unusual.add(day);
  }
  return unusual;
}

/** The mean of the middle two where there is no middle. */
function median(all: readonly number[]): number {
  return quantile(
    all.toSorted((a, b) => a - b),
    0.5,
  );
}

/** The local hours that an outage touches, and which share of each. */
function partsOf({ all, some }: LocationOutage, hourAt: HourAt) {
  const rest = subtract(some, all);
  const parts = new Map<number, { slot: number; all: number; some: number }>();
  for (const { from, to } of union([...all, ...some])) {
    for (let at = from; at < to; ) {
      const { slot, startsAt } = hourAt(at);
      const end = Math.min(to, startsAt + HOUR_MS);
      const part = parts.get(slot) ?? { slot, all: 0, some: 0 };
      const bounds = { from: at, to: end };
      part.all += lengthIn(all, bounds) / HOUR_MS;
      part.some += lengthIn(rest, bounds) / HOUR_MS;
      parts.set(slot, part);
      at = end;
    }
  }
  return [...parts.values()];
}
