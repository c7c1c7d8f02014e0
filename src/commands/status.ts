/** `status`: the fleet, or its alerts, as a running daemon sees them. */
import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { looks, statusTones } from "../alerting/tone.ts";
import { groupNouns } from "../health/alert.ts";
import { recordingStatuses, worstFirst } from "../health/recording.ts";
import { ApiOverview } from "../http/v1/overview.ts";
import { ApiRecording } from "../http/v1/recordings.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { csvLines } from "../lib/csv.ts";
import { count, counted, nameOf, nameWithin, percent } from "../lib/format.ts";
import { capital } from "../lib/text.ts";
import { timesSeenAt } from "../lib/when.ts";
import { ageText, alertsTable, handledText, isNeeded, readActiveAlerts } from "./cli/active-alerts.ts";
import { asRead } from "./cli/as-read.ts";
import { type CommandIo, fail, print, unknownMessage, type Written } from "./cli/command.ts";
import { asksDaemon, type Daemon, DaemonError, type DaemonOptions, readerZone, withDaemon } from "./cli/daemon.ts";
import { fitLines, renderGroups, type TableColumn, tableTarget, targetOf } from "./cli/table.ts";
import { watch } from "./cli/watch.ts";

type StatusOptions = DaemonOptions &
  Readonly<{ location?: string; only?: string; all?: true; alerts?: true; watch?: number | true }> & {
    readonly output: "table" | "json" | "csv";
  };

const Overview = asRead(ApiOverview);
type Overview = z.infer<typeof Overview>;
type PlaceRow = Overview["items"][number];

/** Exit code 0, also with recordings offline; 1 for an unknown location. Throws DaemonError or ConfigError. */
export function statusCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("status")
    .description("List recordings by location, the worst first, with their alerts. An alert in brackets is pending.")
    .option("--location <id or name>", "only recordings of this location, each of them")
    .addOption(new Option("--only <status>", "only recordings with this status").choices(recordingStatuses))
    .option("--all", "also recordings that are online without alerts; of alerts, also those that need nobody")
    .addOption(new Option("--alerts", "list active alerts instead").conflicts(["location", "only", "watch"]))
    .addOption(
      new Option("--watch [seconds]", "again every so many seconds").argParser(parseSeconds).conflicts("output"),
    );
  const example = "lenswatch status --only offline --url http://127.0.0.1:9595";
  return asksDaemon(command, example, "table", "csv").action((options: StatusOptions) =>
    withDaemon(options, io, async (daemon) => {
      const zone = await readerZone(daemon, io);
      if (options.alerts) return await listAlerts(daemon, options, io, timesAt(clock.now(), zone));
      if (options.watch === undefined) return await once(daemon, options, io, timesAt(clock.now(), zone));
      const everyMs = options.watch === true ? WATCH_MS : options.watch;
      return await watch(io, { clock, zone }, everyMs, async () => {
        const { text, unknown } = await tableText(daemon, options, io, timesAt(clock.now(), zone));
        return unknown === undefined ? text : `${capital(unknown)}.\n`;
      });
    }),
  );
}

const WATCH_MS = 5_000;

interface Moment {
  readonly now: Instant;
  readonly at: Written;
}

function timesAt(now: Instant, zone: string): Moment {
  const times = timesSeenAt(now, zone);
  return { now, at: (instant) => times.at(instant, "UTC") };
}

/** An option as ms. */
function parseSeconds(text: string): number {
  if (/^\d+(\.\d+)?s?$/.test(text) && Number.parseFloat(text) >= 0.1) return Number.parseFloat(text) * 1_000;
  throw new InvalidArgumentError("It must be a number of seconds, 0.1 or more.");
}

async function once(daemon: Daemon, options: StatusOptions, io: CommandIo, moment: Moment): Promise<void> {
  if (options.output === "table") {
    const { text, unknown } = await tableText(daemon, options, io, moment);
    return unknown === undefined ? void io.stdout.write(text) : fail(io, 1, unknown);
  }
  const rows = await daemon.all("/api/v1/recordings", parametersOf(options), asRead(ApiRecording));
  const unknown = rows.length === 0 ? await unknownLocation(daemon, options) : undefined;
  if (unknown !== undefined) return fail(io, 1, unknown);
  rows.sort(byName);
  if (options.output === "csv") return void io.stdout.write(asCsv(rows));
  print(io, options.output, rows, () => "");
}

