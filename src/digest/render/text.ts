/** The digest in plain text, for those who read mail that way: the same words and figures as the HTML. */

import { type Digest, type LocationGroup, type RecordingDigest, UP_ALL_THE_TIME } from "../digest.ts";
import * as counts from "./count-words.ts";
import type { Headline } from "./headline.ts";
import * as standing from "./ranking-words.ts";
import type { CountsView, DigestView, GroupView, PartView, Standings } from "./view.ts";
import * as words from "./words.ts";

/** Lines end in `\n`. */
export function renderText(
  digest: Digest,
  { parts, standings, counts: view }: DigestView,
  head: Headline,
  frame: { readonly name: string; readonly externalUrl: string | undefined },
): string {
  const [troubled, quiet] = [parts.filter(isTroubled), parts.filter((part) => !isTroubled(part))];
  const blocks = [
    [
      `${head.sentence}.`,
      ...(head.aside === "" ? [] : [`${head.aside}.`]),
      `${frame.name} · ${digest.period.label}`,
    ],
    words
      .keyFigures(digest)
      .map(
        ({ name, value, was = "" }) =>
          `${`${name}:`.padEnd(15)}${value === "" ? "–" : value}${was === "" ? "" : `, ${was}`}`,
      ),
    ...troubled.map((part) => partLines(part, digest)),
    ...rankings(standings, digest),
    locationDays(standings, digest),
    visitorCounts(view, digest),
    ...quiet.map((part) => partLines(part, digest)),
    otherAlerts(digest),
    words.notes(digest),
    frame.externalUrl === undefined ? [] : [`See how it is now: ${frame.externalUrl}`],
  ];
  const filled = blocks.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join("\n")).join("\n\n")}\n`.replaceAll("\u00a0", " ");
}

function isTroubled({ part }: PartView): boolean {
  return part === "down_now" || part === "down_some";
}

function titled(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, "-".repeat(title.length), ...lines];
}

function rankings({ longest, flappers, moreFlappers }: Standings, digest: Digest): string[][] {
  const line = ({ name, value, note }: standing.Ranked) => `${name}: ${listed([value, note])}`;
  const more = moreFlappers > 0 ? [`and ${words.counted(moreFlappers, "more recording")}`] : [];
  return [
    titled(
      "Longest outages",
      longest.map((one) => line(standing.longOutage(one, digest))),
    ),
    titled("Down again and again", [...flappers.map((one) => line(standing.flapper(one))), ...more]),
  ];
}

function locationDays({ locations, moreLocations }: Standings, digest: Digest): string[] {
  const low = locations.filter(standing.hasLowDay);
  const lines = low.map((location) => {
    const name = words.nameOf(location.locationName, location.locationId);
    return `${name}: ${listed([standing.uptimeNow(location), standing.lowDays(location, digest)])}`;
  });
  const up = locations.length - low.length;
  const rest = [
    ...(up > 0
      ? [`${words.counted(up, "location")} with no day below ${words.percent(UP_ALL_THE_TIME)}`]
      : []),
    ...(moreLocations > 0 ? [`and ${words.counted(moreLocations, "more location")}`] : []),
  ];
  return titled(standing.daysTitle(digest), [...lines, ...rest]);
}

function visitorCounts(view: CountsView, digest: Digest): string[] {
  if (view.total === 0) return [];
  const days = view.places.flat().map((day) => {
    const { up, entries, usual, short } = counts.dayFigures(day);
    const place = words.nameOf(day.locationName, day.locationId);
    const facts = [
      up,
      entries && `${entries} counted`,
      usual && `usually ${usual}`,
      short && `${short.replace("−", "")} short`,
    ];
    return `${place}, ${words.dayName(day.date)}: ${listed(facts)}`;
  });
  return titled(counts.TITLE, [...days, ...counts.remainder(view), counts.explanation(digest)]);
}

function partLines(part: PartView, digest: Digest): string[] {
  const title = `${part.title}: ${words.counted(part.total, "recording")}`;
  const more = part.moreRecordings > 0 ? [words.moreLocations(part)] : [];
  return titled(title, [...part.groups.flatMap((group) => groupLines(part, group, digest)), ...more]);
}

function groupLines({ part }: PartView, view: GroupView, digest: Digest): string[] {
  const { group, together, shown } = view;
  const name = words.nameOf(group.locationName, group.locationId);
  const uptime = words.groupUptime(part, group);
  if (part !== "down_now" && part !== "down_some") return [listed([name, uptime]), `  ${quietList(view)}`];
  return [
    listed([name, uptime, words.groupNote(group, digest)]),
    ...(together.length > 0 ? [`  ${words.togetherWords(group, together)}`] : []),
    ...shown.map((recording) => `  ${recordingLine(recording, group, digest)}`),
    ...(view.more > 0 ? [`  ${words.moreHere(view)}`] : []),
  ];
}

function listed(facts: readonly string[]): string {
  return facts.filter((fact) => fact !== "").join(", ");
}

function quietList(view: GroupView): string {
  const names = view.shown.map((recording) =>
    words.withFigure(words.nameAt(recording, view.group), recording.uptime),
  );
  return [...names, ...(view.more > 0 ? [words.moreHere(view)] : [])].join(" · ");
}

function recordingLine(recording: RecordingDigest, group: LocationGroup, digest: Digest): string {
  const facts = [
    words.downtime(recording, digest),
    words.outageList(recording, digest),
    words.upShare(recording.uptime),
  ];
  return `${words.nameAt(recording, group)}: ${listed(facts)}`;
}

function otherAlerts(digest: Digest): string[] {
  if (digest.other.length === 0) return [];
  const rows = words.otherAlerts(digest);
  return titled(
    "Other alerts",
    rows.map(({ name, value }) => (value ? `${name}: ${value}` : name)),
  );
}
