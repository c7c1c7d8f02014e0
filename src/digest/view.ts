/** What of a digest is shown, once for HTML and text: long lists are cut, and what is left out is counted. */
import {
  type Digest,
  type DigestPart,
  digestParts,
  type LocationGroup,
  type RecordingDigest,
} from "./digest.ts";

export interface GroupView {
  readonly group: LocationGroup;
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
  closed: 2,
  unknown: 2,
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
    .map((part) => partView(part, digest.parts[part], Math.max(1, limit * SHARE[part])));
}

function partView(part: DigestPart, groups: readonly LocationGroup[], limit: number): PartView {
  const views: GroupView[] = [];
  let room = limit;
  for (const group of groups) {
    if (room <= 0) break;
    const shown = group.recordings.slice(0, Math.min(room, MOST_AT_ONE_LOCATION));
    views.push({ group, shown, more: group.recordings.length - shown.length });
    room -= shown.length;
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
