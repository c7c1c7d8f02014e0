/** Recordings part by part: long lists are cut, and what is left out is counted. */
import { humanDuration } from "../../lib/duration.ts";
import { count, counted, nameOf, percent } from "../../lib/format.ts";
import type { Digest, DigestPart, LocationGroup, RecordingDigest } from "../digest.ts";
import type { DigestSection, SectionRow } from "./section.ts";
import { listed, locationLabel, nameAt, outageTimes, upShare } from "./words.ts";

/** So many recordings of one location at most, so that others are shown too. */
const MOST_AT_ONE_LOCATION = 12;

/** The parts that are shown; what else was down is in the incidents. */
const TITLES = {
  down_now: "Also down now",
  low: "Low uptime without an outage",
  planned: "Down in maintenance, as planned",
  up: "Up all the time",
  closed: "Outside the uploading schedule",
  unknown: "No data",
} as const satisfies Partial<Record<DigestPart, string>>;
type ShownPart = keyof typeof TITLES;
export const shownParts = Object.keys(TITLES) as ShownPart[];

/** The recordings of a part that are shown somewhere there is room; `moreRecordings`: in the locations left out altogether. */
export function excerptOf(part: ShownPart, digest: Digest, limit: number) {
  const groups = part === "down_now" ? digest.parts[part].flatMap(asideOf) : digest.parts[part];
  const excerpts: GroupExcerpt[] = [];
  let room = Math.max(1, limit);
  for (const group of groups) {
    if (room <= 0) break;
    const shown = group.recordings.slice(0, Math.min(room, MOST_AT_ONE_LOCATION));
    excerpts.push({ group, shown, more: group.count - shown.length });
    room -= Math.max(1, shown.length);
  }
  const left = groups.slice(excerpts.length);
  const size = (all: readonly LocationGroup[]) => all.reduce((sum, one) => sum + one.count, 0);
  return { total: size(groups), groups: excerpts, moreRecordings: size(left), moreLocations: left.length };
}

interface GroupExcerpt {
  readonly group: LocationGroup;
  readonly shown: readonly RecordingDigest[];
  /** The number of those that are left out. */
  readonly more: number;
}

function asideOf(group: LocationGroup): LocationGroup[] {
  const recordings = group.recordings.filter(({ isAside }) => isAside);
  return recordings.length === 0 ? [] : [{ ...group, recordings, count: recordings.length }];
}

/** More recordings that were up are one line. */
const MOST_UP_NAMED = 60;

/** Rows of a part; none where it has no recording. */
export function partSection(part: ShownPart, digest: Digest, limit: number): DigestSection {
  const { total, groups, moreRecordings, moreLocations } = excerptOf(part, digest, limit);
  const head = { title: TITLES[part], count: counted(total, "recording"), part };
  if (part === "up" && total > MOST_UP_NAMED) {
    const note = `In ${counted(digest.parts.up.length, "location")}; the status page lists them`;
    return { ...head, rows: [{ note }] };
  }
  const rows = groups.flatMap((one) => rowsOf(one, digest));
  if (moreRecordings > 0)
    rows.push({ note: `and ${count(moreRecordings)} more in ${counted(moreLocations, "location")}` });
  return { ...head, rows, ...(part === "planned" && { explanation: windowsPhrase(digest) }) };
}

const MOST_WINDOWS = 6;

/** `stock-take Sun 00:00–06:00 (recorders are off)`. */
function windowsPhrase(digest: Digest): string {
  const phrases = digest.maintenance.map(({ name, comment, windows }) => {
    const shown = windows
      .slice(0, MOST_WINDOWS)
      .map(({ from, to }) => outageTimes({ startsAt: from, endsAt: to }, digest));
    const why = comment === "" ? "" : ` (${nameOf(comment, "", 120)})`;
    return `${nameOf(name, "", 60)} ${listed(shown, windows.length - shown.length)}${why}`;
  });
  return `Maintenance: ${phrases.join("; ")}.`;
}

/** Recordings of a location share a paragraph. Its uptime would mislead beside some of them. */
function rowsOf({ group, shown, more }: GroupExcerpt, digest: Digest): SectionRow[] {
  const value = group.count === group.size ? upShare(group.uptime) : "";
  const names = shown.map((one) =>
    `${nameAt(one, group)} ${figureOf(one, digest).replaceAll(" ", "\u00a0")}`.trimEnd(),
  );
  if (more > 0) names.push(`and ${count(more)} more here`);
  return [
    { level: "location", name: locationLabel(group), value },
    { level: "inside", note: names.join("\u00a0· ") },
  ];
}

function figureOf({ part, downSince, plannedMs, uptime }: RecordingDigest, digest: Digest): string {
  if (downSince !== undefined) return outageTimes({ startsAt: downSince, endsAt: undefined }, digest);
  return part === "planned" ? humanDuration(plannedMs) : percent(uptime);
}
