/** Recordings by location: sums while they are added, and lists in their order, most downtime first. */
import type { Interval } from "../../lib/intervals.ts";
import { compareText } from "../../lib/text.ts";
import type { DigestPart, DigestRecording, LocationDigest, LocationGroup, RecordingDigest } from "../digest.ts";
import { type DigestCalendar, dayUptime, emptyDays } from "./calendar.ts";
import { meanUptime, newTally } from "./tally.ts";

export type LocationRecords = ReturnType<typeof newLocation>;

/** A location with the zone of its first recording, to which its recordings are added. */
export function newLocation({ recording, locationName }: DigestRecording, calendar: DigestCalendar) {
  return {
    id: recording.locationId,
    name: locationName,
    timezone: recording.timezone,
    recordings: [] as RecordingDigest[],
    tally: newTally(),
    /** The period before, of `comparable` recordings: those with figures that go back so far. */
    before: newTally(),
    comparable: 0,
    /** When at least one of its recordings was inside its schedule, and in no maintenance. */
    open: [] as readonly Interval[],
    days: emptyDays(calendar),
  };
}

/** The locations that have recordings in this part. */
export function locationGroups(locations: readonly LocationRecords[], part: DigestPart): LocationGroup[] {
  return locations
    .map(({ id, name, recordings: all, tally }) => {
      const recordings = all.filter((digest) => digest.part === part);
      return {
        locationId: id,
        locationName: name,
        uptime: meanUptime(tally),
        size: all.length,
        lostMs: sumOf(recordings, ({ lostMs }) => lostMs),
        recordings: recordings.sort(worstRecordingFirst),
      };
    })
    .filter(({ recordings }) => recordings.length > 0)
    .sort(
      (a, b) =>
        b.lostMs - a.lostMs ||
        downSince(a) - downSince(b) ||
        byUptime(a, b) ||
        compareText(a.locationName, b.locationName),
    );
}

function downSince({ recordings }: LocationGroup): number {
  return recordings.reduce((first, { downSince = first }) => Math.min(first || downSince, downSince), 0);
}

function worstRecordingFirst(a: RecordingDigest, b: RecordingDigest): number {
  const earlier = (a.downSince ?? 0) - (b.downSince ?? 0);
  return b.lostMs - a.lostMs || earlier || byUptime(a, b) || compareText(a.name, b.name);
}

/** Locations as a whole, day by day: lowest uptime first, those without a figure last. */
export function locationDigests(
  locations: readonly LocationRecords[],
  { dates, shownFrom }: DigestCalendar,
): LocationDigest[] {
  return locations
    .map(({ id, name, recordings, tally, comparable, before, days }) => ({
      locationId: id,
      locationName: name,
      uptime: meanUptime(tally),
      uptimeBefore: comparable === recordings.length ? meanUptime(before) : undefined,
      days: dates.slice(shownFrom).map((_, i) => dayUptime(days, shownFrom + i)),
    }))
    .sort((a, b) => byUptime(a, b) || worstDay(a) - worstDay(b) || compareText(a.locationName, b.locationName));
}

function worstDay({ days }: LocationDigest): number {
  return days.reduce<number>((least, day) => Math.min(least, day ?? 2), 2);
}

/** Lowest first, those without a figure last. */
function byUptime(a: { uptime: number | undefined }, b: { uptime: number | undefined }): number {
  return (a.uptime ?? 2) - (b.uptime ?? 2);
}

export function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((result, item) => result + of(item), 0);
}
