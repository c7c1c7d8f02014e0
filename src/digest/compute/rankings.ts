/** The longest outages, and the recordings that went down repeatedly. */
import type { DigestPart, Flapper, LocationGroup, LongOutage, Outage } from "../digest.ts";
import { compareText } from "./locations.ts";

type Parts = Readonly<Record<DigestPart, readonly LocationGroup[]>>;

const MOST_LONG = 5;
/** Cameras of one location are not reported offline in the same second. */
const TOGETHER_WITHIN_MS = 5 * 60_000;

/** Whether a recording's outage is one of its whole location's. */
export function isLocationWide(outage: Outage, wholeLocation: readonly Outage[]): boolean {
  const close = (a = 0, b = 0) => Math.abs(a - b) <= TOGETHER_WITHIN_MS;
  return wholeLocation.some(({ startsAt, endsAt }) => close(outage.startsAt, startsAt) && close(outage.endsAt, endsAt));
}

/** The outages with most downtime; one of a whole location instead of one of each of its recordings. */
export function longestOutages(parts: Parts, wholeLocations: readonly LongOutage[]): LongOutage[] {
  const byLocation = Map.groupBy(wholeLocations, ({ locationId }) => locationId);
  let longest = [...wholeLocations];
  for (const { locationId, locationName, recordings } of [...parts.down_now, ...parts.down_some]) {
    const locationWide = (byLocation.get(locationId) ?? []).map(({ outage }) => outage);
    for (const { id, name, outages } of recordings) {
      for (const outage of outages) {
        if (outage.lostMs === 0 || isLocationWide(outage, locationWide)) continue;
        longest.push({ locationId, locationName, recording: { id, name }, outage });
      }
    }
    if (longest.length > 100) longest = ranked(longest);
  }
  return ranked(longest);
}

function ranked(outages: readonly LongOutage[]): LongOutage[] {
  return outages
    .toSorted((a, b) => b.outage.lostMs - a.outage.lostMs || a.outage.startsAt - b.outage.startsAt)
    .slice(0, MOST_LONG);
}

/** From so many outages on, a recording without a flapping alert is listed too. */
const MANY_OUTAGES = 4;

/** Recordings that were flapping or had many outages, most outages first. */
export function flappersOf(parts: Parts): Flapper[] {
  return Object.values(parts)
    .flat()
    .flatMap(({ locationId, locationName, recordings }) =>
      recordings
        .filter(({ flapping, outages }) => flapping !== undefined || outages.length >= MANY_OUTAGES)
        .map((recording) => ({ locationId, locationName, recording })),
    )
    .sort(
      ({ recording: a }, { recording: b }) =>
        b.outages.length - a.outages.length ||
        (b.flapping?.lengthMs ?? 0) - (a.flapping?.lengthMs ?? 0) ||
        compareText(a.name, b.name),
    );
}
