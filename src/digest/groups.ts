/** Recordings by location, and the order in which they are told: most downtime first. */
import type { DigestPart, LocationGroup, RecordingDigest } from "./digest.ts";
import type { JudgedRecording } from "./recording.ts";
import { addTally, emptyTally, meanUptime } from "./uptime.ts";

export interface LocationRecords {
  readonly id: string;
  readonly name: string;
  readonly judged: JudgedRecording[];
}

/** The locations that have recordings in this part. */
export function groups(locations: readonly LocationRecords[], part: DigestPart): LocationGroup[] {
  return locations
    .map(({ id, name, judged }) => {
      const recordings = judged.map(({ digest }) => digest).filter((digest) => digest.part === part);
      return {
        locationId: id,
        locationName: name,
        uptime: uptimeOf(judged),
        size: judged.length,
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

/** Uptime of recordings taken together. */
export function uptimeOf(judged: readonly JudgedRecording[]): number | undefined {
  return meanUptime(judged.reduce((tally, one) => addTally(tally, one.tally), emptyTally()));
}
