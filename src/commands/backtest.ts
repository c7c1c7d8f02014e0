/** `backtest`: replays past uptime through the rules, to choose thresholds on evidence. */

import { setImmediate } from "node:timers/promises";
import { Command, InvalidArgumentError } from "commander";
import { createBacktest, leadMs } from "../backtest/backtest.ts";
import { replayCounts } from "../backtest/counts.ts";
import { planOf, type TimeSpan } from "../backtest/setup.ts";
import type { Config } from "../config/config.ts";
import { configFile, loadConfig } from "../config/load.ts";
import type { Rule } from "../health/model.ts";
import type { Location, Recording, RecordingUptime } from "../health/recording.ts";
import { labelsOfLocation } from "../health/recording-evaluator.ts";
import { unrecordedIn } from "../health/uptime.ts";
import { type Clock, DAY_MS, HOUR_MS, type Instant, systemClock } from "../lib/clock.ts";
import { count } from "../lib/format.ts";
import type { Interval } from "../lib/intervals.ts";
import { silentLogger } from "../lib/log.ts";
import { PAST_EXAMPLES } from "../lib/moment.ts";
import { stripControls } from "../lib/text.ts";
import { dayOf } from "../lib/when.ts";
import { closedAt } from "../poll/counts-assess.ts";
import { HOURS_KEPT } from "../poll/counts-plan.ts";
import { createService, type Days } from "../service/service.ts";
import {
  type CountedFleet,
  type CountsDeps,
  leastRequests,
  MOST_REQUESTS,
  planCountsHistory,
} from "./backtest/counts.ts";
import { type FleetToReplay, findFleet, type HistoryDeps, readHistories } from "./backtest/history.ts";
import { type BacktestReport, renderBacktest } from "./backtest/print.ts";
import {
  type CommandIo,
  configOption,
  fail,
  gather,
  outputOption,
  type PastIn,
  pastOption,
  withExample,
} from "./cli/command.ts";
import { createProgress } from "./cli/progress.ts";
import { tableTarget } from "./cli/table.ts";

interface BacktestOptions {
  readonly from: PastIn;
  readonly to?: PastIn;
  readonly config?: string;
  readonly location?: readonly string[];
  /** Sensitivities to try; false: rules about counts are left out. */
  readonly counts?: readonly number[] | false;
  readonly output: "table" | "json" | "csv";
}

/** Exit code 1 for too many alerts, 2 for invalid days or an unknown location. Throws ServiceError or ConfigError. */
export function backtestCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("backtest")
    .description("Replay past uptime through the configured rules.")
    .addOption(
      pastOption(
        "--from <day>",
        `the first day in UTC (required): ${PAST_EXAMPLES}`,
        clock.now(),
      ).makeOptionMandatory(),
    )
    .addOption(pastOption("--to <day>", "the last day, included (default: yesterday)", clock.now()))
    .addOption(configOption())
    .option("--location <id or name>", "only this location; may be repeated", gather)
    .option(
      "--counts <sensitivity>",
      "also try rules about counts with this sensitivity; may be repeated",
      gatherVisits,
    )
    .option("--no-counts", "leave out rules about counts, which take thousands of requests")
    .addOption(outputOption("table", "csv"));
  const example = "lenswatch backtest --from 2026-09-01 --to 2026-10-31 --config calmer.yaml";
  return withExample(command, example).action(async (options: BacktestOptions) => {
    try {
      await run(io, clock, options);
    } catch (thrown) {
      io.signal.throwIfAborted();
      throw thrown;
    }
  });
}

/** Each sensitivity once. */
export function gatherVisits(text: string, before: unknown): readonly number[] {
  const visits = Number(text);
  if (!Number.isInteger(visits) || visits < 1 || visits > 10_000)
    throw new InvalidArgumentError("It must be a number of visits from 1 to 10000.");
  return [...new Set([...(Array.isArray(before) ? before : []), visits])];
}

