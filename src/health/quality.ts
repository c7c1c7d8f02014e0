/**
 * The quality of a recording over its last days: one reading an hour for a week, and the median of each day for 90, a
 * character each, so that those of a hundred thousand recordings are some megabytes. The service serves none of the past (contract: live status entries alone).
 */
import { HOUR_MS, type Instant } from "../lib/clock.ts";

const HOURS = 168;
const DAY_HOURS = 24;
const DAYS = 90;
/** A day of which fewer hours are known has no median. */
const LEAST_HOURS = 6;

/** From bad to good in 90 steps, characters that JSON leaves as they are; `-` is an unknown hour. */
const LEVELS = [..."!#$%&'()*+,./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz{|}~"];
const UNKNOWN = "-";
const MOST = LEVELS.length - 1;

export interface QualityHistory {
  /** Hours since the epoch of the last character. */
  readonly hour: number;
  /** Oldest first, a week at most. */
  readonly levels: string;
  /** The days in UTC that are over: of the last character, in days since the epoch; oldest first, 90 at most. */
  readonly days?: { readonly day: number; readonly levels: string } | undefined;
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
  const days = daysUntil(history, Math.floor(hour / DAY_HOURS));
  if (passed >= HOURS) return { hour, levels: level, days };
  const before = passed === 0 ? history.levels.slice(0, -1) : history.levels;
  return { hour, levels: (before + UNKNOWN.repeat(Math.max(0, passed - 1)) + level).slice(-HOURS), days };
}

/** The days before `today`: those that are not noted yet are read off the hours. */
function daysUntil({ hour, levels, days }: QualityHistory, today: number): QualityHistory["days"] {
  const first = Math.floor((hour - levels.length + 1) / DAY_HOURS);
  const from = Math.max(days ? days.day + 1 : first, today - DAYS);
  if (from >= today) return days;
  const added = Array.from({ length: today - from }, (_, i) => {
    const start = (from + i) * DAY_HOURS - hour + levels.length - 1;
    const known = [...levels.slice(Math.max(0, start), Math.max(0, start + DAY_HOURS))].filter(
      (one) => one !== UNKNOWN,
    );
    return known.length < LEAST_HOURS ? UNKNOWN : (known.sort()[known.length >> 1] ?? UNKNOWN);
  });
  const before = days && from === days.day + 1 ? days.levels : "";
  return { day: today - 1, levels: (before + added.join("")).slice(-DAYS) };
}

/** The last 90 days in UTC that are over, oldest first; 0–1, undefined where it is not known. */
export function qualityDays({ days }: QualityHistory, now: Instant): QualityHour[] {
  const last = Math.floor(now / HOUR_MS / DAY_HOURS) - 1;
  return Array.from({ length: DAYS }, (_, i) => {
    const day = last - DAYS + 1 + i;
    const level = days ? LEVELS.indexOf(days.levels[days.levels.length - 1 - (days.day - day)] ?? UNKNOWN) : -1;
    return { at: day * DAY_HOURS * HOUR_MS, quality: level < 0 ? undefined : level / MOST };
  });
}

/** An hour, or a day. */
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
