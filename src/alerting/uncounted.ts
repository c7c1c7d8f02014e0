/** Visits that were not counted, as people say it: rounded, with the interval, and what they were worth. */
import type { VisitsLost } from "../counts/visits-lost.ts";
import type { Instant } from "../lib/clock.ts";
import { count } from "../lib/format.ts";
import { clip, type Interval, subtract, total, union } from "../lib/intervals.ts";

/** The worth of a visit; the currency as in ISO 4217. */
export interface VisitWorth {
  readonly valuePerVisit?: number | undefined;
  readonly currency?: string | undefined;
}

/** To fives, from a hundred on to tens, from a thousand on to hundreds, …; the interval like the estimate. */
export function roundedVisits({ estimate, low, high }: VisitsLost): VisitsLost {
  const digits = Math.floor(Math.log10(Math.max(100, estimate)));
  const step = estimate < 100 ? 5 : 10 ** (digits - 1);
  const rounded = (visits: number) => Math.round(visits / step) * step;
  return { estimate: rounded(estimate), low: rounded(low), high: rounded(high) };
}

/** `about 310 (260–370)`; empty where the 10th percentile is 0: perhaps none were lost, and the figure says little. */
export function visitsRange(visits: VisitsLost | null | undefined): string {
  if (!visits) return "";
  const { estimate, low, high } = roundedVisits(visits);
  return low === 0 ? "" : `about ${count(estimate)} (${count(low)}–${count(high)})`;
}

/** `about 310 visits uncounted (260–370), about 3,900 EUR`; ` so far` while it lasts. Empty like `visitsRange`. */
export function visitsWords(visits: VisitsLost | undefined, worth: VisitWorth = {}, lasts = false): string {
  const range = visitsRange(visits);
  const money = visits && range !== "" ? worthOf(visits, worth) : "";
  const words = range.replace(" (", ` visits uncounted${lasts ? " so far" : ""} (`);
  return money === "" ? words : `${words}, about ${money}`;
}

/** `3,900 EUR`; empty where a visit has no value. */
export function worthOf({ estimate }: VisitsLost, { valuePerVisit, currency }: VisitWorth = {}): string {
  if (!valuePerVisit || currency === undefined) return "";
  return `${MONEY.format(estimate * valuePerVisit)} ${currency}`;
}

/** An episode, and the visits of its location that were not counted meanwhile. */
interface Costed {
  readonly locationId?: string | undefined;
  readonly startsAt: Instant;
  readonly endsAt?: Instant | undefined;
  readonly uncounted?: VisitsLost | undefined;
}

/**
 * Incidents with each visit once: of the episodes of one location the largest count first, others for the share of their
 * time that is left. Only time inside `bounds` counts; what fires was estimated until `now`.
 */
export function visitsOnce<I, E extends Costed>(
  incidents: readonly (I & { readonly episodes: readonly E[] })[],
  bounds: Interval,
  now: Instant,
): (I & { readonly episodes: readonly E[] })[] {
  const counted = new Map<string, readonly Interval[]>();
  const own = new Map<E, VisitsLost | undefined>();
  const costly = incidents.flatMap(({ episodes }) => episodes.filter(({ uncounted }) => uncounted));
  for (const one of costly.sort((a, b) => (b.uncounted?.estimate ?? 0) - (a.uncounted?.estimate ?? 0))) {
    const { locationId = "", startsAt: from, endsAt: to = now, uncounted } = one;
    const before = counted.get(locationId) ?? [];
    const share = to > from ? total(subtract(clip([{ from, to }], bounds), before)) / (to - from) : 0;
    counted.set(locationId, union([...before, { from, to }]));
    own.set(one, uncounted && share > 0 ? timesShare(uncounted, share) : undefined);
  }
  const ofOne = (one: E) => (own.has(one) ? { ...one, uncounted: own.get(one) } : one);
  return incidents.map((incident) => ({ ...incident, episodes: incident.episodes.map(ofOne) }));
}

function timesShare({ estimate, low, high }: VisitsLost, share: number): VisitsLost {
  return { estimate: estimate * share, low: low * share, high: high * share };
}

/** The correlation of the errors of two outages: weather, season and holidays are shared. On the safe side of what `bench/detect` shows. */
const CORRELATION = 0.1;

/** The visits of episodes that have each once. */
export function visitsOf(episodes: readonly Pick<Costed, "uncounted">[]): VisitsLost | undefined {
  return sumOfVisits(episodes.flatMap(({ uncounted }) => uncounted ?? []));
}

/** Their errors add up as those of estimates that are a little alike. Undefined of none. */
export function sumOfVisits(all: readonly VisitsLost[]): VisitsLost | undefined {
  if (all.length === 0) return undefined;
  const estimate = sumOf(all.map((one) => one.estimate));
  const below = widthOf(all.map(({ estimate: own, low }) => own - low));
  const above = widthOf(all.map(({ estimate: own, high }) => high - own));
  return { estimate, low: Math.max(0, estimate - below), high: estimate + above };
}

function widthOf(widths: readonly number[]): number {
  const squares = sumOf(widths.map((width) => width ** 2));
  return Math.sqrt((1 - CORRELATION) * squares + CORRELATION * sumOf(widths) ** 2);
}

const sumOf = (figures: readonly number[]) => figures.reduce((sum, one) => sum + one, 0);

const MONEY = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 2 });
