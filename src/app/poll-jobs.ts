/** The jobs of the role `poll`: sweeps, inventory, uptime, details, self alerts, external alerts, rerouting. */
import { type Attempts, type FleetJob, OwnTicks, type ShardJob } from "../cluster/own-ticks.ts";
import { longestGapMs } from "../health/rhythm.ts";
import { figuresOf, uptimeRetentionMs } from "../health/uptime.ts";
import { HOUR_MS, MINUTE_MS } from "../lib/clock.ts";
import { keptFor } from "../lib/kept.ts";
import { oneAtATime } from "../lib/one-at-a-time.ts";
import { SLOW_AT_ONCE } from "../poll/ask-slowly.ts";
import { countsConditions } from "../poll/counts-assess.ts";
import { createCountsLookup, createFollowTogether } from "../poll/counts-judge.ts";
import { createRefreshDetails } from "../poll/details.ts";
import { createExternalAlerts } from "../poll/external-alerts.ts";
import { createInventoryJob } from "../poll/inventory.ts";
import { inventoryJob, shardJob } from "../poll/needs.ts";
import { createRefreshCounts } from "../poll/refresh-counts.ts";
import { createRerouting } from "../poll/reroute.ts";
import { bounded, createShardTurns, DEADLINE_MS, SLOW_DEADLINE_MS } from "../poll/rounds.ts";
import { createScheduleLookup } from "../poll/schedule-lookup.ts";
import { createSelfAlerts } from "../poll/self-alerts.ts";
import { createSweep } from "../poll/sweep.ts";
import { createRefreshUptime } from "../poll/uptime.ts";
import { pacedUptimes } from "../poll/uptime-ask.ts";
import type { JobContext } from "./job-context.ts";

const SWEEPS_AT_ONCE = 8;
const UPTIMES_AT_ONCE = 3;
const ZONES_RETRY_MS = 10 * MINUTE_MS;

export class PollJobs {
  readonly externalAlerts: ReturnType<typeof createExternalAlerts>;
  readonly rerouting: ReturnType<typeof createRerouting>;
  /** Evaluates external alerts where the configuration is active, one at a time. */
  readonly evaluateExternal: () => Promise<void>;
  readonly #context: JobContext;
  readonly #stopping = new AbortController();
  readonly #sweep: ReturnType<typeof sweepJob>;
  /** Shards whose stored figures lack one that rules need now, or those of recordings that moved there. */
  readonly #lacking = new Set<number>();
  readonly #ticks: OwnTicks;

  constructor(context: JobContext) {
    const { zones, usualEntries, counts, mayCommit, metrics, config, assigned } = context;
    this.#context = context;
    const store = guarded(context);
    const inventory = createInventoryJob({
      ...context,
      store,
      signal: this.#stopping.signal,
      locationDetails: [zones, usualEntries, counts],
      assignedChanged: () => this.#followNow(),
    });
    const readCounts = createRefreshCounts(context);
    this.#sweep = sweepJob(context, inventory.nameThem, (shard) => this.#lacking.add(shard));
    this.#ticks = new OwnTicks({
      ...context,
      ...config.service,
      sweep: this.#sweep.job,
      shardJobs: [uptimeJob(context, this.#lacking), ...slowJobs(context, readCounts.refresh)],
      fleetJobs: [
        inventoryJob({ ...context, ...inventory, isEmpty: () => assigned.shards().length === 0 }),
        fleetJob(context, readCounts.judgeWhenRead),
      ],
    });
    this.externalAlerts = createExternalAlerts({
      ...context,
      commitIfActive: store.commit,
      requestEvaluation: () => void this.evaluateExternal().catch(() => {}),
    });
    this.evaluateExternal = oneAtATime(async () => {
      if (mayCommit()) await this.externalAlerts.evaluate();
    });
    this.rerouting = createRerouting({ ...context, owed: metrics.resolvedOwed });
  }

  /** `retiring` integrations are about to send the ends they owe. */
  async start(retiring: ReadonlySet<string>): Promise<void> {
    const { config, countVerdicts, replicas, uptime, assigned, rules } = this.#context;
    if (!config.counts.read) await countVerdicts.forgetAll();
    await this.rerouting.begin(retiring);
    const kinds = figuresOf(rules).map(({ key }) => key);
    for (const shard of await uptime.lackingFigures(assigned.shards(), kinds)) this.#lacking.add(shard);
    await replicas.share(true);
    await this.#followNow();
  }

  /** Takes the shards of this replica, and leaves the others. */
  follow(attempts: Attempts): void {
    this.#sweep.noteUnderWay();
    this.#ticks.follow(attempts);
  }

