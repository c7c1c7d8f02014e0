/** Recordings part by part: long lists are cut, and what is left out is counted. */
import { humanDuration } from "../../lib/duration.ts";
import { count, counted, nameOf, percent } from "../../lib/format.ts";
import { isLocationWide } from "../compute/episode.ts";
import type { Digest, DigestPart, LocationGroup, RecordingDigest } from "../digest.ts";
import type { DigestSection, SectionRow } from "./section.ts";
import { listed, locationLabel, nameAt, outageTimes, upShare } from "./words.ts";

/** So many recordings of one location at most, so that others are shown too. */
const MOST_AT_ONE_LOCATION = 12;
const MOST_TOGETHER = 12;
const MOST_OUTAGES = 4;
/** Recordings without trouble take little room: more of them are listed. */
const QUIET_FACTOR = 4;

const TITLES: Readonly<Record<DigestPart, string>> = {
  down_now: "Down now",
  down_some: "Down at some time",
  planned: "Down in maintenance, as planned",
  up: "Up all the time",
  closed: "Outside the uploading schedule",
  unknown: "No data",
};

export function isTroubled(part: DigestPart): boolean {
  return part === "down_now" || part === "down_some";
}

/** The recordings of a part there is room for; `moreRecordings`: in the locations left out altogether. */
export function excerptOf(part: DigestPart, digest: Digest, limit: number) {
  const groups = digest.parts[part];
  const excerpts: GroupExcerpt[] = [];
  let room = Math.max(1, isTroubled(part) ? limit : limit * QUIET_FACTOR);
  for (const group of groups) {
    if (room <= 0) break;
    const excerpt = groupExcerpt(group, digest, Math.min(room, MOST_AT_ONE_LOCATION));
    excerpts.push(excerpt);
    room -= Math.max(1, excerpt.shown.length);
  }
  const left = groups.slice(excerpts.length);
  const size = (all: readonly LocationGroup[]) => all.reduce((sum, one) => sum + one.count, 0);
  return { total: size(groups), groups: excerpts, moreRecordings: size(left), moreLocations: left.length };
}

type GroupExcerpt = ReturnType<typeof groupExcerpt>;

/**
 * The recordings of a location there is room for, and how many `more` there are. Those that went down and recovered
 * `together`, with the whole location, share one line.
 */
function groupExcerpt(group: LocationGroup, digest: Digest, limit: number) {
  const locationWide = digest.locationOutages
    .filter(({ locationId }) => locationId === group.locationId)
    .map(({ outage }) => outage);
  const isTogether = ({ outages }: RecordingDigest) =>
    outages.length > 0 && outages.every((outage) => isLocationWide(outage, locationWide));
  const apart = group.recordings.filter((one) => !isTogether(one));
  const shown = apart.slice(0, limit);
  const together = group.recordings.filter(isTogether);
  return { group, locationWide, together, shown, more: group.count - together.length - shown.length };
}

/** More recordings that were up are one line. */
const MOST_UP_NAMED = 60;