async function run(io: CommandIo, clock: Clock, options: BacktestOptions): Promise<void> {
  const now = clock.now();
  const { location: asked = [], counts: tried } = options;
  const from = utcMidnight(options.from("utc").start);
  const to = utcMidnight(options.to?.("utc").start ?? now - DAY_MS);
  const problem = problemWith(from, to, now);
  if (problem) return fail(io, 2, problem);
  const file = configFile(options.config, io.env);
  const config = await loadConfig(file, io.env);
  const setup = toSetup(config, Array.isArray(tried) ? tried : []);
  const span: TimeSpan = { from, to: Math.min(to + DAY_MS, now) };
  const service = createService({ config: config.service, log: silentLogger, clock });
  try {
    const deps: HistoryDeps = { service, signal: io.signal };
    const fleet = await findFleet(deps, wantedBy(setup, asked), config.watch.locationsPerRequest);
    if (fleet.locations.length === 0 && asked.length > 0)
      return fail(io, 2, `no watched location has the id or name ${quoted(asked)}; see \`lenswatch status\``);
    const { locationsPerRequest } = config.watch;
    const hasCounts = tried !== false && planOf(setup.rules).counts.length > 0;
    const requests = hasCounts ? leastRequests(fleet.locations.length, span, locationsPerRequest) : 0;
    if (requests > MOST_REQUESTS) return fail(io, 2, tooManyRequests(requests));
    const read = await replay(io, deps, { setup, fleet, span, now, leadMs: hasCounts ? HOURS_KEPT * HOUR_MS : 0 });
    if (!read) return fail(io, 1, TOO_MANY);
    const { locations } = fleet;
    const counts = hasCounts
      ? await addCounts(io, { ...deps, service }, { setup, span }, { ...read, locations, span, locationsPerRequest })
      : undefined;
    const report: BacktestReport = {
      span,
      locations: fleet.locations.length,
      recordings: fleet.recordingIds.length,
      withoutHistory: fleet.recordingIds.length - read.withHistory,
      file,
      plan: read.backtest.plan,
      counted: read.backtest.result(),
      counts,
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

function tooManyRequests(requests: number): string {
  const [many, most] = [requests, MOST_REQUESTS].map(count);
  return `reading the counts takes at least ${many} requests, ${most} at most are made; give fewer days, a --location, or --no-counts`;
}

type WatchedSetup = ReturnType<typeof toSetup>;

/** Watched, and selected by `--location` where given. */
function wantedBy(setup: WatchedSetup, asked: readonly string[]): (location: Location) => boolean {
  return ({ id, name }) =>
    setup.watchesLocation(id) && (asked.length === 0 || asked.some((one) => one === id || one === name));
}

/** With rules for the sensitivities to try. */
function toSetup(config: Config, tried: readonly number[]) {
  const { locations, exclude, statusIntervalMs, uptimeIntervalMs } = config.watch;
  const listed = locations === "all" ? undefined : new Set(locations);
  const excluded = new Set(exclude);
  const watchesLocation = (id: string) => (listed?.has(id) ?? true) && !excluded.has(id);
  return {
    rules: [...config.rules, ...tried.map(triedRule)],
    closedDays: config.counts.closedDays,
    statusIntervalMs,
    uptimeIntervalMs,
    watchesLocation,
    isWatched: (recordingId: string, locationId: string) => watchesLocation(locationId) && !excluded.has(recordingId),
  };
}

function triedRule(sensitivity: number): Rule {
  return {
    id: `tried ${sensitivity}`,
    alert: "CountsImplausible",
    when: { kind: "counts", sensitivity },
    ...{ forMs: 0, keepFiringForMs: 0, respectSchedule: true, labels: {}, annotations: {} },
  };
}

type ReplayInput = { setup: WatchedSetup; fleet: FleetToReplay; span: TimeSpan; now: Instant; leadMs: number };

/** Replays every history, page by page; undefined where there are too many alerts. */
async function replay(io: CommandIo, deps: HistoryDeps, { setup, fleet, span, now, leadMs }: ReplayInput) {
  const locations = new Map(fleet.locations.map((location) => [location.id, location]));
  const recordings = new Map<string, Recording>();
  const outages = new Map<string, readonly Interval[]>();
  const inventory = { recording: (id: string) => recordings.get(id), location: (id: string) => locations.get(id) };
  const backtest = createBacktest({ setup, span, now, inventory });
  const stopping = new AbortController();
  const signal = AbortSignal.any([deps.signal, stopping.signal]);
  const total = fleet.recordingIds.length;
  const bar = total > 0 ? createProgress(io, "recordings", total) : undefined;
  let withHistory = 0;
  const take = (results: readonly RecordingUptime[], asked: number) => {
    for (const uptime of results) {
      recordings.set(uptime.recording.id, uptime.recording);
      if (uptime.buckets.length > 0) withHistory++;
      if (leadMs > 0) outages.set(uptime.recording.id, unrecordedIn(uptime.buckets, now));
      if (!backtest.add(uptime)) stopping.abort();
    }
    bar?.increment(asked);
  };
  try {
    await readHistories({ ...deps, signal }, fleet.recordingIds, daysOf(setup, span, now, leadMs), take);
  } catch (thrown) {
    if (!stopping.signal.aborted) throw thrown;
  } finally {
    bar?.stop();
  }
  return stopping.signal.aborted ? undefined : { backtest, withHistory, inventory, recordings, outages };
}

/** Reads what was counted, and adds what the rules about counts would have said. */
async function addCounts(
  io: CommandIo,
  deps: CountsDeps,
  { setup, span }: Pick<ReplayInput, "setup" | "span">,
  { backtest, inventory, ...fleet }: NonNullable<Awaited<ReturnType<typeof replay>>> & CountedFleet,
): Promise<BacktestReport["counts"]> {
  const { cost: requests, sites, read } = await planCountsHistory(deps, fleet);
  io.stderr.write(`Reading counts in ${count(requests)} requests.\n`);
  const bar = createProgress(io, "requests", requests);
  const refused = await read((cost) => bar?.increment(cost)).finally(() => bar?.stop());
  const watched = sites.map((site) => ({
    ...site,
    recordings: site.recordings.filter((one) => setup.isWatched(one.recordingId, site.locationId)),
  }));
  const replay = replayCounts({
    ...{ setup, plan: planOf(setup.rules), sites: watched, span, inventory },
    isClosed: (site, hours) => closedAt(site, labelsOfLocation(site.locationId, inventory), setup.closedDays, hours),
  });
  let step = replay.next();
  for (; !step.done; step = replay.next()) await setImmediate(undefined, { signal: deps.signal });
  backtest.keep(step.value);
  return { requests, refused: [...refused] };
}

/** The days in any time zone that overlap the span, and those before it that the first uptime ratios need. */
function daysOf({ rules }: WatchedSetup, span: TimeSpan, now: Instant, least: number): Days {
  const lead = Math.max(least, leadMs(rules));
  return { start: day(span.from - lead - DAY_MS), end: day(Math.min(span.to + DAY_MS, now)) };
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${stripControls(text)}"`).join(" or ");
}

const day = (at: Instant) => dayOf(at, "utc");
const utcMidnight = (at: Instant) => at - (at % DAY_MS);