  /** The others sweep from now on; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    void this.#context.replicas.share(false).catch(() => {});
    await this.#ticks.stop();
  }

  async #followNow(): Promise<void> {
    this.#ticks.follow(await this.#context.shards.attempts());
  }
}

/** Self alerts, and what is judged or tidied up for the fleet. */
function fleetJob(context: JobContext, judgeCounts: (now: number) => Promise<void>): FleetJob {
  const { config, rules, countVerdicts, statusIntervalMs, uncounted, store, clock, coverage } = context;
  const { read, intervalMs } = config.counts;
  const isAsked = read && rules.some(({ when }) => when.kind === "counts_together");
  const together = isAsked ? createFollowTogether(countVerdicts, countsConditions(rules), intervalMs) : undefined;
  const evaluateSelf = createSelfAlerts({ ...context, ...context.intervals, store: guarded(context), together });
  // Time this far apart still counts as one span: a restart, a slow service.
  const gapMs = MINUTE_MS + longestGapMs(statusIntervalMs);
  const noteCoverage = keptFor(MINUTE_MS, (now) => coverage.note(now, gapMs));
  const pruneLog = keptFor(HOUR_MS, store.log.prune);
  const collect = keptFor(HOUR_MS, store.groups.collect);
  return {
    name: "fleet",
    everyMs: statusIntervalMs,
    run: bounded(DEADLINE_MS, async () => {
      const evidence = await evaluateSelf();
      if (evidence === "in_time" || evidence === "partly") await noteCoverage(clock.now());
      await uncounted.settle();
      if (read) await judgeCounts(clock.now());
      await pruneLog(clock.now());
      await collect(clock.now());
    }),
  };
}

/** Shards, where no evaluation is written unless this configuration is active. */
function guarded({ shards, mayCommit, checkActive }: JobContext): JobContext["shards"] {
  return {
    ...shards,
    commit: async (input) =>
      mayCommit() ? shards.commit({ ...input, only: checkActive("poll") }) : { outcome: "lost" },
    commitShard: async (shard, input) =>
      mayCommit() ? shards.commitShard(shard, { ...input, only: checkActive("poll") }) : { outcome: "lost" },
  };
}

function sweepJob(
  context: JobContext,
  nameThem: ReturnType<typeof createInventoryJob>["nameThem"],
  moved: (shard: number) => void,
) {
  const { uptime, inventory, metrics, attempted, clock, statusIntervalMs } = context;
  const { read, intervalMs } = context.config.counts;
  const isAsked = read && context.rules.some(({ when }) => when.kind === "counts");
  const sweep = createSweep({
    ...context,
    store: guarded(context),
    nameThem,
    moved,
    followCounts: isAsked ? createCountsLookup(context.countVerdicts, intervalMs) : undefined,
    schedules: createScheduleLookup(uptime, inventory),
    swept(outcome, seconds, now) {
      attempted(now);
      if (outcome === "ok") metrics.sweepFinished(seconds);
    },
  });
  const inTurn = createShardTurns(SWEEPS_AT_ONCE, DEADLINE_MS);
  let underWay = 0;
  const run = inTurn(async (shard) => {
    attempted(clock.now());
    underWay++;
    await sweep(shard).finally(() => underWay--);
  });
  return {
    job: { name: "shard", everyMs: statusIntervalMs, run },
    /** A slow sweep is an attempt as long as it is under way. */
    noteUnderWay: () => underWay > 0 && attempted(clock.now()),
  };
}

/** The work for shards beside sweeping them. */
function slowJobs(context: JobContext, refreshCounts: ReturnType<typeof createRefreshCounts>["refresh"]): ShardJob[] {
  const { watch, config } = context;
  const inTurn = createShardTurns(SLOW_AT_ONCE, SLOW_DEADLINE_MS);
  const refreshZones = inTurn(createRefreshDetails({ ...context, ...watch }));
  const everyMs = watch.inventoryIntervalMs;
  const zones = shardJob({ name: "details", everyMs, retryMs: ZONES_RETRY_MS, run: refreshZones });
  if (!config.counts.read) return [zones];
  // Without zones, recordings would wait for the next reading.
  const { intervalMs } = config.counts;
  return [zones, shardJob({ name: "counts", everyMs: intervalMs, after: "details", run: inTurn(refreshCounts) })];
}

/** The shards in `lacking` are refreshed at once, and taken out of it then. */
function uptimeJob(context: JobContext, lacking: Set<number>): ShardJob {
  const { shards, config, rules, watch } = context;
  const [figures, retainMs] = [figuresOf(rules), uptimeRetentionMs(rules)];
  const indexTimezone = config.service.uptimeIndexTimezone;
  const service = pacedUptimes(context.service);
  const refresh = createRefreshUptime({ ...context, service, store: shards, figures, retainMs, indexTimezone });
  const inTurn = createShardTurns(UPTIMES_AT_ONCE, SLOW_DEADLINE_MS);
  return shardJob({
    ...{ name: "uptime", everyMs: watch.uptimeIntervalMs },
    isLacking: (shard) => lacking.has(shard),
    run: inTurn(async (shard, signal) => {
      lacking.delete(shard);
      await refresh(shard, signal);
    }),
  });
}
