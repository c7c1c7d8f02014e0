/** `backtest`: replays past uptime through a configuration, or compares two, to choose thresholds on evidence. */
import { SingleBar } from "cli-progress";
import { Command, InvalidArgumentError } from "commander";
import { planIntegrations } from "../app/integrations.ts";
import { createBacktest, leadMs } from "../backtest/backtest.ts";
import type { ReplaySetup, TimeSpan } from "../backtest/setup.ts";
import type { Config } from "../config/config.ts";
import { configFile, loadConfig } from "../config/load.ts";
import type { Location, Recording } from "../health/recording.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { silentLogger } from "../lib/log.ts";
import { stripControls } from "../lib/text.ts";
import { dayOf } from "../lib/when.ts";
import { createService, type Days } from "../service/service.ts";
import { type FleetToReplay, findFleet, type HistoryDeps, readHistories } from "./backtest/history.ts";
import { type BacktestReport, renderBacktest } from "./backtest/print.ts";
import { type CommandIo, configOption, fail, outputOption, withExample } from "./cli/command.ts";
import { tableTarget } from "./cli/table.ts";

interface BacktestOptions {
  readonly from: Instant;
  readonly to?: Instant;
  readonly config?: string;
  readonly compare?: string;
  readonly location?: readonly string[];
  readonly output: "table" | "json" | "csv";
}

const DAY_MS = 86_400_000;

/** Exit code 1 for too many alerts, 2 for invalid days or an unknown location. Throws ServiceError or ConfigError. */
export function backtestCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("backtest")
    .description("Replay past uptime through the configured rules, routes and group timers.")
    .requiredOption("--from <day>", "the first day in UTC, YYYY-MM-DD (required)", parseDay)
    .option("--to <day>", "the last day, included (default: yesterday)", parseDay)
    .addOption(configOption())
    .option("--compare <file>", "another configuration to compare with")
    .option("--location <id or name>", "only this location; may be repeated", gather)
    .addOption(outputOption("table", "csv"));
  const example = "lenswatch backtest --from 2026-09-01 --to 2026-10-31 --compare calmer.yaml";
  return withExample(command, example).action(async (options: BacktestOptions) => {
    try {
      await run(io, clock, options);
    } catch (thrown) {
      io.signal.throwIfAborted();
      throw thrown;
    }
  });
}

function parseDay(text: string): Instant {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse may read 31 June as 1 July.
  if (Number.isNaN(at) || day(at) !== text) throw new InvalidArgumentError("It must be a day such as 2026-09-01.");
  return at;
}

