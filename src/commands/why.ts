/** `why SUBJECT`: the decision log of a recording, a location or a group. */
import { Command } from "commander";
import { groupLabels } from "../health/alert.ts";
import { ApiEpisode } from "../http/v1/episodes.ts";
import { ApiTimeline } from "../http/v1/timeline.ts";
import { ApiWhatIf } from "../http/v1/what-if.ts";
import { type Clock, DAY_MS, type Instant, systemClock } from "../lib/clock.ts";
import type { PastSpan } from "../lib/moment.ts";
import { stripControls } from "../lib/text.ts";
import { asRead } from "./cli/as-read.ts";
import { type CommandIo, fail, localZone, pastOption, print } from "./cli/command.ts";
import { asksDaemon, type Daemon, DaemonError, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { findNamed, nothingNamed, titleOf } from "./cli/named.ts";
import { whatIfText } from "./what-if-text.ts";
import { explainedText, type Timeline } from "./why-text.ts";

type WhyOptions = DaemonOptions & {
  readonly since?: PastSpan;
  readonly all?: true;
  readonly whatIf?: true;
  readonly output: "text" | "json";
};

/** Exit code 1 for an unknown name, 2 where several have it. Throws DaemonError or ConfigError. */
export function whyCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("why")
    .description("Print the decision log of a recording or location, in its own time zone.")
    .argument("<name>", "a recording, location or camera server, by id or full name; of others: organisation/acme")
    .addOption(pastOption("--since <time>", "how far back (default: 24h)", clock.now(), localZone(io.env)))
    .option("--what-if", "instead: what would be sent to whom, and when, if it went offline now")
    .option("--all", "a line for each decision, not one for each time an alert fired");
  const asking = asksDaemon(command, 'lenswatch why "Leeds Briggate Entrance" --since 2d', "text");
  return asking.action((wanted: string, options: WhyOptions) =>
    withDaemon(options, io, (daemon) => explain(daemon, wanted, options, io, clock.now())),
  );
}

async function explain(
  daemon: Daemon,
  wanted: string,
  { since, all, whatIf, output }: WhyOptions,
  io: CommandIo,
  now: Instant,
): Promise<void> {
  const found = await findNamed(daemon, wanted);
  const id = found?.kind === "camera server" ? `camera_server/${found.id}` : (found?.id ?? wanted);
  if (whatIf) {
    if (!found && !GROUP.test(wanted)) return fail(io, 1, await nothingNamed(daemon, wanted));
    const path = `/api/v1/recordings/${encodeURIComponent(id)}/what-if`;
    const answer = await daemon.get(path, {}, asRead(ApiWhatIf));
    return print(io, output, answer, () => whatIfText(found ? titleOf(found) : wanted, answer));
  }
  const from = new Date(since?.start ?? now - DAY_MS).toISOString();
  const timeline = await read(daemon, id, from);
  if (!timeline && GROUP.test(wanted))
    return fail(
      io,
      1,
      `no decision about "${stripControls(wanted)}" in that time; check its name, or give a longer --since`,
    );
  if (!timeline) return fail(io, 1, await nothingNamed(daemon, wanted));
  const uncounted = await costs(daemon, timeline, from);
  const { row, recordings } = found ?? {};
  print(io, output, { ...timeline, uncounted }, () =>
    explainedText({ timeline, row, recordings, uncounted, all, now }),
  );
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
  const rows = await daemon.all("/api/v1/episodes", { since, location: locationId }, asRead(ApiEpisode));
  return rows.flatMap(({ subject, alertname, startsAt, endsAt, uncounted }) =>
    uncounted && (subject.id === recordingId || subject.kind === "location")
      ? [{ alertname, subject, startsAt, endsAt, ...uncounted }]
      : [],
  );
}

/** A group is known by its decisions alone. */
const GROUP = new RegExp(`^(?:${groupLabels.join("|")})/`);
