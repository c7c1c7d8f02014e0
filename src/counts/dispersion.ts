/**
 * How far counts stray from what is usual. Assumed: a count has chance (Poisson) noise, times a factor of its day
 * (weather, promotions) and one of its hour, both around 1 with variances learned from the series' own past; factors of
 * different days are independent. Counts are overdispersed: what Poisson calls impossible happens every month.
 */

export interface Dispersion {
  /** Variance of a day's factor. */
  readonly day: number;
  /** Variance of an hour's factor within its day. */
  readonly hour: number;
}

export interface ExpectedHour {
  readonly expected: number;
  readonly counted: number;
}

/** No past makes a series more regular than this. */
const LEAST: Dispersion = { day: 0.01, hour: 0.01 };
/** What is assumed before anything is known, with the weight of so many days. */
const PRIOR: Dispersion = { day: 0.04, hour: 0.04 };
const PRIOR_DAYS = 5;
/** The usual counts come from the same eight weeks, so that the past strays less from them than the future does. */
const FROM_SAME_WEEKS = 8 / 7;

/** Learns from whole days, each of its hours. */
export function learnDispersion(days: readonly (readonly ExpectedHour[])[]): Dispersion {
  const parts = days.map(partsOf).filter(({ squares }) => squares > 0);
  const sum = (of: (part: ReturnType<typeof partsOf>) => number) => parts.reduce((total, part) => total + of(part), 0);
  const weigh = (found: number, prior: number, least: number) =>
    Math.max(least, (found * FROM_SAME_WEEKS * parts.length + prior * PRIOR_DAYS) / (parts.length + PRIOR_DAYS));
  const hour = weigh(
    share(
      sum(({ hourly }) => hourly),
      sum(({ hourSquares }) => hourSquares),
    ),
    PRIOR.hour,
    LEAST.hour,
  );
  const ofHours =
    hour *
    share(
      sum(({ squaresOfHours }) => squaresOfHours),
      sum(({ squares }) => squares),
    );
  const day =
    share(
      sum(({ daily }) => daily),
      sum(({ squares }) => squares),
    ) - ofHours;
  return { day: weigh(Math.max(0, day), PRIOR.day, LEAST.day), hour };
}

/** Squared distances beyond chance, and what they are relative to. */
function partsOf(hours: readonly ExpectedHour[]) {
  const expected = hours.reduce((total, hour) => total + hour.expected, 0);
  const counted = hours.reduce((total, hour) => total + hour.counted, 0);
  const factor = share(counted, expected);
  let hourly = 0;
  let hourSquares = 0;
  let squaresOfHours = 0;
  for (const hour of hours) {
    const mean = hour.expected * factor;
    hourly += (hour.counted - mean) ** 2 - mean * (1 - share(hour.expected, expected));
    hourSquares += mean ** 2;
    squaresOfHours += hour.expected ** 2;
  }
  return { daily: (counted - expected) ** 2 - expected, squares: expected ** 2, hourly, hourSquares, squaresOfHours };
}

function share(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

/** Adds up hours, oldest or newest first, and knows the variance of their sum's factor. */
export function createSpread({ day, hour }: Dispersion) {
  const sums = { total: 0, ofDay: 0, days: 0, hours: 0 };
  let last = Number.NaN;
  const parts = (): { readonly ofDays: number; readonly ofHours: number } => {
    const square = sums.total ** 2;
    return { ofDays: share((sums.days + sums.ofDay ** 2) * day, square), ofHours: share(sums.hours * hour, square) };
  };
  return {
    /** Relative to the square of the sum: due to the days' factors, and to the hours'. */
    parts,
    variance: () => parts().ofDays + parts().ofHours,
    /**
     * `ofHour`: expected in the whole hour. A part of it strays as much as if people came in groups: what an hour's
     * factor explains of whole hours does not shrink with the square of the part.
     */
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
 * How surprising a count is, in nats: no count as far on that side of `expected` is more probable than e to the minus of
 * it (Chernoff's bound of the negative binomial; of Poisson without variance). Never too large, so it errs to silence.
 */
export function surprise(counted: number, expected: number, variance: number): number {
  if (!(expected > 0) || !(counted >= 0)) return 0;
  const ownTerm = counted > 0 ? counted * Math.log(counted / expected) : 0;
  if (!(variance > 1e-9)) return Math.max(0, ownTerm - counted + expected);
  const shape = 1 / variance;
  return Math.max(0, ownTerm - (shape + counted) * Math.log((shape + counted) / (shape + expected)));
}
