/** Recordings whose quality falls steadily, by health/lens.ts; of a fleet of any size a few figures each are kept. */
import { fallOf, isBeyond, median, qualityQuarters, steadyFall } from "../../health/lens.ts";
import { type QualityHistory, qualityDays } from "../../health/quality.ts";
import type { DigestRecording, DigestScope, LensToClean } from "../digest.ts";

/** In a smaller fleet nothing is typical. */
const LEAST_TYPICAL = 5;

/** `found`: the first to be below the threshold first. */
export function createLenses({ qualityBelow, now }: DigestScope) {
  const lenses: LensToClean[] = [];
  const falls: number[] = [];
  return {
    add({ recording, locationName }: DigestRecording, history: QualityHistory | undefined): void {
      if (qualityBelow === undefined || !history) return;
      const days = qualityDays(history, now);
      const quarters = qualityQuarters(days);
      if (quarters) falls.push(fallOf(quarters));
      const fall = steadyFall(days, qualityBelow);
      if (fall) lenses.push({ recording, locationId: recording.locationId, locationName, ...fall });
    },
    found(): readonly LensToClean[] {
      const typical = falls.length < LEAST_TYPICAL ? 0 : median(falls);
      return lenses.filter((lens) => isBeyond(lens, typical)).sort((a, b) => a.below - b.below);
    },
  };
}
