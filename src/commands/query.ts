/** `query`: figures of the analytics service as a table, JSON or CSV. */
import { Argument, Command, Option } from "commander";
import { directoryNow } from "../app/read-directory.ts";
import { configFile, loadConfig } from "../config/load.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { csvLines } from "../lib/csv.ts";
import { counted, percent, zonePath } from "../lib/format.ts";
import { silentLogger } from "../lib/log.ts";
import { timesSeenAt } from "../lib/when.ts";
import { type Ask, type QueryOptions, type QueryRoute, queryRoutes, toAsk } from "../query/ask.ts";
import type { QueryCell } from "../query/columns.ts";
import { type QueryAnswer, runQuery } from "../query/query.ts";
import { serviceDirectory } from "../query/service-directory.ts";
import { createService } from "../service/service.ts";
import { withRetries } from "./backtest/history.ts";
import {
  type CommandIo,
  configOption,
  gather,
  outputOption,
  print,
  type Written,
  withExample,
  zoneOf,
} from "./cli/command.ts";
import { createProgress } from "./cli/progress.ts";
import { renderTable, type TableColumn, tableTarget } from "./cli/table.ts";

/** Rows of one answer, about 300 B each. */
const MOST_ROWS = 200_000;

type Options = QueryOptions & { readonly config?: string; readonly output: "table" | "json" | "csv" };

/** Exit code 1 for an unknown name, 2 for invalid options, 3 where the service does not answer. */
export function queryCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("query")
    .description("Print figures of the analytics service: people counted, dwell, sales, zones, uptime and status.")
    .addArgument(new Argument("<route>", "what to ask for").choices(queryRoutes))
    .option("--from <day or time>", "2026-01-31, 2026-01-31T08:00Z, yesterday, 7d or 24h (default: 7d)")
    .option("--to <day or time>", "the end; a day is included (default: now)")
    .option("--timezone <zone>", "of days and times (default: the location's)")
    .option(
      "--location <id or name>",
      "only this, or those with a label of the directory: region=north; may be repeated",
      gather,
    )
    .option("--recording <id or name>", "only this recording, of areas, uptime and status; may be repeated", gather)
    .option("--zone <zone>", "only this zone, of zones; may be repeated", gather)
    .option("--by <dimensions>", "a row for each age, gender or role: age,gender", gather)
    .option("--only <values>", "only these people: age=25_34,role=customer", gather)
    .addOption(
      new Option("--every <period>", "a row for each; hour of uptime only").choices(["hour", "day", "week", "month"]),
    )
    .addOption(new Option("--facet <facet>", "of entries, as the service serves it").choices(["estimates"]));
  const example = 'lenswatch query entries --from 2026-01-01 --to 2026-01-31 --location "Leeds Briggate" --every day';
  withExample(command.addOption(outputOption("table", "csv")).addOption(configOption()), example);
  return command.action(async (route: QueryRoute, { output, config, ...asked }: Options) => {
    const ask = toAsk(route, asked, clock.now());
    const { answer, zone = zoneOf(io) } = await askService(ask, config, io, clock);
    const times = timesSeenAt(clock.now(), asked.timezone ?? zone);
    printAnswer(io, output, route, answer, (at) => times.at(at, "UTC"));
  });
}

/** The figures, and the configured zone of the reader. */
async function askService(ask: Ask, file: string | undefined, io: CommandIo, clock: Clock) {
  const config = await loadConfig(configFile(file, io.env), io.env);
  const service = createService({ config: config.service, log: silentLogger, clock });
  const { signal } = io;
  const deps = { service, signal, now: clock.now(), locationsPerRequest: config.watch.locationsPerRequest };
  const bar = createProgress(io, "requests answered");
  try {
    const attempt = <T>(request: () => Promise<T>) => withRetries({ signal }, request);
    const directory = serviceDirectory({ ...deps, attempt }, deps.now);
    const shops = config.directory && (await directoryNow(config.directory));
    const labelsOf = ({ id, name }: { id: string; name: string }) => shops?.rowOf(id, name)?.labels;
    const how = { attempt, directory, labelsOf, mostRows: MOST_ROWS, onProgress: (n: number) => bar?.update(n) };
    return { answer: await runQuery(ask, { ...deps, ...how }), zone: config.display.timezone };
  } catch (thrown) {
    signal.throwIfAborted();
    throw thrown;
  } finally {
    bar?.stop();
    await service.close();
  }
}

function printAnswer(
  io: CommandIo,
  output: Options["output"],
  route: QueryRoute,
  answer: QueryAnswer,
  at: Written,
): void {
  const { columns, items: rows, units, dropped } = answer;
  if (dropped > 0) io.stderr.write(`lenswatch: rows that could not be read are missing: ${dropped}\n`);
  if (output === "csv") {
    const cells = rows.map((row) => columns.map((name) => csvCell(row[name])));
    io.stdout.write(csvLines([columns, ...cells]));
    return;
  }
  const shown = columns.filter((name) => !isHidden(route, name));
  const table = shown.map(
    (name): TableColumn<QueryAnswer["items"][number]> => ({
      head: headOf(name),
      cell: (row) => tableCell(name, row[name] ?? null, at, units[name]),
      ...(rows.some((row) => typeof row[name] === "number") ? { align: "right" as const } : {}),
      wraps: NAMES.has(name),
      canDrop: name.toLowerCase().includes("segment"),
    }),
  );
  print(io, output, rows, () =>
    rows.length === 0 ? "No rows.\n" : `${renderTable(table, rows, tableTarget(io))}\n${counted(rows.length, "row")}\n`,
  );
}

const NAMES: ReadonlySet<string> = new Set(["location", "recording", "zone"]);
const TRAITS: ReadonlySet<string> = new Set(["organisation", "cameraServer", "useUploadingSchedule"]);

/** Ids and what rarely matters to people are in JSON and CSV only. */
function isHidden(route: QueryRoute, name: string): boolean {
  if (name === "locationId") return route !== "locations";
  return name === "recordingId" || TRAITS.has(name) || (name === "timezone" && route !== "locations");
}

/** `areaTotalDwellTime` → `DWELL`. */
function headOf(name: string): string {
  const text = name.replace(/^area(?:Total)?|^sales|^segments|Time$/g, "").replace(/[A-Z]/g, " $&");
  return text.trim().toUpperCase();
}

const RATIO = /Rate$|Uptime|^pc|Quality$/;

function tableCell(name: string, value: QueryCell, at: Written, unit = ""): string {
  if (value === null) return "";
  if (typeof value === "number" && RATIO.test(name)) return percent(value);
  if (typeof value === "number") return `${Math.round(value * 10) / 10}${unit === "seconds" ? " s" : ""}`;
  if (name === "zone") return zonePath(String(value));
  return typeof value === "string" && (name === "lastSeen" || name === "hour") ? at(Date.parse(value)) : String(value);
}

const csvCell = (value: QueryCell | undefined) => (typeof value === "boolean" ? String(value) : (value ?? undefined));
