/** `why SUBJECT`: the decision log of a recording, a location or a group. */
import { Command } from "commander";
import type { z } from "zod";
import { groupLabels } from "../health/alert.ts";
import { ApiIncident } from "../http/v1/incidents.ts";
import { ApiLocation } from "../http/v1/locations.ts";
import { ApiRecording } from "../http/v1/recordings.ts";
import { ApiTimeline } from "../http/v1/timeline.ts";
import { type Clock, DAY_MS, type Instant, systemClock } from "../lib/clock.ts";
import type { PastSpan } from "../lib/moment.ts";
import { stripControls } from "../lib/text.ts";
import { asRead } from "./cli/as-read.ts";
import { type CommandIo, fail, listRows, localZone, pastOption, print, unknownMessage } from "./cli/command.ts";
import { asksDaemon, type Daemon, DaemonError, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { type Explained, explainedText, type Timeline } from "./why-text.ts";

const RecordingRow = asRead(ApiRecording);
const LocationRow = asRead(ApiLocation);

type WhyOptions = DaemonOptions & { readonly since?: PastSpan; readonly all?: true; readonly output: "text" | "json" };

/** Exit code 1 for an unknown name, 2 where several have it. Throws DaemonError or ConfigError. */
export function whyCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("why")
    .description("Print the decision log of a recording or location, in its own time zone.")
    .argument("<recording or location>", "its id or full name; of a group, its label and value: camera_server/edge-7")
    .addOption(pastOption("--since <time>", "how far back (default: 24h)", clock.now(), localZone(io.env)))
    .option("--all", "a line for each decision, not one for each time an alert fired");
  const asking = asksDaemon(command, 'lenswatch why "Leeds Briggate Entrance" --since 2d', "text");
  return asking.action((wanted: string, options: WhyOptions) =>
    withDaemon(options, io, (daemon) => explain(daemon, wanted, options, io, clock.now())),
  );
}

async function explain(
  daemon: Daemon,
  wanted: string,
  { since, all, output }: WhyOptions,
  io: CommandIo,
  now: Instant,
): Promise<void> {
  const matching = await named(daemon, wanted);
  if (matching.length > 1) {
    const listed = listRows(matching.slice(0, MOST_LISTED));
    return fail(io, 2, `${matching.length} ${matching[0]?.kind}s have that name; give an id:${listed}`);
  }
  const [found] = matching;
  const from = new Date(since?.start ?? now - DAY_MS).toISOString();
  const timeline = await read(daemon, found?.id ?? wanted, from);
  if (!timeline && GROUP.test(wanted))
    return fail(
      io,
      1,
      `no decision about "${stripControls(wanted)}" in that time; check its name, or give a longer --since`,
    );
  if (!timeline) return fail(io, 1, unknownMessage("recording or location", wanted, await everything(daemon)));
  const uncounted = await costs(daemon, timeline, from);
  const { row, recordings } = found ?? {};
  print(io, output, { ...timeline, uncounted }, () =>
    explainedText({ timeline, row, recordings, uncounted, all, now }),
  );
}

interface Found extends Pick<Explained, "row" | "recordings"> {
  readonly kind: "recording" | "location";
  readonly id: string;
  readonly name: string;
  readonly location?: string;
}

/** Recordings with that id, else with that name; where there is none, locations. */
async function named(daemon: Daemon, wanted: string): Promise<Found[]> {
  const rows = (await daemon.all("/api/v1/recordings", { recording: wanted }, RecordingRow)).map(ofRecording);
  const found =
    rows.length > 0 ? rows : (await daemon.all("/api/v1/locations", { location: wanted }, LocationRow)).map(ofLocation);
  const exact = found.filter(({ id }) => id === wanted);
  return exact.length > 0 ? exact : found;
}

async function everything(daemon: Daemon): Promise<Found[]> {
  const recordings = await daemon.all("/api/v1/recordings", {}, RecordingRow);
  return [...recordings.map(ofRecording), ...(await daemon.all("/api/v1/locations", {}, LocationRow)).map(ofLocation)];
}

function ofRecording(row: ApiRecording): Found {
  return { kind: "recording", id: row.recordingId, name: row.recording, location: row.location, row };
}

function ofLocation({ locationId: id, location: name, recordings }: z.infer<typeof LocationRow>): Found {
  return { kind: "location", id, name, recordings };
}

async function read(daemon: Daemon, id: string, since: string): Promise<Timeline | undefined> {
  const path = `/api/v1/recordings/${encodeURIComponent(id)}/timeline`;
  try {
    const pages = await Array.fromAsync(daemon.pages(path, { since }, asRead(ApiTimeline)));
    const last = pages.at(-1);
    return last && { ...last, items: pages.flatMap(({ items }) => items) };
  } catch (thrown) {
    if (thrown instanceof DaemonError && thrown.code === "not_found") return undefined;
    throw thrown;
  }
}

/** The visits that its alerts and those of its location cost, newest first. */
async function costs(daemon: Daemon, { recordingId, locationId }: Timeline, since: string) {
  if (locationId === null) return [];
  const rows = await daemon.all("/api/v1/incidents", { since, location: locationId }, asRead(ApiIncident));
  return rows.flatMap(({ subject, alertname, startsAt, endsAt, uncounted }) =>
    uncounted && (subject.id === recordingId || subject.kind === "location")
      ? [{ alertname, subject, startsAt, endsAt, ...uncounted }]
      : [],
  );
}

const MOST_LISTED = 20;
/** A group is known by its decisions alone. */
const GROUP = new RegExp(`^(?:${groupLabels.join("|")})/`);
