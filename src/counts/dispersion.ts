/**
 * The spread of counts around what is usual. Assumed: a count has chance (Poisson) noise, more of it as people come in
 * groups, times a factor of its day (weather, promotions) and one of its hour, both around 1. What groups add to the
 * variance grows with the visits, what factors add with their square; both are learned from the series' own past. Factors
 * of different days are independent. Counts are overdispersed: what Poisson calls impossible happens every month.
 */

export interface Dispersion {
  /** Variance of a day's factor. */
  readonly day: number;
  /** Variance of an hour's factor within its day. */
  readonly hour: number;
  /** Variance beyond chance for each visit: 0 where people come one by one, 1 where they come in twos. */
  readonly visit: number;
}

export interface ExpectedHour {
  readonly expected: number;
  readonly counted: number;
}

/** No past makes a series more regular than this. */
const LEAST = { day: 0.01, visit: 0.2 } as const;
/** The assumption before anything is known, with the weight of so many days. */
const PRIOR = { day: 0.04, visit: 1.2 } as const;
const PRIOR_DAYS = 5;
/** The usual counts are means of the same eight weeks: the past strays from them by 7/8 of the variance, the future by 9/8. */
const FROM_SAME_WEEKS = 9 / 7;
/** Hours with less say nothing. */
const LEAST_EXPECTED = 0.5;

/** Learns from whole days, each of its hours. */
export function learnDispersion(days: readonly (readonly ExpectedHour[])[]): Dispersion {
  const known = days.filter((hours) => sumOf(hours, ({ expected }) => expected) > 0);
  const weigh = (found: number, of: keyof typeof LEAST) =>
    Math.max(LEAST[of], (found * known.length + PRIOR[of] * PRIOR_DAYS) / (known.length + PRIOR_DAYS));
  const { atNone, slope: hour } = lineThrough(known.flatMap(straysOf));
  const visit = weigh(atNone, "visit");
  const [daily, squares] = [
    sumOf(known, dailyOf),
    sumOf(known, (hours) => sumOf(hours, ({ expected }) => expected) ** 2),
  ];
  const within = sumOf(known, (hours) => sumOf(hours, ({ expected }) => expected * visit + expected ** 2 * hour));
  return { day: weigh(Math.max(0, share(daily * FROM_SAME_WEEKS - within, squares)), "day"), hour, visit };
}

/** Squared distance of a day beyond chance. */
function dailyOf(hours: readonly ExpectedHour[]): number {
  const expected = sumOf(hours, (hour) => hour.expected);
  return (sumOf(hours, ({ counted }) => counted) - expected) ** 2 - expected;
}

interface Stray {
  readonly mean: number;
  /** Variance within the day, relative to that of chance, less 1. */
  readonly excess: number;
}

function straysOf(hours: readonly ExpectedHour[]): Stray[] {
  const ofDay = sumOf(hours, ({ expected }) => expected);
  const factor = sumOf(hours, ({ counted }) => counted) / ofDay;
  return hours.flatMap(({ expected, counted }) => {
    const mean = expected * factor;
    const chance = (mean * (1 - expected / ofDay)) / FROM_SAME_WEEKS;
    return mean >= LEAST_EXPECTED && chance > 0 ? [{ mean, excess: (counted - mean) ** 2 / chance - 1 }] : [];
  });
}

/** The straight line nearest to the excess as the mean grows; neither its beginning nor its slope is below 0. */
function lineThrough(strays: readonly Stray[]): { readonly atNone: number; readonly slope: number } {
  const mean = average(strays, (one) => one.mean);
  const excess = average(strays, (one) => one.excess);
  const spread = average(strays, (one) => (one.mean - mean) ** 2);
  const slope = Math.max(
    0,
    share(
      average(strays, (one) => (one.mean - mean) * (one.excess - excess)),
      spread,
    ),
  );
  const atNone = excess - slope * mean;
  return atNone >= 0 ? { atNone, slope } : { atNone: 0, slope: Math.max(0, share(excess, mean)) };
}

function sumOf<T>(all: readonly T[], of: (one: T) => number): number {
  return all.reduce((total, one) => total + of(one), 0);
}

function average<T>(all: readonly T[], of: (one: T) => number): number {
  return share(sumOf(all, of), all.length);
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

/** Variances of a sum, relative to the square of what was expected: due to the days' factors, and to the hours'. */
export interface SpreadParts extends Pick<Dispersion, "visit"> {
  readonly ofDays: number;
  readonly ofHours: number;
}

/** Adds up hours, oldest or newest first, and knows what their sum strays by. */
export function createSpread({ day, hour, visit }: Dispersion) {
  const sums = { total: 0, ofDay: 0, days: 0, hours: 0 };
  let last = Number.NaN;
  return {
    parts(): SpreadParts {
      const square = sums.total ** 2;
      const ofDays = share((sums.days + sums.ofDay ** 2) * day, square);
      return { ofDays, ofHours: share(sums.hours * hour, square), visit };
    },
    /** `ofHour`: expected in the whole hour, whose parts share its factor. */
    add(expected: number, day: number, ofHour: number): void {
      if (day !== last) {
        sums.days += sums.ofDay ** 2;
        sums.ofDay = 0;
      }
      last = day;
      sums.total += expected;
      sums.ofDay += expected;
      sums.hours += expected * ofHour;
    },
  };
}

/**
 * The surprise of a count, in nats: no count as far on that side of `expected` is more probable than e to the minus of
 * it (Chernoff's bound of the negative binomial; of Poisson without variance). Never too large, so it errs to silence.
 */
export function surprise(counted: number, expected: number, variance: number): number {
  if (!(expected > 0) || !(counted >= 0)) return 0;
  const ownTerm = counted > 0 ? counted * Math.log(counted / expected) : 0;
  if (!(variance > 1e-9)) return Math.max(0, ownTerm - counted + expected);
  const shape = 1 / variance;
  return Math.max(0, ownTerm - (shape + counted) * Math.log((shape + counted) / (shape + expected)));
}