/** Alerts as amtool lists them; those that need nobody only on request. */
async function listAlerts(daemon: Daemon, options: StatusOptions, io: CommandIo, { now, at }: Moment): Promise<void> {
  const { output, all } = options;
  if (output === "csv") throw new DaemonError("bad_option", "--alerts is a table or JSON: leave --output csv out");
  const active = await readActiveAlerts(daemon);
  const alerts = active.filter((one) => all || isNeeded(one));
  if (output === "json") return print(io, output, alerts, () => "");
  if (active.length === 0) return void io.stdout.write("No active alerts.\n");
  const table = alertsTable(alerts, now, at, tableTarget(io));
  const left = active.length - alerts.length;
  const more = left > 0 ? `\n${counted(left, "alert")} acknowledged or otherwise suppressed (--all lists them)\n` : "";
  io.stdout.write(
    `${boardText(await daemon.get("/api/v1/overview", { limit: "1" }, Overview), now, at)}${table && `\n${table}`}${more}`,
  );
}

async function tableText(daemon: Daemon, options: StatusOptions, io: CommandIo, { now, at }: Moment) {
  const asked = { ...parametersOf(options), ...(options.all && { all: "true" }) };
  const pages = await Array.fromAsync(daemon.pages("/api/v1/overview", asked, Overview));
  const places = pages.flatMap(({ items }) => items);
  const counts = pages[0]?.recordings ?? {};
  const total = sizeOf(counts);
  const unknown = total === 0 ? await unknownLocation(daemon, options) : undefined;
  const note = await unknownRecordings(daemon, options);
  const groups = places.map((place) => ({ heading: headingOf(place, now, at), rows: place.rows }));
  const table = renderGroups(columnsAt(now, at), groups, tableTarget(io));
  const rows = places.flatMap((place) => place.rows);
  const body = total === 0 ? "No matching recordings.\n" : `${table}${table && "\n"}${summary(rows, counts)}\n`;
  const isWhole = options.location === undefined && options.only === undefined;
  const [first] = pages;
  const head = first && isWhole ? `${boardText(first, now, at)}\n` : first ? bannerText(first, now, at) : "";
  const text = `${head}${body}${note}`;
  return { text: fitLines(text, targetOf(io.stdout)), unknown };
}

const MOST_CAUSES = 3;

/** What is wrong with lenswatch itself, and what to do: a line, or none. */
function bannerText({ banner }: Overview, now: Instant, at: Written): string {
  if (!banner) return "";
  const { tone, summary, text, since } = banner;
  const words = `${summary}, since ${at(Date.parse(since))} (${ageText(since, now)}). ${text}`;
  return `${looks[tone].mark} ${nameOf(words, "", 800)}\n`;
}

/** After that, the headline of the status page, and what explains the worst incidents, a line each. */
function boardText(overview: Overview, now: Instant, at: Written): string {
  const { headline, tone, incidents } = overview;
  const explained = incidents.flatMap(({ title, cause }) => (cause ? [`${title}: ${cause.text}.`] : []));
  const lines = [`${looks[tone].mark} ${headline}.`, ...explained.slice(0, MOST_CAUSES)];
  return bannerText(overview, now, at) + lines.map((line) => `${nameOf(line, "", 300)}\n`).join("");
}

/** `Leeds · 3 offline · LocationOffline for 3 m`; of an alert about no location, `ServiceUnreachable for 3 m`. */
function headingOf({ location, recordings, lastKnown, alerts }: PlaceRow, now: Instant, at: Written): string {
  const named = alerts.map(({ outage, ...alert }) => {
    const { label, name = "", offline, locations } = outage ?? {};
    const where = locations ? ` at ${counted(locations, "location")}` : "";
    const group =
      label && `${capital(groupNouns[label])} ${nameOf(name, "", 100)} · ${count(offline ?? 0)} offline${where}`;
    return [group, `${alertText(alert, at)} for ${ageText(alert.since, now)}`].filter(Boolean).join(" · ");
  });
  return [...(location === null ? [] : [location, countsText(recordings) + lastText(lastKnown)]), ...named].join(" · ");
}

/** ` (last known: 1 offline, 2 online)`; empty where all is known. */
function lastText(were: Counts): string {
  const last = countsText({ ...were, unknown: 0 });
  return last === "" ? "" : ` (last known: ${last})`;
}

