/** `status`: the fleet as a running daemon sees it. */
import { Command, Option } from "commander";
import { z } from "zod";
import { recordingStatuses } from "../health/recording.ts";
import { AlertRow } from "../http/v1/operation.ts";
import { ApiRecording } from "../http/v1/recordings.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { csvLines } from "../lib/csv.ts";
import { humanDuration } from "../lib/duration.ts";
import { counted, isoMinute, percent } from "../lib/format.ts";
import {
  ackText,
  type CommandIo,
  fail,
  localTimes,
  outputOption,
  print,
  unknownMessage,
  type Written,
  withExample,
} from "./cli/command.ts";
import { addDaemonOptions, type Daemon, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { renderTable, type TableColumn, tableTarget } from "./cli/table.ts";

/** Without fields that a later daemon adds. */
const RecordingRow = z.object({ ...ApiRecording.unwrap().shape, alerts: z.array(AlertRow.unwrap().strip()) });
type RecordingRow = z.infer<typeof RecordingRow>;

type StatusOptions = DaemonOptions & Readonly<{ location?: string; only?: string; output: "table" | "json" | "csv" }>;

const LocationRow = z.object({ locationId: z.string(), location: z.string() });

/** Exit code 0, also with recordings offline; 1 for an unknown location. Throws DaemonError or ConfigError. */
export function statusCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("status")
    .description("List recordings with their status and alerts. An alert in brackets is pending.")
    .option("--location <id or name>", "only recordings of this location")
    .addOption(new Option("--only <status>", "only recordings with this status").choices(recordingStatuses))
    .addOption(outputOption("table", "csv"));
  withExample(addDaemonOptions(command), "lenswatch status --only offline --url http://127.0.0.1:9595");
  return command.action(async (options: StatusOptions) => {
    const { rows, unknown, note } = await withDaemon(options, io, async (daemon) => {
      const found = await daemon.all("/api/v1/recordings", parametersOf(options), RecordingRow);
      const missing = found.length === 0 ? await unknownLocation(daemon, options) : undefined;
      return { rows: found, unknown: missing, note: await unknownRecordings(daemon, options) };
    });
    if (unknown !== undefined) return fail(io, 1, unknown);
    rows.sort(byName);
    if (options.output === "csv") return void io.stdout.write(asCsv(rows));
    const table = () =>
      `${renderTable(columnsAt(clock.now(), localTimes(clock.now(), io.env)), rows, tableTarget(io))}\n${summary(rows)}\n`;
    print(io, options.output, rows, () => (rows.length === 0 ? "No matching recordings.\n" : table()) + note);
  });
}

/** The message for a location that does not exist: an empty list would look like good news. */
async function unknownLocation(daemon: Daemon, { location }: StatusOptions): Promise<string | undefined> {
  if (location === undefined) return undefined;
  const path = "/api/v1/locations";
  if ((await daemon.all(path, { location }, LocationRow)).length > 0) return undefined;
  const rows = await daemon.all(path, {}, LocationRow);
  const named = rows.map((row) => ({ id: row.locationId, name: row.location }));
  return unknownMessage("location", location, named);
}

/** Of a recording that cannot be read, nobody knows whether it has the status that is asked for. */
async function unknownRecordings(daemon: Daemon, { only, location, output }: StatusOptions): Promise<string> {
  if (only === undefined || only === "unknown" || output !== "table") return "";
  const rows = await daemon.all("/api/v1/recordings", parametersOf({ location, only: "unknown" }), z.unknown());
  return rows.length === 0
    ? ""
    : `The status of ${counted(rows.length, "more recording")} is unknown (--only unknown).\n`;
}

function parametersOf({ location, only }: Partial<Record<"location" | "only", string | undefined>>) {
  return { ...(location === undefined ? {} : { location }), ...(only === undefined ? {} : { status: only }) };
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function byName(a: RecordingRow, b: RecordingRow): number {
  return collator.compare(a.location, b.location) || collator.compare(a.recording, b.recording);
}

function asCsv(rows: readonly RecordingRow[]): string {
  const cells = rows.map(({ alerts, ...row }) => [
    ...Object.values(row).map((value) => value ?? undefined),
    alerts.map(({ alertname, state }) => `${alertname}:${state}`).join(" "),
  ]);
  return csvLines([Object.keys(RecordingRow.shape), ...cells]);
}

const columnsAt = (now: Instant, at: Written): readonly TableColumn<RecordingRow>[] => [
  { head: "LOCATION", cell: ({ location }) => location, canShrink: true },
  { head: "RECORDING", cell: ({ recording }) => recording, canShrink: true },
  { head: "STATUS", cell: ({ status }) => status },
  { head: "SINCE", cell: ({ since }) => sinceUtc(since, now) },
  { head: "QUALITY", cell: ({ averageQuality }) => percent(averageQuality ?? undefined) || "–", align: "right" },
  {
    head: "UPTIME 24 H",
    cell: ({ overallUptime24h }) => percent(overallUptime24h ?? undefined) || "–",
    align: "right",
  },
  { head: "ALERTS", cell: ({ alerts }) => alerts.map((one) => alertText(one, at)).join(" ") },
];

function alertText(
  { alertname, state, acknowledgement, maintenance }: RecordingRow["alerts"][number],
  at: Written,
): string {
  if (acknowledgement) return `${alertname} [${ackText(acknowledgement, at)}]`;
  if (maintenance) return `${alertname} [in maintenance]`;
  return state === "firing" ? alertname : `(${alertname})`;
}

/** `2026-01-31 11:00 UTC (1 h)`. */
export function sinceUtc(since: string | null, now: Instant): string {
  if (since === null) return "–";
  const at = Date.parse(since);
  return `${isoMinute(at)} (${humanDuration(now - at)})`;
}

function summary(rows: readonly RecordingRow[]): string {
  const counts = recordingStatuses
    .map((status) => ({ status, count: rows.filter((row) => row.status === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${count} ${status}`);
  const hasPending = rows.some(({ alerts }) => alerts.some(({ state }) => state !== "firing"));
  const legend = hasPending ? "\nAn alert in brackets is pending." : "";
  return `${counted(rows.length, "recording")}: ${counts.join(", ")}${legend}`;
}
