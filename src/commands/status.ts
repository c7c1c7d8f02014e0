/** `status`: the fleet as a running daemon sees it. */
import { Command, InvalidArgumentError, Option } from "commander";
import { z } from "zod";
import { recordingStatuses, worstFirst } from "../health/recording.ts";
import { AlertRow } from "../http/v1/operation.ts";
import { ApiRecording } from "../http/v1/recordings.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { csvLines } from "../lib/csv.ts";
import { humanDuration } from "../lib/duration.ts";
import { counted, isoMinute, nameWithin, percent } from "../lib/format.ts";
import { capital } from "../lib/text.ts";
import {
  ageText,
  attentionAt,
  handledText,
  type ListedAlert,
  outageText,
  rankOf,
  readActiveAlerts,
  readBoard,
} from "./cli/active-alerts.ts";
import { ackText, type CommandIo, fail, localTimes, print, unknownMessage, type Written } from "./cli/command.ts";
import { asksDaemon, type Daemon, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { renderGroups, type TableColumn, tableTarget } from "./cli/table.ts";
import { watch } from "./cli/watch.ts";

/** Without fields that a later daemon adds. */
const RecordingRow = z.object({ ...ApiRecording.unwrap().shape, alerts: z.array(AlertRow.unwrap().strip()) });
type RecordingRow = z.infer<typeof RecordingRow>;

type StatusOptions = DaemonOptions &
  Readonly<{ location?: string; only?: string; all?: true; watch?: number | true; output: "table" | "json" | "csv" }>;

const Counts = z.record(z.enum(recordingStatuses), z.number());
const LocationRow = z.object({ locationId: z.string(), location: z.string(), recordings: Counts });
const LocationPage = z.object({ recordings: Counts, items: z.array(LocationRow) });
type LocationRow = z.infer<typeof LocationRow>;

/** Exit code 0, also with recordings offline; 1 for an unknown location. Throws DaemonError or ConfigError. */
export function statusCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("status")
    .description("List recordings by location, the worst first, with their alerts. An alert in brackets is pending.")
    .option("--location <id or name>", "only recordings of this location, each of them")
    .addOption(new Option("--only <status>", "only recordings with this status").choices(recordingStatuses))
    .option("--all", "each recording, also those that are online without alerts")
    .addOption(
      new Option("--watch [seconds]", "again every so many seconds").argParser(parseSeconds).conflicts("output"),
    );
  const example = "lenswatch status --only offline --url http://127.0.0.1:9595";
  return asksDaemon(command, example, "table", "csv").action((options: StatusOptions) =>
    withDaemon(options, io, async (daemon) => {
      if (options.watch === undefined) return await once(daemon, options, io, clock);
      const everyMs = options.watch === true ? WATCH_MS : options.watch;
      return await watch(io, clock, everyMs, async () => {
        const { text, unknown } = await tableText(daemon, options, io, clock.now());
        return unknown === undefined ? text : `${capital(unknown)}.\n`;
      });
    }),
  );
}

const WATCH_MS = 5_000;

/** Of an option, as ms. */
function parseSeconds(text: string): number {
  if (/^\d+(\.\d+)?s?$/.test(text) && Number.parseFloat(text) >= 0.1) return Number.parseFloat(text) * 1_000;
  throw new InvalidArgumentError("It must be a number of seconds, 0.1 or more.");
}

async function once(daemon: Daemon, options: StatusOptions, io: CommandIo, clock: Clock): Promise<void> {
  if (options.output === "table") {
    const { text, unknown } = await tableText(daemon, options, io, clock.now());
    return unknown === undefined ? void io.stdout.write(text) : fail(io, 1, unknown);
  }
  const rows = await daemon.all("/api/v1/recordings", parametersOf(options), RecordingRow);
  const unknown = rows.length === 0 ? await unknownLocation(daemon, options) : undefined;
  if (unknown !== undefined) return fail(io, 1, unknown);
  rows.sort(byName);
  if (options.output === "csv") return void io.stdout.write(asCsv(rows));
  print(io, options.output, rows, () => "");
}

async function tableText(daemon: Daemon, options: StatusOptions, io: CommandIo, now: Instant) {
  const active = await readActiveAlerts(daemon);
  const isWhole = options.location === undefined && options.only === undefined;
  const { rows, places, counts } = await (isWhole && !options.all
    ? readTrouble(daemon, active)
    : readRows(daemon, options));
  const total = sizeOf(counts);
  const unknown = total === 0 ? await unknownLocation(daemon, options) : undefined;
  const note = await unknownRecordings(daemon, options);
  const at = localTimes(now, io.env);
  const groups = groupsOf(rows, places, active, { isWhole, all: options.all || !isWhole, now, at });
  const table = renderGroups(columnsAt(now, activeBy(active), at), groups, tableTarget(io));
  const shown = groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const body = total === 0 ? "No matching recordings.\n" : `${table}${table && "\n"}${summary(rows, counts, shown)}\n`;
  const { headline, causes } = isWhole ? await readBoard(daemon, active) : { headline: "", causes: "" };
  return { text: `${isWhole ? `${headline}.\n${causes}\n` : ""}${body}${note}`, unknown };
}

