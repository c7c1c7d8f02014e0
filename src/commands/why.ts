/** `why SUBJECT`: the decision log of a recording, a location or a group. */
import { Command } from "commander";
import type { z } from "zod";
import { integrationName } from "../alerting/integration-name.ts";
import { suppressionText } from "../alerting/suppression-words.ts";
import { groupLabels } from "../health/alert.ts";
import { worstFirst } from "../health/recording.ts";
import { ApiIncident } from "../http/v1/incidents.ts";
import { ApiTimeline } from "../http/v1/timeline.ts";
import { ApiWhatIf } from "../http/v1/what-if.ts";
import { type Clock, DAY_MS, type Instant, systemClock } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";
import { count, counted } from "../lib/format.ts";
import { stripControls } from "../lib/text.ts";
import { timesSeenAt } from "../lib/when.ts";
import { asRead } from "./cli/as-read.ts";
import { type CommandIo, fail, type PastIn, pastOption, print } from "./cli/command.ts";
import { asksDaemon, type Daemon, type DaemonOptions, readerZone, withDaemon } from "./cli/daemon.ts";
import { findNamed, incidentNamed, type Named, nothingNamed, orNothing, titleOf } from "./cli/named.ts";
import { explainedText, incidentText, standing, type Timeline } from "./why-text.ts";

type WhyOptions = DaemonOptions & {
  readonly since?: PastIn;
  readonly all?: true;
  readonly whatIf?: true;
  readonly output: "text" | "json";
};

/** Exit code 1 for an unknown name, 2 where several have it. Throws DaemonError or ConfigError. */
export function whyCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("why")
    .description("Print the decision log of a recording, a location or an incident.")
    .argument(
      "<name>",
      "a recording, location or camera server, by id or full name; an incident's id; of others: organisation/acme",
    )
    .addOption(pastOption("--since <time>", "how far back (default: 24h)", clock.now()))
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
  const zone = await readerZone(daemon, io);
  const incident = whatIf ? undefined : await incidentNamed(daemon, wanted);
  if (incident) return print(io, output, incident, () => incidentText(incident, { now, all, zone }));
  const found = await findNamed(daemon, wanted);
  const id = found?.kind === "camera server" ? `camera_server/${found.id}` : (found?.id ?? wanted);
  if (whatIf) {
    if (!found && !GROUP.test(wanted)) return fail(io, 1, await nothingNamed(daemon, wanted));
    const path = `/api/v1/recordings/${encodeURIComponent(id)}/what-if`;
    const answer = await daemon.get(path, {}, asRead(ApiWhatIf));
    const isNow = isOnline(found) ? undefined : standing({ ...found, now, zone, timeline: answer });
    return print(io, output, answer, () => whatIfText(found ? titleOf(found) : wanted, answer, { zone, isNow }));
  }
  const from = new Date(since?.(zone).start ?? now - DAY_MS).toISOString();
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
    explainedText({ timeline, row, recordings, uncounted, all, now, zone }),
  );
}

/** True of what has no status of its own, as a camera server. */
function isOnline({ row, recordings }: Partial<Named> = {}): boolean {
  const worst = row?.status ?? worstFirst.find((status) => (recordings?.[status] ?? 0) > 0);
  return worst === undefined || worst === "online";
}

async function read(daemon: Daemon, id: string, since: string): Promise<Timeline | undefined> {
  const path = `/api/v1/recordings/${encodeURIComponent(id)}/timeline`;
  const pages = await Array.fromAsync(daemon.pages(path, { since }, asRead(ApiTimeline))).catch(orNothing);
  const last = pages?.at(-1);
  return pages && last && { ...last, items: pages.flatMap(({ items }) => items) };
}

/** The visits that its alerts and those of its location cost, newest first. */
async function costs(daemon: Daemon, { recordingId, locationId }: Timeline, since: string) {
  if (locationId === null) return [];
  const incidents = await daemon.all("/api/v1/incidents", { since, location: locationId }, asRead(ApiIncident));
  const rows = incidents.flatMap(({ episodes }) => episodes);
  rows.sort((a, b) => b.startsAt.localeCompare(a.startsAt));
  return rows.flatMap(({ subject, alertname, startsAt, endsAt, uncounted }) =>
    uncounted && (subject.id === recordingId || (subject.kind === "location" && subject.id === locationId))
      ? [{ alertname, subject, startsAt, endsAt, ...uncounted }]
      : [],
  );
}

/** A group is known by its decisions alone. */
const GROUP = new RegExp(`^(?:${groupLabels.join("|")})/`);

type WhatIf = z.infer<typeof ApiWhatIf>;
type Item = WhatIf["items"][number];

/** A rehearsal as text: a message a line, the earliest first; then what is never sent. `isNow`: the state of what is not online. */
function whatIfText(
  name: string,
  { now, timezone, recordings, readWithinSeconds, items }: WhatIf,
  { zone, isNow }: { readonly zone: string; readonly isNow: string | undefined },
): string {
  const times = timesSeenAt(Date.parse(now), zone);
  const at = (instant: Instant) => times.at(instant, timezone, true);
  const [sent, never] = [items.filter(({ at }) => at !== null), items.filter(({ at }) => at === null)];
  const within = `All of it up to ${humanDuration(readWithinSeconds * 1_000)} later, at the next reading; a recording outside its schedule fires later.`;
  const lines = [
    ...(isNow === undefined ? [] : [`Not all of it is online: ${isNow}. This is of an outage that begins now.`]),
    `If ${name} (${counted(recordings, "recording")}) went offline now, ${at(Date.parse(now))}:`,
    "",
    ...sent.map((item) => `  ${at(Date.parse(item.at ?? now))}  ${messageText(item, at)}`),
    ...never.map((item) => `  not sent  ${messageText(item, at)}`),
    ...(items.length === 0
      ? ["  Nobody would be notified: no rule fires, or no route leads to an integration."]
      : ["", within]),
  ];
  return `${lines.map(stripControls).join("\n")}\n`;
}

/** `Slack (ops): LocationOffline, again every 4 h`. */
function messageText(item: Item, at: (instant: Instant) => string): string {
  const { integration, alertname, alerts, escalateAfterSeconds, repeatSeconds, suppressions } = item;
  const what = `${alertname}${alerts > 1 ? ` of ${count(alerts)}` : ""}`;
  const waits = suppressions.map(({ until, ...one }) =>
    suppressionText({ ...one, until: until === null ? undefined : Date.parse(until) }, at),
  );
  const escalates =
    escalateAfterSeconds === null
      ? []
      : [`if nobody acknowledges it for ${humanDuration(escalateAfterSeconds * 1_000)}`];
  const again = item.at === null ? [] : [`again every ${humanDuration(repeatSeconds * 1_000)}`];
  return [`${integrationName(integration)}: ${what}`, ...waits, ...escalates, ...again].join(", ");
}
