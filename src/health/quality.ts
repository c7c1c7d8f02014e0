/**
 * The quality of a recording over the last week: one reading an hour, a character each, so that those of a hundred
 * thousand recordings are some megabytes. The service serves none of the past (contract: live status entries alone).
 */
import { HOUR_MS, type Instant } from "../lib/clock.ts";

const HOURS = 168;
const DAY_HOURS = 24;

/** From bad to good in 90 steps, characters that JSON leaves as they are; `-` is an unknown hour. */
const LEVELS = [..."!#$%&'()*+,./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"];
const UNKNOWN = "-";
const MOST = LEVELS.length - 1;

export interface QualityHistory {
  /** Hours since the epoch of the last character. */
  readonly hour: number;
  /** Oldest first, a week at most. */
  readonly levels: string;
}

/** The history with a reading, 0–1, over what its hour had so far; without a reading, as it was. */
export function noteQuality(
  history: QualityHistory | undefined,
  quality: number | undefined,
  now: Instant,
): QualityHistory | undefined {
  if (quality === undefined) return history;
  const hour = Math.floor(now / HOUR_MS);
  const level = LEVELS[Math.round(Math.min(1, Math.max(0, quality)) * MOST)] ?? UNKNOWN;
  const passed = history ? hour - history.hour : HOURS;
  if (!history || passed < -DAY_HOURS) return { hour, levels: level };
  // A clock was put back: nothing is known better.
  if (passed < 0) return history;
  if (passed >= HOURS) return { hour, levels: level };
  const before = passed === 0 ? history.levels.slice(0, -1) : history.levels;
  return { hour, levels: (before + UNKNOWN.repeat(Math.max(0, passed - 1)) + level).slice(-HOURS) };
}

export interface QualityHour {
  readonly at: Instant;
  /** 0–1, to about a hundredth; undefined where it is not known. */
  readonly quality: number | undefined;
}

/** The hours of the week that ends now, oldest first; none where nothing of it is known. */
export function qualityHours({ hour, levels }: QualityHistory, now: Instant): QualityHour[] {
  const last = Math.floor(now / HOUR_MS);
  const hours = Array.from({ length: HOURS }, (_, i) => {
    const one = last - HOURS + 1 + i;
    const level = LEVELS.indexOf(levels[levels.length - 1 - (hour - one)] ?? UNKNOWN);
    return { at: one * HOUR_MS, quality: level < 0 ? undefined : level / MOST };
  });
  return hours.some(({ quality }) => quality !== undefined) ? hours : [];
}
