/** The digest in plain text, for those who read mail that way: the same words and figures as the HTML. */
import type { Digest, RecordingDigest } from "./digest.ts";
import type { GroupView, PartView } from "./view.ts";
import * as words from "./words.ts";

/** Lines end in `\n`. `sentence` is the headline. */
export function renderText(
  digest: Digest,
  view: readonly PartView[],
  sentence: string,
  frame: { readonly name: string; readonly externalUrl: string | undefined },
): string {
  const blocks = [
    [`${sentence}.`, `${frame.name} · ${digest.period.label}`],
    words
      .keyFigures(digest)
      .map(({ name, value }) => `${`${name}:`.padEnd(10)}${value === "" ? "–" : value}`),
    ...view.map((part) => partLines(part, digest)),
    otherAlerts(digest),
    words.notes(digest),
    frame.externalUrl === undefined ? [] : [`See how it is now: ${frame.externalUrl}`],
  ];
  const filled = blocks.filter((lines) => lines.length > 0);
  return `${filled.map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

function partLines(part: PartView, digest: Digest): string[] {
  const title = `${part.title}: ${words.counted(part.total, "recording")}`;
  const more = part.moreRecordings > 0 ? [words.moreLocations(part)] : [];
  return [
    title,
    "-".repeat(title.length),
    ...part.groups.flatMap((group) => groupLines(group, digest)),
    ...more,
  ];
}

function groupLines(view: GroupView, digest: Digest): string[] {
  const { group, shown, more } = view;
  const dark = words.darkTimes(group.locationId, digest);
  const head = [words.nameOf(group.locationName, group.locationId), words.percent(group.uptime), dark];
  return [
    head.filter((word) => word !== "").join(", "),
    ...shown.map((recording) => `  ${recordingLine(recording, digest)}`),
    ...(more > 0 ? [`  ${words.moreHere(view)}`] : []),
  ];
}

function recordingLine(recording: RecordingDigest, digest: Digest): string {
  const troubled = recording.part === "down_now" || recording.part === "down_some";
  const facts = [
    ...(troubled ? [words.downtime(recording, digest), words.outageList(recording, digest)] : []),
    words.percent(recording.uptime),
  ].filter((word) => word !== "");
  const name = words.nameOf(recording.name, recording.id);
  return facts.length === 0 ? name : `${name}: ${facts.join(", ")}`;
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
