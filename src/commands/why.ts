/** `why RECORDING`: the decision log of a recording. */
import { Command } from "commander";
import { DateTime } from "luxon";
import { z } from "zod";
import { ApiRecording } from "../http/v1/recordings.ts";
import { ApiDecision, ApiTimeline } from "../http/v1/timeline.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { stripControls } from "../lib/text.ts";
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
const Timeline = z.object({ ...ApiTimeline.unwrap().shape, items: z.array(ApiDecision.unwrap().strip()) });
type Timeline = z.infer<typeof Timeline>;

type WhyOptions = DaemonOptions & { readonly since: number; readonly output: "text" | "json" };

/** Exit code 1 for an unknown recording, 2 where several have the name. Throws DaemonError or ConfigError. */
export function whyCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("why")
    .description("Print the decision log of a recording, in its own time zone.")
    .argument("<recording>", "its id or full name")
    .addOption(sinceOption())
    .addOption(outputOption("text"));
  withExample(addDaemonOptions(command), 'lenswatch why "Leeds Briggate Entrance" --since 2d');
  return command.action((recording: string, options: WhyOptions) =>
    withDaemon(options, io, (daemon) => explain(daemon, recording, options, io, clock.now())),
  );
}

async function explain(
  daemon: Daemon,
  wanted: string,
  { since, output }: WhyOptions,
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
  print(io, output, timeline, () => asText(timeline, found, now));
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

function asText(timeline: Timeline, row: RecordingRow | undefined, now: Instant): string {
  const { recording, recordingId, location, timezone, items } = timeline;
  const state = row ? `${row.status} since ${sinceUtc(row.since, now)}` : "not in the fleet";
  const head = [recording, location, recordingId].filter((part) => part !== null).join(" · ");
  const lines = items.flatMap((line, i) => {
    const at = DateTime.fromISO(line.at, { zone: timezone, locale: "en-GB" });
    const day = at.toFormat("ccc d LLL yyyy");
    const before = items[i - 1];
    const isNewDay = !before || DateTime.fromISO(before.at, { zone: timezone }).toISODate() !== at.toISODate();
    const entry = `  ${at.toFormat("HH:mm:ss")}  ${aboutText(line)}${line.text}`;
    return isNewDay ? ["", `${day}, ${timezone}`, entry] : [entry];
  });
  const body = items.length === 0 ? ["", "No decisions in that time."] : lines;
  return `${[head, state, ...body].map(stripControls).join("\n")}\n`;
}

function aboutText({ about }: Timeline["items"][number]): string {
  return about.kind === "recording" ? "" : `(${about.kind}) `;
}
