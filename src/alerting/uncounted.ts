/** Visits that were not counted, as people say it: rounded, with the interval, and what they were worth. */
import type { VisitsLost } from "../counts/visits-lost.ts";
import { count } from "../lib/format.ts";

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

/** Visits lost by these episodes together; of each location the most of one, which has what all lost there. */
export function visitsOf(
  episodes: readonly { readonly locationId?: string | undefined; readonly uncounted?: VisitsLost | undefined }[],
): VisitsLost | undefined {
  let sum: VisitsLost | undefined;
  for (const same of Map.groupBy(episodes, ({ locationId }) => locationId).values()) {
    const [most] = same.flatMap(({ uncounted }) => uncounted ?? []).sort((a, b) => b.estimate - a.estimate);
    if (!most) continue;
    const { estimate, low, high } = sum ?? { estimate: 0, low: 0, high: 0 };
    sum = { estimate: estimate + most.estimate, low: low + most.low, high: high + most.high };
  }
  return sum;
}

const MONEY = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 2 });
