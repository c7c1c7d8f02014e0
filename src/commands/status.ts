/** `status`: the fleet now, as a running daemon sees it. */
import { Command, Option } from "commander";
import { z } from "zod";
import { recordingStatuses } from "../health/recording.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { renderCsv } from "../lib/csv.ts";
import { humanDuration } from "../lib/duration.ts";
import { percent } from "../lib/format.ts";
import { closestRows } from "../lib/suggest.ts";
import { stripControls } from "../lib/text.ts";
import { type Daemon, type Parameters, parseUrl, withDaemon } from "./cli/daemon.ts";
import type { CommandIo } from "./cli/io.ts";
import { asJson, outputOption } from "./cli/output.ts";
import { type Column, renderTable, type TableTarget, tableTarget } from "./cli/table.ts";

const AlertRow = z.object({
  alertname: z.string(),
  severity: z.string().nullable(),
  state: z.enum(["pending", "firing"]),
  since: z.string(),
});

const RecordingRow = z.object({
  recordingId: z.string(),
  recording: z.string(),
  locationId: z.string(),
  location: z.string(),
  status: z.enum(recordingStatuses),
  since: z.string().nullable(),
  lastSeen: z.string().nullable(),
  averageQuality: z.number().nullable(),
  overallUptime24h: z.number().nullable(),
  alerts: z.array(AlertRow),
});
type RecordingRow = z.infer<typeof RecordingRow>;

interface StatusOptions {
  readonly url?: string;
  readonly config?: string;
  readonly location?: string;
  readonly only?: string;
  readonly output: "table" | "json" | "csv";
}

const LocationRow = z.object({ locationId: z.string(), location: z.string() });

/** Exit code 0, also where something is offline; 1 for a location nobody knows; throws DaemonError or ConfigError when it cannot be told. */
export function statusCommand(io: CommandIo, clock: Clock = systemClock): Command {
  return new Command("status")
    .description(
      "The fleet now: what each recording does, since when, and what is said about it. An alert in brackets does not fire yet.",
    )
    .option("--location <id or name>", "only the recordings of this location")
    .addOption(new Option("--only <status>", "only recordings of this status").choices(recordingStatuses))
    .addOption(outputOption("table", "csv"))
    .option(
      "--url <url>",
      "the daemon (default: http.external_url or http.listen of the configuration)",
      parseUrl,
    )
    .option("--config <file>", "the configuration (default: $LENSWATCH_CONFIG or config/lenswatch.yaml)")
    .addHelpText("after", "\nExample:\n  lenswatch status --only offline --url http://127.0.0.1:9595")
    .action(async (options: StatusOptions) => {
      const { rows, unknown } = await withDaemon(options, io, async (daemon) => {
        const found = await daemon.all("/api/v1/recordings", parametersOf(options), RecordingRow);
        return { rows: found, unknown: found.length === 0 ? await unknownLocation(daemon, options) : "" };
      });
      if (unknown !== "") {
        io.stderr.write(unknown);
        return io.setExitCode(1);
      }
      rows.sort(byName);
      io.stdout.write(render(rows, options.output, clock.now(), tableTarget(io)));
    });
}

/** No recording of a location that is not there is no good news: what is wrong, or nothing where it is there. */
async function unknownLocation(daemon: Daemon, { location }: StatusOptions): Promise<string> {
  if (location === undefined) return "";
  const path = "/api/v1/locations";
  if ((await daemon.all(path, { location }, LocationRow)).length > 0) return "";
  const rows = await daemon.all(path, {}, LocationRow);
  const near = closestRows(location, rows, (row) => ({ name: row.location, id: row.locationId }))
    .map((row) => stripControls(`  ${row.locationId}  ${row.location}`).concat("\n"))
    .join("");
  const hint = near === "" ? "\n" : `; near it are:\n${near}`;
  return `lenswatch: no location has the id or name "${stripControls(location)}"${hint}`;
}

function parametersOf({ location, only }: StatusOptions): Parameters {
  return {
    ...(location === undefined ? {} : { location }),
    ...(only === undefined ? {} : { status: only }),
  };
}

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function byName(a: RecordingRow, b: RecordingRow): number {
  return collator.compare(a.location, b.location) || collator.compare(a.recording, b.recording);
}

function render(
  rows: readonly RecordingRow[],
  output: StatusOptions["output"],
  now: Instant,
  target: TableTarget,
): string {
  if (output === "json") return asJson(rows);
  if (output === "csv") return asCsv(rows);
  if (rows.length === 0) return "No recording is like that.\n";
  return `${asTable(rows, now, target)}\n${summary(rows)}\n`;
}

function asCsv(rows: readonly RecordingRow[]): string {
  const head = Object.keys(RecordingRow.shape);
  return renderCsv(
    head,
    rows.map(({ alerts, ...row }) => [
      ...Object.values(row).map((value) => String(value ?? "")),
      alerts.map(({ alertname, state }) => `${alertname}:${state}`).join(" "),
    ]),
  );
}

const columns: readonly Column[] = [
  { head: "LOCATION", canShrink: true },
  { head: "RECORDING", canShrink: true },
  { head: "STATUS" },
  { head: "SINCE" },
  { head: "QUALITY", align: "right" },
  { head: "UPTIME 24 H", align: "right" },
  { head: "ALERTS" },
];

/** An alert that does not fire yet stands in brackets. */
function asTable(rows: readonly RecordingRow[], now: Instant, target: TableTarget): string {
  const cells = rows.map((row) => [
    row.location,
    row.recording,
    row.status,
    sinceText(row.since, now),
    percent(row.averageQuality ?? undefined) || "–",
    percent(row.overallUptime24h ?? undefined) || "–",
    row.alerts.map(({ alertname, state }) => (state === "firing" ? alertname : `(${alertname})`)).join(" "),
  ]);
  return renderTable(columns, cells, target);
}

/** `2026-01-31 11:00 UTC (1 h)`. */
export function sinceText(since: string | null, now: Instant): string {
  if (since === null) return "–";
  const at = Date.parse(since);
  return `${since.slice(0, 16).replace("T", " ")} UTC (${humanDuration(now - at)})`;
}

function summary(rows: readonly RecordingRow[]): string {
  const counts = recordingStatuses
    .map((status) => ({ status, count: rows.filter((row) => row.status === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${count} ${status}`);
  return `${rows.length} ${rows.length === 1 ? "recording" : "recordings"}: ${counts.join(", ")}`;
}