/** Recordings, the locations that have lines, and how many recordings have each status, also those not among the rows. */
interface Fleet {
  readonly rows: readonly RecordingRow[];
  readonly places: readonly LocationRow[];
  readonly counts: LocationRow["recordings"];
}

async function readRows(daemon: Daemon, options: StatusOptions): Promise<Fleet> {
  const rows = await daemon.all("/api/v1/recordings", parametersOf(options), RecordingRow);
  const places = [...Map.groupBy(rows, ({ locationId }) => locationId)].map(([locationId, here]) => {
    return { locationId, location: here[0]?.location ?? "", recordings: countsOf(here) };
  });
  return { rows, places, counts: countsOf(rows) };
}

/** Of the ids in one URL; each has at least 11, so that a page has room for all. */
const QUERY_CHARACTERS = 8_000;

/** Without recordings that are well, of which a large fleet has many. */
async function readTrouble(daemon: Daemon, active: readonly ListedAlert[]): Promise<Fleet> {
  const rows = await daemon.all("/api/v1/recordings", { trouble: "true" }, RecordingRow);
  const { recordings: counts } = await daemon.get("/api/v1/locations", { limit: "1" }, LocationPage);
  const named = [...rows.map(({ locationId }) => locationId), ...active.map(({ labels }) => labels.location_id)];
  const ids = new Set(named.filter((id): id is string => id !== undefined && id !== ""));
  const places: LocationRow[] = [];
  for (const parameters of queriesOf(ids))
    places.push(...(await daemon.get("/api/v1/locations", parameters, LocationPage)).items);
  return { rows, places: places.filter(({ recordings }) => sizeOf(recordings) > 0), counts };
}

