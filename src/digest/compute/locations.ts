/** Locations as a whole, day by day. */

import type { LocationDigest } from "../digest.ts";
import type { Calendar } from "./calendar.ts";
import { compare, type LocationRecords } from "./groups.ts";
import { dayUptime } from "./location-days.ts";
import { meanUptime } from "./uptime.ts";

/** Lowest uptime first, those without a figure last. */
export function locationDigests(
  locations: readonly LocationRecords[],
  { dates, shownFrom }: Calendar,
): LocationDigest[] {
  return locations
    .map(({ id, name, recordings, tally, compared, days }) => ({
      locationId: id,
      locationName: name,
      recordings: recordings.length,
      uptime: meanUptime(tally),
      uptimeBefore:
        compared.recordings === recordings.length && compared.recordings > 0
          ? meanUptime(compared.before)
          : undefined,
      days: dates.slice(shownFrom).map((_, i) => dayUptime(days, shownFrom + i)),
    }))
    .sort(
      (a, b) =>
        (a.uptime ?? 2) - (b.uptime ?? 2) || worst(a) - worst(b) || compare(a.locationName, b.locationName),
    );
}

function worst({ days }: LocationDigest): number {
  return days.reduce<number>((least, day) => Math.min(least, day ?? 2), 2);
}
