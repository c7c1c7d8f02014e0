/** What of a digest is shown, once for HTML and text: long lists are cut, and what is left out is counted. */

import { wentWith } from "../compute/rankings.ts";
import {
  type Digest,
  type DigestPart,
  digestParts,
  type Flapper,
  type LocationDigest,
  type LocationGroup,
  type LongOutage,
  type Outage,
  type RecordingDigest,
  type UntrustedDay,
} from "../digest.ts";

export interface GroupView {
  readonly group: LocationGroup;
  /** Went down and came back with the whole location: told once, in one line. */
  readonly together: readonly RecordingDigest[];
  readonly shown: readonly RecordingDigest[];
  /** Recordings of the location left out. */
  readonly more: number;
}

export interface PartView {
  readonly part: DigestPart;
  readonly title: string;
  readonly total: number;
  readonly groups: readonly GroupView[];
  /** In the locations left out altogether. */
  readonly moreRecordings: number;
  readonly moreLocations: number;
}

/** One location must not push all others out of the mail. */
const MOST_AT_ONE_LOCATION = 12;

/** Recordings without trouble take little room: more of them are listed. */
const SHARE: Readonly<Record<DigestPart, number>> = {
  down_now: 1,
  down_some: 1,
  up: 4,
  closed: 4,
  unknown: 4,
};

const TITLES: Readonly<Record<DigestPart, string>> = {
  down_now: "Down now",
  down_some: "Down at some time",
  up: "Up all the time",
  closed: "Outside the uploading schedule",
  unknown: "Nothing known",
};

/** The parts that have recordings, about `limit` recordings shown in each of the first two. */
export function viewOf(digest: Digest, limit: number): PartView[] {
  return digestParts
    .filter((part) => digest.parts[part].length > 0)
    .map((part) => partView(part, digest, Math.max(1, limit * SHARE[part])));
}

/** What stands out, and locations as a whole. */
export interface Standings {
  readonly locations: readonly LocationDigest[];
  readonly moreLocations: number;
  /** None where the parts above say as much. */
  readonly longest: readonly LongOutage[];
  readonly flappers: readonly Flapper[];
  readonly moreFlappers: number;
}

/** The untrusted days there is room for, by location. */
export interface CountsView {
  readonly total: number;
  readonly places: readonly (readonly UntrustedDay[])[];
  readonly moreDays: number;
  readonly moreLocations: number;
}

/** A day of counts takes as much room as so many recordings. */
const RECORDINGS_PER_DAY = 2;

export function countsOf({ untrusted }: Digest, limit: number): CountsView {
  const all = [...Map.groupBy(untrusted, ({ locationId }) => locationId).values()];
  const most = Math.max(1, Math.floor(limit / RECORDINGS_PER_DAY));
  const places: UntrustedDay[][] = [];
  let shown = 0;
  for (const days of all) {
    if (shown >= most) break;
    const some = days.slice(0, most - shown);
    places.push(some);
    shown += some.length;
  }
  const moreDays = untrusted.length - shown;
  return { total: untrusted.length, places, moreDays, moreLocations: all.length - places.length };
}

/** As much of a digest as there is room for. */
export interface DigestView {
  readonly parts: readonly PartView[];
  readonly standings: Standings;
  readonly counts: CountsView;
}

const FEW_OUTAGES = 3;
const MOST_FLAPPERS = 5;
/** A location's days take as much room as so many recordings. */
const RECORDINGS_PER_LOCATION = 4;

export function standingsOf(digest: Digest, limit: number): Standings {
  const known = digest.locations.filter(({ days }) => days.some((day) => day !== undefined));
  const locations = known.slice(0, Math.max(1, Math.floor(limit / RECORDINGS_PER_LOCATION)));
  const flappers = digest.flappers.slice(0, MOST_FLAPPERS);
  return {
    locations,
    moreLocations: known.length - locations.length,
    longest: digest.totals.outages > FEW_OUTAGES ? digest.longest : [],
    flappers,
    moreFlappers: digest.flappers.length - flappers.length,
  };
}

function partView(part: DigestPart, digest: Digest, limit: number): PartView {
  const groups = digest.parts[part];
  const views: GroupView[] = [];
  let room = limit;
  for (const group of groups) {
    if (room <= 0) break;
    const view = groupView(group, digest, Math.min(room, MOST_AT_ONE_LOCATION));
    views.push(view);
    room -= Math.max(1, view.shown.length);
  }
  const left = groups.slice(views.length);
  const size = (all: readonly LocationGroup[]) =>
    all.reduce((sum, { recordings }) => sum + recordings.length, 0);
  return {
    part,
    title: TITLES[part],
    total: size(groups),
    groups: views,
    moreRecordings: size(left),
    moreLocations: left.length,
  };
}

function groupView(group: LocationGroup, digest: Digest, limit: number): GroupView {
  const dark = digest.dark
    .filter(({ locationId }) => locationId === group.locationId)
    .map(({ outage }) => outage);
  const [together, apart] = split(group.recordings, (recording) => alwaysWith(recording, dark));
  const shown = apart.slice(0, limit);
  return { group, together, shown, more: apart.length - shown.length };
}

function split<T>(items: readonly T[], first: (item: T) => boolean): [T[], T[]] {
  return [items.filter(first), items.filter((item) => !first(item))];
}

function alwaysWith({ outages }: RecordingDigest, dark: readonly Outage[]): boolean {
  return outages.length > 0 && outages.every((outage) => wentWith(outage, dark));
}