/** Queries that ask for all of these locations: ids, also those in labels of posted alerts, can be long. */
function* queriesOf(ids: Iterable<string>): Generator<string[][], undefined> {
  let asked: string[][] = [];
  let length = 0;
  for (const location of ids) {
    const more = new URLSearchParams({ location }).toString().length + 1;
    if (asked.length > 0 && length + more > QUERY_CHARACTERS) {
      yield [["limit", "1000"], ...asked];
      [asked, length] = [[], 0];
    }
    asked.push(["location", location]);
    length += more;
  }
  if (asked.length > 0) yield [["limit", "1000"], ...asked];
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

/** Firing alerts of recordings. */
function activeBy(active: readonly ListedAlert[]): ReadonlyMap<string, ListedAlert> {
  return new Map(active.map((one) => [`${one.labels.recording_id} ${one.labels.alertname}`, one]));
}

interface Shown {
  /** Not of some recordings only: alerts of locations and of lenswatch are part of it. */
  readonly isWhole: boolean;
  readonly all: boolean;
  readonly now: Instant;
  readonly at: Written;
}

/**
 * By location, the worst first. Left out are recordings that are online without an alert, and those whose alerts are
 * explained by the alert of their location or of a group, in its heading.
 */
function groupsOf(
  rows: readonly RecordingRow[],
  places: readonly LocationRow[],
  active: readonly ListedAlert[],
  { isWhole, all, now, at }: Shown,
) {
  const rowsAt = Map.groupBy(rows, ({ locationId }) => locationId);
  const firing = activeBy(active);
  const ofPlaces = active.filter(({ labels }) => isWhole && labels.recording_id === undefined);
  const placed = Map.groupBy(ofPlaces, ({ labels }) => labels.location_id ?? "");
  const groups = new Set(active.flatMap((one) => (one.status.outage ? one.fingerprint : [])));
  const isExplained = (one: ListedAlert | undefined) =>
    one !== undefined && attentionAt(one) === "inhibited" && one.status.inhibitedBy.some((print) => groups.has(print));
  const textOf = (alert: ListedAlert) =>
    [outageText(alert), `${placeAlertText(alert, at)} for ${ageText(alert.startsAt, now)}`].filter(Boolean).join(" · ");
  const lines = places.map(({ locationId: id, location, recordings }) => {
    const here = rowsAt.get(id) ?? [];
    const own = (placed.get(id) ?? []).toSorted((a, b) => rankOf(a) - rankOf(b));
    placed.delete(id);
    const ranked = here.map((row) => ({ row, rank: rowRank(row, firing) }));
    const isFolded = ({ recordingId, alerts }: RecordingRow) =>
      own.length > 0 || alerts.some(({ alertname }) => isExplained(firing.get(`${recordingId} ${alertname}`)));
    const needsLine = (row: RecordingRow) =>
      all || (isFolded(row) ? hasOwnAlert(row, firing) : row.status !== "online" || row.alerts.length > 0);
    const shown = ranked.filter(({ row }) => needsLine(row)).sort((a, b) => a.rank - b.rank || byName(a.row, b.row));
    const named = own.filter((one) => all || !isExplained(one));
    const heading = [location, countsText(recordings), ...named.map(textOf)].join(" · ");
    const rank = Math.min(...own.map((one) => rankOf(one) * 10), ...ranked.map((one) => one.rank));
    return { heading, rows: shown.map(({ row }) => row), rank, isShown: shown.length + named.length > 0, location };
  });
  const sorted = lines
    .filter(({ isShown }) => isShown)
    .sort((a, b) => a.rank - b.rank || collator.compare(a.location, b.location));
  const elsewhere = [...placed.values()].flat().map((alert) => ({ heading: textOf(alert), rows: [] }));
  return [...elsewhere, ...sorted];
}

function hasOwnAlert({ recordingId, alerts }: RecordingRow, firing: ReadonlyMap<string, ListedAlert>): boolean {
  return alerts.some(({ alertname }) => {
    const alert = firing.get(`${recordingId} ${alertname}`);
    return alert !== undefined && attentionAt(alert) !== "inhibited";
  });
}

/** Lower is worse: firing and unhandled, handled, pending; then by severity and status. */
function rowRank({ recordingId, alerts, status }: RecordingRow, firing: ReadonlyMap<string, ListedAlert>): number {
  const ranks = alerts.map(({ alertname, state }) => {
    const alert = firing.get(`${recordingId} ${alertname}`);
    return state === "firing" && alert ? rankOf(alert) : 20;
  });
  return Math.min(30, ...ranks) * 10 + worstFirst.indexOf(status);
}

const columnsAt = (
  now: Instant,
  firing: ReadonlyMap<string, ListedAlert>,
  at: Written,
): readonly TableColumn<RecordingRow>[] => [
  { head: "RECORDING", cell: ({ recording, location }) => nameWithin(recording, location), wraps: true },
  { head: "STATUS", cell: ({ status }) => status, style: ({ status }) => STYLES[status] },
  { head: "FOR", cell: ({ since }) => ageText(since, now) },
  { head: "QUALITY", cell: ({ averageQuality }) => ratio(averageQuality), align: "right", canDrop: true },
  { head: "UPTIME 24 H", cell: ({ overallUptime24h }) => ratio(overallUptime24h), align: "right", canDrop: true },
  { head: "ALERTS", cell: (row) => row.alerts.map((one) => alertText(one, row, firing, at)).join(" "), wraps: true },
];

const ratio = (value: number | null) => percent(value ?? undefined) || "–";

const STYLES = { online: "green", degraded: "yellow", offline: "red", unknown: "magenta" } as const;

function alertText(
  { alertname, state, acknowledgement, maintenance }: RecordingRow["alerts"][number],
  { recordingId }: RecordingRow,
  firing: ReadonlyMap<string, ListedAlert>,
  at: Written,
): string {
  if (acknowledgement) return `${alertname} [${ackText(acknowledgement, at)}]`;
  if (maintenance) return `${alertname} [in maintenance]`;
  if (state !== "firing") return `(${alertname})`;
  const alert = firing.get(`${recordingId} ${alertname}`);
  return alert ? placeAlertText(alert, at) : alertname;
}

function placeAlertText(alert: ListedAlert, at: Written): string {
  const handled = handledText(alert, at);
  return `${alert.labels.alertname ?? ""}${handled === undefined ? "" : ` [${handled}]`}`;
}

/** `2026-01-31 11:00 UTC (1 h)`. */
export function sinceUtc(since: string | null, now: Instant): string {
  if (since === null) return "–";
  const at = Date.parse(since);
  return `${isoMinute(at)} (${humanDuration(now - at)})`;
}

function countsOf(rows: readonly RecordingRow[]): LocationRow["recordings"] {
  const counts = { online: 0, degraded: 0, offline: 0, unknown: 0 };
  for (const { status } of rows) counts[status] += 1;
  return counts;
}

function sizeOf(counts: LocationRow["recordings"]): number {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

/** `1 offline, 2 degraded`. */
function countsText(counts: LocationRow["recordings"]): string {
  return worstFirst.flatMap((status) => (counts[status] > 0 ? [`${counts[status]} ${status}`] : [])).join(", ");
}

function summary(rows: Fleet["rows"], counts: Fleet["counts"], shown: number): string {
  const total = sizeOf(counts);
  const hidden = total - shown;
  const all = hidden > 0 ? `; ${hidden} not listed (--all)` : "";
  const hasPending = rows.some(({ alerts }) => alerts.some(({ state }) => state !== "firing"));
  const legend = hasPending ? "\nAn alert in brackets is pending." : "";
  return `${counted(total, "recording")}: ${countsText(counts)}${all}${legend}`;
}
