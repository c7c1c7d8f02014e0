/** `why RECORDING`: the decision log of a recording, or of a group. */
import { Command } from "commander";
import { z } from "zod";
import type { LogLine } from "../alerting/decision-log.ts";
import { type FoldedDecisions, foldDecisions } from "../alerting/fold-decisions.ts";
import { ApiCounts } from "../http/v1/counts.ts";
import { ApiRecording } from "../http/v1/recordings.ts";
import { ApiDecision, ApiTimeline } from "../http/v1/timeline.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { stripControls } from "../lib/text.ts";
import { inZone } from "../lib/when.ts";
import {
  type CommandIo,
  fail,
  listRows,
  outputOption,
  print,
  sinceOption,
  unknownMessage,
  withExample,
} from "./cli/command.ts";
import { addDaemonOptions, type Daemon, DaemonError, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { sinceUtc } from "./status.ts";

const RecordingRow = z.object(ApiRecording.unwrap().shape).omit({ alerts: true });
type RecordingRow = z.infer<typeof RecordingRow>;

/** Without fields that a later daemon adds. */
const Timeline = z.object({
  ...ApiTimeline.unwrap().shape,
  items: z.array(ApiDecision.unwrap().strip()),
  // Absent from an earlier daemon.
  counts: z.array(ApiCounts.unwrap().strip()).default([]),
});
type Timeline = z.infer<typeof Timeline>;

type WhyOptions = DaemonOptions & { readonly since: number; readonly all?: true; readonly output: "text" | "json" };

/** Exit code 1 for an unknown recording, 2 where several have the name. Throws DaemonError or ConfigError. */
export function whyCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("why")
    .description("Print the decision log of a recording, in its own time zone.")
    .argument("<recording>", "its id or full name; of a group, its label and value: camera_server/edge-7")
    .addOption(sinceOption())
    .option("--all", "a line for each decision, not one for each time an alert fired")
    .addOption(outputOption("text"));
  withExample(addDaemonOptions(command), 'lenswatch why "Leeds Briggate Entrance" --since 2d');
  return command.action((recording: string, options: WhyOptions) =>
    withDaemon(options, io, (daemon) => explain(daemon, recording, options, io, clock.now())),
  );
}

async function explain(
  daemon: Daemon,
  wanted: string,
  { since, all, output }: WhyOptions,
  io: CommandIo,
  now: Instant,
): Promise<void> {
  const named = await daemon.all("/api/v1/recordings", { recording: wanted }, RecordingRow);
  const matching = named.some(({ recordingId }) => recordingId === wanted)
    ? named.filter(({ recordingId }) => recordingId === wanted)
    : named;
  if (matching.length > 1) {
    const listed = listRows(matching.slice(0, MOST_LISTED).map(namedRow));
    return fail(io, 2, `${matching.length} recordings have that name; give an id:${listed}`);
  }
  const [found] = matching;
  const timeline = await read(daemon, found?.recordingId ?? wanted, new Date(now - since).toISOString());
  if (!timeline) {
    const rows = await daemon.all("/api/v1/recordings", {}, RecordingRow);
    return fail(io, 1, unknownMessage("recording", wanted, rows.map(namedRow)));
  }
  print(io, output, timeline, () => asText(timeline, { row: found, all, now }));
}

async function read(daemon: Daemon, id: string, since: string): Promise<Timeline | undefined> {
  const path = `/api/v1/recordings/${encodeURIComponent(id)}/timeline`;
  try {
    const pages = await Array.fromAsync(daemon.pages(path, { since }, Timeline));
    const last = pages.at(-1);
    return last && { ...last, items: pages.flatMap(({ items }) => items) };
  } catch (thrown) {
    if (thrown instanceof DaemonError && thrown.code === "not_found") return undefined;
    throw thrown;
  }
}

function namedRow({ recordingId: id, recording: name, location }: RecordingRow) {
  return { id, name, location };
}

const MOST_LISTED = 20;

type Answered = { readonly row: RecordingRow | undefined; readonly all: boolean | undefined; readonly now: Instant };

function asText(timeline: Timeline, { row, all, now }: Answered): string {
  const { recording, recordingId, location, timezone, items } = timeline;
  const head = [...new Set([recording, location, recordingId])].filter((part) => part !== null).join(" · ");
  const entries = all
    ? items.map((line) => ({ at: Date.parse(line.at), text: `${aboutText(line.about)}${line.text}` }))
    : foldDecisions(items.map(toLogLine)).map((entry) => foldedEntry(entry, timezone));
  const dayAt = (at: Instant) => inZone(at, timezone).toFormat("ccc d LLL yyyy");
  const isGroup = !row && items.some(({ about }) => about.kind === "group" && about.id === recordingId);
  const lines = entries.flatMap(({ at, text }, i) => {
    const entry = `  ${inZone(at, timezone).toFormat("HH:mm:ss")}  ${text}`;
    const isNewDay = i === 0 || dayAt(entries[i - 1]?.at ?? 0) !== dayAt(at);
    return isNewDay ? ["", `${dayAt(at)}, ${timezone}`, entry] : [entry];
  });
  const body = items.length === 0 ? ["", "No decisions in that time."] : lines;
  return `${[head, ...(isGroup ? [] : [stateText(row, now)]), ...countsLines(timeline), ...body].map(stripControls).join("\n")}\n`;
}

function stateText(row: RecordingRow | undefined, now: Instant): string {
  if (!row) return "not in the fleet";
  if (row.status !== "unknown") return `${row.status} since ${sinceUtc(row.since, now)}`;
  const read = row.since === null ? "never read" : `not read since ${sinceUtc(row.since, now)}`;
  return `unknown: ${read}; it is not evaluated until the service gives its status`;
}

/** `counts (low/30, Sat 14:20): as usual; the location: as usual`, a line for each condition. */
function countsLines({ counts, timezone }: Timeline): string[] {
  return [...Map.groupBy(counts, ({ condition }) => condition)].map(([condition, of]) => {
    const at = inZone(Date.parse(of[0]?.at ?? ""), timezone).toFormat("ccc HH:mm");
    const texts = of.map(({ about, text }) => `${about.kind === "location" ? "the location: " : ""}${text}`);
    return `counts (${condition}, ${at}): ${texts.join("; ")}`;
  });
}

function toLogLine({ at, about, rule, integration, reason, detail }: Timeline["items"][number]): LogLine {
  const [ruleId, to, more] = [rule, integration, detail].map((value) => value ?? undefined);
  return { at: Date.parse(at), subject: about, ruleId, integration: to, reason, detail: more };
}

/** `RecordingOffline: offline → 10:02:00 Slack → 10:40:00 recovered`. */
function foldedEntry({ subject, ruleId, steps, lines }: FoldedDecisions, timezone: string) {
  const first = steps[0]?.at ?? 0;
  const words = steps.map(({ at, words }, i) => {
    const before = steps[i - 1]?.at ?? at;
    if (at === before) return words;
    const time = inZone(at, timezone);
    return `${time.toFormat(time.hasSame(inZone(before, timezone), "day") ? "HH:mm:ss" : "ccc d LLL HH:mm:ss")} ${words}`;
  });
  const rule = lines.length > 1 && ruleId !== undefined ? `${ruleId}: ` : "";
  return { at: first, text: `${aboutText(subject)}${rule}${words.join(" → ")}` };
}

function aboutText({ kind }: Timeline["items"][number]["about"]): string {
  return kind === "recording" ? "" : `(${kind}) `;
}
