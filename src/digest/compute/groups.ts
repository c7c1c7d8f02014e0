/** Recordings by location, and the order in which they are told: most downtime first. */
import type { DigestPart, LocationGroup, RecordingDigest, Span } from "../digest.ts";
import type { LocationDays } from "./location-days.ts";
import type { OutageTally } from "./recovery.ts";
import { meanUptime, type UptimeTally } from "./uptime.ts";

/** What is kept of a location while its recordings are added. */
export interface LocationRecords {
  readonly id: string;
  readonly name: string;
  /** Of its first recording. */
  readonly timezone: string;
  readonly recordings: RecordingDigest[];
  readonly tally: UptimeTally;
  readonly outages: OutageTally;
  /** The period before, of those recordings whose figures go back so far. */
  readonly compared: { recordings: number; readonly before: UptimeTally; readonly outages: OutageTally };
  /** When at least one of its recordings was meant to upload. */
  open: readonly Span[];
  readonly days: LocationDays;
}

/** The locations that have recordings in this part. */
export function groups(locations: readonly LocationRecords[], part: DigestPart): LocationGroup[] {
  return locations
    .map(({ id, name, recordings: all, tally }) => {
      const recordings = all.filter((digest) => digest.part === part);
      return {
        locationId: id,
        locationName: name,
        uptime: meanUptime(tally),
        size: all.length,
        lostMs: sum(recordings, ({ lostMs }) => lostMs),
        recordings: recordings.sort(worstFirst),
      };
    })
    .filter(({ recordings }) => recordings.length > 0)
    .sort(
      (a, b) =>
        b.lostMs - a.lostMs ||
        since(a) - since(b) ||
        byUptime(a, b) ||
        compare(a.locationName, b.locationName),
    );
}

/** When the first of them went down that is down now; 0 where none is. */
function since({ recordings }: LocationGroup): number {
  return recordings.reduce((first, { downSince = first }) => Math.min(first || downSince, downSince), 0);
}

function worstFirst(a: RecordingDigest, b: RecordingDigest): number {
  const earlier = (a.downSince ?? 0) - (b.downSince ?? 0);
  return b.lostMs - a.lostMs || earlier || byUptime(a, b) || compare(a.name, b.name);
}

/** Lowest first, those without a figure last. */
function byUptime(a: { uptime: number | undefined }, b: { uptime: number | undefined }): number {
  return (a.uptime ?? 2) - (b.uptime ?? 2);
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((result, item) => result + of(item), 0);
}
