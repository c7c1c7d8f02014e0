/** What is known of a location beside its name: the zones its recordings cover, and its usual entries. */

/** By recording id: taxonomies of the zones it covers (contract: `<Group>:<Subgroup>:<Name>`). */
export type LocationZones = ReadonlyMap<string, readonly string[]>;

/** Median entries of a whole day by weekday, Monday first; undefined where too few days are known. */
export type UsualEntries = readonly (number | undefined)[];

/** People counted in on one local day, `YYYY-MM-DD`. */
export interface DayEntries {
  readonly day: string;
  readonly entries: number;
}

/** The fewest days of a weekday for a median. */
const FEWEST_DAYS = 3;
const DAYS_OF_WEEK = 7;

/**
 * Each weekday's median of these days; half counts are rounded up. Where all medians are 0 nothing is counted at this
 * location, and nothing is known.
 */
export function usualEntries(days: readonly DayEntries[]): UsualEntries {
  const counts: number[][] = Array.from({ length: DAYS_OF_WEEK }, () => []);
  for (const { day, entries } of days) counts[weekdayOf(day)]?.push(entries);
  const usual = counts.map((all) => (all.length < FEWEST_DAYS ? undefined : median(all)));
  return usual.some((entries) => entries) ? usual : usual.map(() => undefined);
}

/** 0 Monday to 6 Sunday. */
function weekdayOf(day: string): number {
  return (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % DAYS_OF_WEEK;
}

/** Of a list that is not empty; of two middle ones their mean, rounded up. */
export function median(counts: readonly number[]): number {
  const sorted = [...counts].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[middle - 1], sorted[middle]];
  return Math.round(sorted.length % 2 === 0 ? (low + high) / 2 : high);
}
