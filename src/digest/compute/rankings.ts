/** What stands out: the longest outages, and who went down again and again. */
import type { DarkLocation, DigestPart, Flapper, LocationGroup, LongOutage, Outage } from "../digest.ts";
import { compare } from "./groups.ts";

type Parts = Readonly<Record<DigestPart, readonly LocationGroup[]>>;

const MOST_LONG = 5;
/** Cameras of one location never go dark in the same second. */
const TOGETHER_WITHIN = 5 * 60_000;

/** Whether a recording's outage is that of its whole location. */
export function wentWith(outage: Outage, dark: readonly Outage[]): boolean {
  const close = (a = 0, b = 0) => Math.abs(a - b) <= TOGETHER_WITHIN;
  return dark.some(
    ({ startsAt, endsAt }) => close(outage.startsAt, startsAt) && close(outage.endsAt, endsAt),
  );
}

/** The most time lost at one go, a location that was dark as a whole instead of each of its recordings. */
export function longestOutages(parts: Parts, dark: readonly DarkLocation[]): LongOutage[] {
  const darkAt = Map.groupBy(dark, ({ locationId }) => locationId);
  let longest: LongOutage[] = dark.map((one) => ({ ...one, recording: undefined }));
  for (const { locationId, locationName, recordings } of [...parts.down_now, ...parts.down_some]) {
    const wholly = (darkAt.get(locationId) ?? []).map(({ outage }) => outage);
    for (const { id, name, outages } of recordings) {
      for (const outage of outages) {
        if (outage.lostMs === 0 || wentWith(outage, wholly)) continue;
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

/** From so many outages on, whoever was not told as flapping is one all the same. */
const MANY_OUTAGES = 4;

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
        compare(a.name, b.name),
    );
}