function gather(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

async function run(io: CommandIo, clock: Clock, options: BacktestOptions): Promise<void> {
  const now = clock.now();
  const { from, to = Date.parse(day(now)) - DAY_MS, location: asked = [] } = options;
  const problem = problemWith(from, to, now);
  if (problem) return fail(io, 2, problem);
  const files = [configFile(options.config, io.env), ...(options.compare === undefined ? [] : [options.compare])];
  const configs: Config[] = [];
  for (const file of files) configs.push(await loadConfig(file, io.env));
  const [config] = configs;
  if (!config) return;
  const setups = configs.map(toSetup);
  const span: TimeSpan = { from, to: Math.min(to + DAY_MS, now) };
  const service = createService({ config: config.service, log: silentLogger, clock });
  try {
    const deps: HistoryDeps = { service, signal: io.signal };
    const fleet = await findFleet(deps, wantedBy(setups, asked), config.watch.locationsPerRequest);
    if (fleet.locations.length === 0 && asked.length > 0)
      return fail(io, 2, `no watched location has the id or name ${quoted(asked)}; see \`lenswatch status\``);
    const read = await replay(io, deps, { setups, fleet, span, now });
    if (!read) return fail(io, 1, TOO_MANY);
    const report: BacktestReport = {
      span,
      locations: fleet.locations.length,
      recordings: fleet.recordingIds.length,
      withoutHistory: fleet.recordingIds.length - read.withHistory,
      files,
      plans: read.backtests.map(({ plan }) => plan),
      tallies: read.backtests.map((backtest) => backtest.result()),
    };
    io.stdout.write(renderBacktest(report, options.output, tableTarget(io)));
  } finally {
    await service.close();
  }
}

function problemWith(from: Instant, to: Instant, now: Instant): string | undefined {
  if (from > to) return `--from ${day(from)} is after --to ${day(to)}; give the earlier day first`;
  return to > now ? `--to ${day(to)} is in the future; give a past day` : undefined;
}

const TOO_MANY = "too many alerts would have fired; give fewer days or a --location, or change the thresholds";

type WatchedSetup = ReturnType<typeof toSetup>;

/** Watched by any of the configurations, and selected by `--location` where given. */
function wantedBy(setups: readonly WatchedSetup[], asked: readonly string[]): (location: Location) => boolean {
  return ({ id, name }) =>
    setups.some(({ watchesLocation }) => watchesLocation(id)) &&
    (asked.length === 0 || asked.some((one) => one === id || one === name));
}

function toSetup(config: Config) {
  const { locations, exclude, statusIntervalMs, uptimeIntervalMs } = config.watch;
  const listed = locations === "all" ? undefined : new Set(locations);
  const excluded = new Set(exclude);
  const integrations = planIntegrations(config, { web: () => "", smtp: "" }).map((plan) => plan.integration);
  const watchesLocation = (id: string) => (listed?.has(id) ?? true) && !excluded.has(id);
  return {
    rules: config.rules,
    route: config.route,
    inhibitRules: config.inhibitRules,
    maintenance: config.maintenance,
    receivers: config.receivers.map(({ name }) => ({
      name,
      sendResolved: integrations.some((one) => one.receiver === name && one.sendResolved),
    })),
    statusIntervalMs,
    uptimeIntervalMs,
    watchesLocation,
    isWatched: (recordingId: string, locationId: string) => watchesLocation(locationId) && !excluded.has(recordingId),
  };
}

type ReplayInput = { setups: readonly WatchedSetup[]; fleet: FleetToReplay; span: TimeSpan; now: Instant };

/** Replays every history through every configuration, page by page; undefined where there are too many alerts. */
async function replay(io: CommandIo, deps: HistoryDeps, { setups, fleet, span, now }: ReplayInput) {
  const locations = new Map(fleet.locations.map((location) => [location.id, location]));
  const recordings = new Map<string, Recording>();
  const inventory = { recording: (id: string) => recordings.get(id), location: (id: string) => locations.get(id) };
  const backtests = setups.map((setup) => createBacktest({ setup, span, now, inventory }));
  const stopping = new AbortController();
  const signal = AbortSignal.any([deps.signal, stopping.signal]);
  const bar = createBar(io, fleet.recordingIds.length);
  let withHistory = 0;
  try {
    await readHistories({ ...deps, signal }, fleet.recordingIds, daysOf(setups, span, now), (results, asked) => {
      for (const uptime of results) {
        recordings.set(uptime.recording.id, uptime.recording);
        if (uptime.buckets.length > 0) withHistory++;
        if (!backtests.every((backtest) => backtest.add(uptime))) stopping.abort();
      }
      bar?.increment(asked);
    });
  } catch (thrown) {
    if (!stopping.signal.aborted) throw thrown;
  } finally {
    bar?.stop();
  }
  return stopping.signal.aborted ? undefined : { backtests, withHistory };
}

/** The days in any time zone that overlap the span, and those before it that the first uptime ratios need. */
function daysOf(setups: readonly ReplaySetup[], span: TimeSpan, now: Instant): Days {
  const lead = Math.max(...setups.map(({ rules }) => leadMs(rules)));
  return { start: day(span.from - lead - DAY_MS), end: day(Math.min(span.to + DAY_MS, now)) };
}

function createBar({ stderr }: CommandIo, total: number): SingleBar | undefined {
  if ((stderr as Partial<NodeJS.WriteStream>).isTTY !== true || total === 0) return undefined;
  const bar = new SingleBar({
    stream: stderr,
    format: "{bar} {value} of {total} recordings, {eta_formatted} left",
    clearOnComplete: true,
  });
  bar.start(total, 0);
  return bar;
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${stripControls(text)}"`).join(" or ");
}

const day = (at: Instant) => dayOf(at, "utc");