/** The message for a location that does not exist: an empty list would look like good news. */
async function unknownLocation(daemon: Daemon, { location }: StatusOptions): Promise<string | undefined> {
  if (location === undefined) return undefined;
  const [path, row] = ["/api/v1/locations", z.object({ locationId: z.string(), location: z.string() })];
  if ((await daemon.all(path, { location }, row)).length > 0) return undefined;
  const named = (await daemon.all(path, {}, row)).map((one) => ({ id: one.locationId, name: one.location }));
  return unknownMessage("location", location, named);
}

/** The note on recordings that cannot be read: nobody knows whether they have the status that is asked for. */
async function unknownRecordings(daemon: Daemon, { only, location, output }: StatusOptions): Promise<string> {
  if (only === undefined || only === "unknown" || output !== "table") return "";
  const asked = { ...parametersOf({ location, only: "unknown" }), limit: "1" };
  const { unknown = 0 } = (await daemon.get("/api/v1/overview", asked, Overview)).recordings;
  return unknown === 0 ? "" : `The status of ${counted(unknown, "more recording")} is unknown (--only unknown).\n`;
}

function parametersOf({ location, only }: Partial<Record<"location" | "only", string | undefined>>) {
  return { ...(location === undefined ? {} : { location }), ...(only === undefined ? {} : { status: only }) };
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function byName(a: ApiRecording, b: ApiRecording): number {
  return collator.compare(a.location, b.location) || collator.compare(a.recording, b.recording);
}

function asCsv(rows: readonly ApiRecording[]): string {
  const cells = rows.map(({ alerts, cameraServer, ...row }) => [
    ...Object.values(row).map((value) => value ?? undefined),
    cameraServer?.id,
    alerts.map(({ alertname, state }) => `${alertname}:${state}`).join(" "),
  ]);
  return csvLines([Object.keys(ApiRecording.unwrap().shape), ...cells]);
}

const columnsAt = (now: Instant, at: Written): readonly TableColumn<ApiRecording>[] => [
  { head: "RECORDING", cell: ({ recording, location }) => nameWithin(recording, location), wraps: true },
  { head: "STATUS", cell: statusText, wraps: true, style: ({ status }) => looks[statusTones[status]].terminal },
  { head: "FOR", cell: ({ since }) => ageText(since, now) },
  { head: "QUALITY", cell: ({ averageQuality }) => ratio(averageQuality), align: "right", canDrop: true },
  { head: "UPTIME 24 H", cell: ({ overallUptime24h }) => ratio(overallUptime24h), align: "right", canDrop: true },
  {
    head: "ALERTS",
    cell: (row) => row.alerts.map((one) => alertText(one, at) + longerText(one, row, now)).join(" "),
    wraps: true,
  },
];

const statusText = ({ status, lastStatus }: ApiRecording) => status + (lastStatus ? `, was ${lastStatus}` : "");

const ratio = (value: number | null) => percent(value ?? undefined) || "–";

/** `RecordingOffline [silenced]`; in brackets where it is pending. */
function alertText({ alertname, attention, acknowledgement }: ApiRecording["alerts"][number], at: Written): string {
  if (attention === null) return `(${alertname})`;
  const handled = handledText(attention, acknowledgement, at);
  return handled === undefined ? alertname : `${alertname} [${handled}]`;
}

/** ` for 12 m`, of a firing alert that is older than the status beside it. */
function longerText({ state, since }: ApiRecording["alerts"][number], row: ApiRecording, now: Instant): string {
  return state === "firing" && row.since !== null && since < row.since ? ` for ${ageText(since, now)}` : "";
}

type Counts = Readonly<Partial<Record<(typeof recordingStatuses)[number], number>>>;

function sizeOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

/** `1 offline, 2 degraded`. */
function countsText(counts: Counts): string {
  return worstFirst.flatMap((status) => (counts[status] ? [`${counts[status]} ${status}`] : [])).join(", ");
}

function summary(rows: readonly ApiRecording[], counts: Counts): string {
  const hidden = sizeOf(counts) - rows.length;
  const all = hidden > 0 ? `; ${hidden} not listed (--all)` : "";
  const hasPending = rows.some(({ alerts }) => alerts.some(({ state }) => state !== "firing"));
  const legend = hasPending ? "\nAn alert in brackets is pending." : "";
  return `${counted(sizeOf(counts), "recording")}: ${countsText(counts)}${all}${legend}`;
}
