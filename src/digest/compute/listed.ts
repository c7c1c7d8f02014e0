/** The recordings that a digest lists: all of most fleets, of a larger one those with trouble first. */
import { type DigestPart, digestParts, type RecordingDigest } from "../digest.ts";

/** A table of them is about 3 MB when compressed, and a mail with it half of what mail servers accept. */
const MOST_LISTED = 150_000;

/** The parts by what a reader needs to see of them, most first. */
export const partsByNeed: readonly DigestPart[] = [
  "down_now",
  "down_some",
  "low",
  "unknown",
  "planned",
  "closed",
  "up",
];
/** Longer than any downtime inside a period, ms. */
const A_YEAR_MS = 366 * 86_400_000;
const PER_STEP = 1_000;

/** A list that keeps `most` of the recordings that are added: no memory is used for the others. */
export function createListed(most = MOST_LISTED) {
  let kept: { readonly recording: RecordingDigest; readonly locationId: string; readonly need: number }[] = [];
  let least = -1;

  const cut = () => {
    if (kept.length > most) kept = kept.sort((a, b) => b.need - a.need).slice(0, most);
    return kept;
  };

  return {
    add(recording: RecordingDigest, locationId: string): void {
      const need = needOf(recording);
      if (need <= least) return;
      kept.push({ recording, locationId, need });
      if (kept.length >= 2 * most) least = cut().at(-1)?.need ?? least;
    },

    /** The recordings kept, by location and part, in steps. */
    *grouped(): Generator<void, Listed> {
      const groups = new Map<string, Record<DigestPart, RecordingDigest[]>>();
      for (const [i, { recording, locationId }] of cut().entries()) {
        const group = groups.get(locationId) ?? noneOf();
        group[recording.part].push(recording);
        groups.set(locationId, group);
        if (i % PER_STEP === 0) yield;
      }
      return groups;
    },
  };
}

function noneOf(): Record<DigestPart, RecordingDigest[]> {
  return Object.fromEntries(digestParts.map((part) => [part, []])) as unknown as Record<DigestPart, RecordingDigest[]>;
}

function needOf({ part, lostMs }: RecordingDigest): number {
  return (partsByNeed.length - partsByNeed.indexOf(part)) * A_YEAR_MS + lostMs;
}

export type Listed = ReadonlyMap<string, Readonly<Record<DigestPart, RecordingDigest[]>>>;
