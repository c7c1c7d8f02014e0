/** Lost time as sums that add up over recordings and periods, and the ratios made of them. */
import { total } from "../lib/intervals.ts";
import { type Attribution, type LossCause, lossCauses } from "./attribute.ts";

/** Whole ms. `knownMs`: of the expected time, that of which it is known whether it was recorded. */
export type LossTally = Record<LossCause | "expectedMs" | "knownMs" | "recordings", number>;

export function noLoss(): LossTally {
  const causes = Object.fromEntries(lossCauses.map((cause) => [cause, 0])) as Record<LossCause, number>;
  return { recordings: 0, expectedMs: 0, knownMs: 0, ...causes };
}

/** The tally of one recording. */
export function lossTally({ lost, expected, known }: Attribution): LossTally {
  const tally = { ...noLoss(), recordings: 1, expectedMs: total(expected), knownMs: total(known) };
  for (const cause of lossCauses) tally[cause] = total(lost[cause]);
  return tally;
}

const TALLIED = Object.keys(noLoss()) as (keyof LossTally)[];

/** Adds `part` to `sum` in place. */
export function addLoss(sum: LossTally, part: LossTally): LossTally {
  for (const key of TALLIED) sum[key] += part[key];
  return sum;
}

/** All causes together, ms. */
export function lostMs(tally: LossTally): number {
  return lossCauses.reduce((sum, cause) => sum + tally[cause], 0);
}

/** Lost time that was not planned, ms. */
export function unplannedMs(tally: LossTally): number {
  return lostMs(tally) - tally.maintenance;
}

/** The ratio 0–1 of the known time that was recorded; undefined where nothing is known. */
export function availability(tally: LossTally): number | undefined {
  return tally.knownMs > 0 ? 1 - lostMs(tally) / tally.knownMs : undefined;
}

/** The same without downtime in maintenance, as if that time had not been expected. */
export function unplannedAvailability(tally: LossTally): number | undefined {
  return availability({ ...tally, knownMs: tally.knownMs - tally.maintenance, maintenance: 0 });
}
