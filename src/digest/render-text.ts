/** The digest in plain text, for those who read mail that way: the same words and figures as the HTML. */
import type { Digest, RecordingDigest } from "./digest.ts";
import type { Headline } from "./headline.ts";
import type { GroupView, PartView } from "./view.ts";
import * as words from "./words.ts";

/** Lines end in `\n`. */
export function renderText(
  digest: Digest,
  view: readonly PartView[],
  head: Headline,
  frame: { readonly name: string; readonly externalUrl: string | undefined },
): string {
  const blocks = [
    [
      `${head.sentence}.`,
      ...(head.aside === "" ? [] : [`${head.aside}.`]),
      `${frame.name} · ${digest.period.label}`,
    ],
    words
      .keyFigures(digest)
      .map(({ name, value }) => `${`${name}:`.padEnd(13)}${value === "" ? "–" : value}`),
    ...view.map((part) => partLines(part, digest)),
    otherAlerts(digest),
    words.notes(digest),
    frame.externalUrl === undefined ? [] : [`See how it is now: ${frame.externalUrl}`],
  ];
  const filled = blocks.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join("\n")).join("\n\n")}\n`.replaceAll("\u00a0", " ");
}

function partLines(part: PartView, digest: Digest): string[] {
  const title = `${part.title}: ${words.counted(part.total, "recording")}`;
  const more = part.moreRecordings > 0 ? [words.moreLocations(part)] : [];
  return [
    title,
    "-".repeat(title.length),
    ...part.groups.flatMap((group) => groupLines(part, group, digest)),
    ...more,
  ];
}

function groupLines({ part }: PartView, view: GroupView, digest: Digest): string[] {
  const { group, together, shown } = view;
  const name = words.nameOf(group.locationName, group.locationId);
  const uptime = words.groupUptime(part, group);
  if (part !== "down_now" && part !== "down_some") return [listed([name, uptime]), `  ${quietList(view)}`];
  return [
    listed([name, uptime, words.groupNote(group, digest)]),
    ...(together.length > 0 ? [`  ${words.togetherWords(together)}`] : []),
    ...shown.map((recording) => `  ${recordingLine(recording, digest)}`),
    ...(view.more > 0 ? [`  ${words.moreHere(view)}`] : []),
  ];
}

function listed(facts: readonly string[]): string {
  return facts.filter((fact) => fact !== "").join(", ");
}

function quietList(view: GroupView): string {
  const names = view.shown.map(({ name, id, uptime }) => words.withFigure(words.nameOf(name, id), uptime));
  return [...names, ...(view.more > 0 ? [words.moreHere(view)] : [])].join(" · ");
}

function recordingLine(recording: RecordingDigest, digest: Digest): string {
  const facts = [
    words.downtime(recording, digest),
    words.outageList(recording, digest),
    words.upShare(recording.uptime),
  ];
  return `${words.nameOf(recording.name, recording.id)}: ${listed(facts)}`;
}

function otherAlerts(digest: Digest): string[] {
  if (digest.other.length === 0) return [];
  const rows = words.otherAlerts(digest);
  return [
    "Other alerts",
    "------------",
    ...rows.map(({ name, value }) => (value ? `${name}: ${value}` : name)),
  ];
}
