/**
 * Lenses to clean: recordings whose quality falls steadily, by its median of each day. It tells how quality went on so
 * far and where it would be if it did, and predicts no failure. Assumptions:
 * - Quality differs between weekdays: a day is compared with days of the same weekday alone (Hirsch and Slack's slope).
 * - What is not dirt lasts for days, as weather does: the fall must go on from each quarter of eight weeks to the next.
 * - A step is another cause (moved, replaced, another light): a line must fit better than two levels do.
 * - Seasons and updates are alike for most: what the median recording of the fleet lost does not count.
 */
import { DAY_MS, type Instant } from "../lib/clock.ts";
import type { QualityHour } from "./quality.ts";

const WEEK = 7;
const QUARTER = 2 * WEEK;
const QUARTERS = 4;
/** Of the days of each quarter so many are known. */
const LEAST_KNOWN = 8;
/** What is lost in eight weeks, and from each quarter to the next; 0–1. */
const LEAST_FALL = 0.05;
const LEAST_STEP = LEAST_FALL / 8;
/** Of all pairs of days, how many more fall than rise; 0–1. */
const LEAST_AGREEING = 0.7;

/** The medians of the quarters of the last eight weeks, oldest first; undefined where too little is known. */
export function qualityQuarters(days: readonly QualityHour[]): number[] | undefined {
  const quarters = Array.from({ length: QUARTERS }, (_, i) => {
    const quarter = days.slice(days.length - (QUARTERS - i) * QUARTER).slice(0, QUARTER);
    return quarter.flatMap(({ quality }) => (quality === undefined ? [] : [quality]));
  });
  if (days.length < QUARTERS * QUARTER || quarters.some(({ length }) => length < LEAST_KNOWN)) return undefined;
  return quarters.map(median);
}

/** What eight weeks took of the quality, 0–1, by the first and the last quarter. */
export function fallOf(quarters: readonly number[]): number {
  return (((quarters[0] ?? 0) - (quarters.at(-1) ?? 0)) * QUARTERS) / (QUARTERS - 1);
}

export interface SteadyFall {
  /** Ratio lost a day. */
  readonly perDay: number;
  /** Quality now, 0–1. */
  readonly quality: number;
  /** When it is, or was, below the threshold, if it goes on. */
  readonly below: Instant;
}

/** The steady fall of the last days, and when it is below the threshold, 0–1; undefined without one. */
export function steadyFall(days: readonly QualityHour[], threshold: number): SteadyFall | undefined {
  const quarters = qualityQuarters(days);
  if (!quarters?.every((level, i) => i === 0 || (quarters[i - 1] ?? 0) - level >= LEAST_STEP)) return undefined;
  const slopes = weekdaySlopes(days.slice(-QUARTERS * QUARTER));
  const falling = slopes.filter((slope) => slope < 0).length - slopes.filter((slope) => slope > 0).length;
  const perDay = -median(slopes);
  if (falling < LEAST_AGREEING * slopes.length) return undefined;
  if (!isBeyond({ perDay }, 0) || isStep(days.slice(-QUARTERS * QUARTER), perDay)) return undefined;
  const quality = (quarters.at(-1) ?? 0) - (perDay * QUARTER) / 2;
  const now = (days.at(-1)?.at ?? 0) + DAY_MS;
  return { perDay, quality, below: now + ((quality - threshold) / perDay) * DAY_MS };
}

/** Whether it lost enough beyond what the fleet did (`fallOf`). */
export function isBeyond({ perDay }: Pick<SteadyFall, "perDay">, fleetFall: number): boolean {
  return perDay * QUARTERS * QUARTER - Math.max(0, fleetFall) >= LEAST_FALL;
}

/** Of all pairs of the same weekday, a day. */
function weekdaySlopes(days: readonly QualityHour[]): number[] {
  return days.flatMap(({ quality: first }, i) =>
    days.slice(i).flatMap(({ quality: second }, apart) => {
      if (apart === 0 || apart % WEEK !== 0 || first === undefined || second === undefined) return [];
      return [(second - first) / apart];
    }),
  );
}

/** Whether two levels, one after the other, are nearer to the days than the line, by the sum of distances. */
function isStep(days: readonly QualityHour[], perDay: number): boolean {
  const known = days.flatMap(({ quality }, day) => (quality === undefined ? [] : [{ day, quality }]));
  const line = distances(known.map(({ day, quality }) => quality + perDay * day));
  const levels = known.map(({ quality }) => quality);
  return known.some((_, i) => distances(levels.slice(0, i)) + distances(levels.slice(i)) <= line);
}

function distances(levels: readonly number[]): number {
  const middle = median(levels);
  return levels.reduce((sum, level) => sum + Math.abs(level - middle), 0);
}

/** The mean of the middle two where there is no middle; 0 of none. */
export function median(all: readonly number[]): number {
  const sorted = all.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? 0;
  return sorted.length % 2 === 0 ? ((sorted[half - 1] ?? 0) + upper) / 2 : upper;
}
