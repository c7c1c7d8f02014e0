/** Locations: sums while recordings are added, and lists in their order, most downtime first. */
import { compareText } from "../../lib/text.ts";
import {
  type DigestPart,
  type DigestRecording,
  digestParts,
  type LocationDigest,
  type LocationGroup,
  type RecordingDigest,
} from "../digest.ts";
import { type DigestCalendar, dayUptime, emptyDays } from "./calendar.ts";
import type { Listed } from "./listed.ts";
import { meanUptime, newTally } from "./tally.ts";

export type LocationRecords = ReturnType<typeof newLocation>;

type PartSum = { count: number; lostMs: number };

/** A location to which its recordings are added. */
export function newLocation({ recording, locationName }: DigestRecording, calendar: DigestCalendar) {
  return {
    id: recording.locationId,
    name: locationName,
    size: 0,
    parts: Object.fromEntries(digestParts.map((part) => [part, { count: 0, lostMs: 0 }])) as Record<
      DigestPart,
      PartSum
    >,
    tally: newTally(),
    /** The period before, of `comparable` recordings: those with figures that go back so far. */
    before: newTally(),
    comparable: 0,
    days: emptyDays(calendar),
  };
}

export function addRecording(location: LocationRecords, { part, lostMs }: RecordingDigest): void {
  location.size += 1;
  location.parts[part].count += 1;
  location.parts[part].lostMs += lostMs;
}

/** The locations that have recordings in this part. */
export function locationGroups(
  locations: readonly LocationRecords[],
  part: DigestPart,
  listed: Listed,
): LocationGroup[] {
  return locations
    .filter(({ parts }) => parts[part].count > 0)
    .map(({ id, name, size, parts, tally }) => ({
      locationId: id,
      locationName: name,
      uptime: meanUptime(tally),
      size,
      ...parts[part],
      recordings: (listed.get(id)?.[part] ?? []).sort(worstRecordingFirst),
    }))
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
    .map(({ id, name, size, tally, comparable, before, days }) => ({
      locationId: id,
      locationName: name,
      uptime: meanUptime(tally),
      uptimeBefore: comparable === size ? meanUptime(before) : undefined,
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