export function partSection(part: DigestPart, digest: Digest, limit: number): DigestSection {
  const { total, groups, moreRecordings, moreLocations } = excerptOf(part, digest, limit);
  if (part === "up" && total > MOST_UP_NAMED) {
    const note = `In ${counted(digest.parts.up.length, "location")}; the status page lists them`;
    return { title: TITLES[part], count: counted(total, "recording"), part, rows: [{ note }] };
  }
  const rows = groups.flatMap((one) => (isTroubled(part) ? troubledRows(one, digest) : quietRows(one)));
  if (moreRecordings > 0)
    rows.push({ note: `and ${count(moreRecordings)} more in ${counted(moreLocations, "location")}` });
  const explanation = part === "planned" ? { explanation: windowsPhrase(digest) } : {};
  return { title: TITLES[part], count: counted(total, "recording"), part, rows, ...explanation };
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

function moreHere(left: number): string {
  return `and ${count(left)} more here`;
}

function troubledRows(excerpt: GroupExcerpt, digest: Digest): SectionRow[] {
  const { group, locationWide, together, shown, more } = excerpt;
  const size = `${count(group.count)}\u00a0of\u00a0${count(group.size)}`;
  const offline = locationWide.slice(0, MOST_OUTAGES).map((outage) => outageTimes(outage, digest));
  const times = offline.length === 0 ? [] : [`all offline ${listed(offline, locationWide.length - offline.length)}`];
  return [
    { level: "location", name: locationLabel(group), value: upShare(group.uptime), note: listed([size, ...times]) },
    ...togetherRows(group, together),
    ...shown.map((recording): SectionRow => {
      const [name, note] = [nameAt(recording, group), outageList(recording, digest)];
      const bar = { label: `${name}: ${note}`, timeline: recording.timeline };
      const value = downtimeOf(recording, digest);
      return { level: "inside", name, value, note, uptime: upShare(recording.uptime), bar };
    }),
    ...(more > 0 ? [{ level: "inside" as const, note: moreHere(more) }] : []),
  ];
}

function togetherRows(group: LocationGroup, recordings: readonly RecordingDigest[]): SectionRow[] {
  const [first] = recordings;
  if (!first) return [];
  const named = recordings.slice(0, MOST_TOGETHER).map((one) => namedUptime(one, group));
  const left = recordings.length - named.length;
  if (left > 0) named.push(`and ${count(left)} more`);
  const longest = Math.max(...recordings.map(({ lostMs }) => lostMs));
  const each = recordings.length === 1 ? "" : " each";
  const downtime = longest > 0 ? `, downtime up to ${humanDuration(longest)}${each}` : "";
  const size = counted(recordings.length, "recording");
  const bar = { label: `${locationLabel(group)}: ${size} together`, timeline: first.timeline };
  return [{ level: "inside", note: `${size} with it${downtime}: ${named.join(" · ")}`, bar }];
}

function namedUptime(recording: RecordingDigest, group: LocationGroup): string {
  const { part, plannedMs, uptime } = recording;
  const figure = part === "planned" ? humanDuration(plannedMs) : percent(uptime);
  return `${nameAt(recording, group)} ${figure.replaceAll(" ", "\u00a0")}`.trimEnd();
}

/** Recordings without trouble share a paragraph. A location's uptime would mislead beside some of its recordings. */
function quietRows({ group, shown, more: left }: GroupExcerpt): SectionRow[] {
  const value = group.count === group.size ? upShare(group.uptime) : "";
  const names = [...shown.map((one) => namedUptime(one, group)), ...(left > 0 ? [moreHere(left)] : [])];
  return [
    { level: "location", name: locationLabel(group), value },
    { level: "inside", note: names.join("\u00a0· ") },
  ];
}

function downtimeOf(recording: RecordingDigest, digest: Digest): string {
  if (recording.downSince !== undefined) return `down ${humanDuration(digest.now - recording.downSince)}`;
  return recording.lostMs > 0 ? `downtime ${humanDuration(recording.lostMs)}` : "";
}

function outageList(recording: RecordingDigest, digest: Digest): string {
  const { outages, downSince } = recording;
  const shown = outages.toSorted((a, b) => b.lostMs - a.lostMs).slice(0, MOST_OUTAGES);
  const times = outages
    .filter((outage) => shown.includes(outage))
    .map((outage) => outageTimes(outage, digest) + (outage.kind === "missing" ? " (missing)" : ""));
  if (downSince !== undefined && !outages.some(({ endsAt }) => endsAt === undefined))
    times.push(outageTimes({ startsAt: downSince, endsAt: undefined }, digest));
  if (times.length === 0) times.push("low uptime without a recorded outage");
  const inPeriod = recording.part === "down_now" && recording.lostMs > 0;
  const downtime = inPeriod ? `, downtime ${humanDuration(recording.lostMs)}` : "";
  const planned = recording.plannedMs > 0 ? `, planned ${humanDuration(recording.plannedMs)}` : "";
  return listed(times, outages.length - shown.length) + downtime + planned;
}
