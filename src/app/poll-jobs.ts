/** The jobs of the role `poll`: sweeps, inventory, uptime, details, self alerts, external alerts, rerouting. */
import type { Round, SlotJob } from "../cluster/schedulers.ts";
import { Schedulers } from "../cluster/schedulers.ts";
import { SlotJobs } from "../cluster/slot-jobs.ts";
import { figuresOf, uptimeRetentionMs } from "../health/uptime.ts";
import { HOUR_MS } from "../lib/clock.ts";
import { keptFor } from "../lib/kept.ts";
import { SLOW_AT_ONCE } from "../poll/ask-slowly.ts";
import { countsConditions } from "../poll/counts-assess.ts";
import { createCountsLookup, createFollowTogether } from "../poll/counts-judge.ts";
import { createCoverage } from "../poll/coverage.ts";
import { createRefreshDetails } from "../poll/details.ts";
import { createExternalAlerts } from "../poll/external-alerts.ts";
import { createInventoryJob } from "../poll/inventory.ts";
import { createRefreshCounts } from "../poll/refresh-counts.ts";
import { createRerouting } from "../poll/reroute.ts";
import { createRound, createTurns, createUptimeRound } from "../poll/rounds.ts";
import { createScheduleLookup } from "../poll/schedule-lookup.ts";
import { createSelfAlerts } from "../poll/self-alerts.ts";
import { createSweep } from "../poll/sweep.ts";
import { createRefreshUptime } from "../poll/uptime.ts";
import { pacedUptimes } from "../poll/uptime-ask.ts";
import { createBackfillUptime } from "../poll/uptime-backfill.ts";
import type { JobContext } from "./job-context.ts";

const SWEEPS_AT_ONCE = 8;
const UPKEEP_AT_ONCE = 2;
const LIST_RETRY_MAX_MS = 60_000;

export class PollJobs {
  readonly inventory: ReturnType<typeof createInventoryJob>;
  readonly schedules: Schedulers;
  readonly slots: SlotJobs;
  readonly externalAlerts: ReturnType<typeof createExternalAlerts>;
  readonly rerouting: ReturnType<typeof createRerouting>;
  readonly #context: JobContext;
  readonly #sweep: Round;
  readonly #counts: ReturnType<typeof createRefreshCounts>;
  readonly #stopping = new AbortController();
  readonly #evaluateSelf: () => Promise<void>;

  constructor(context: JobContext) {
    const { queues, watch, zones, usualEntries, counts, mayCommit, metrics, config } = context;
    this.#context = context;
    const store = guarded(context);
    this.inventory = createInventoryJob({
      ...context,
      store,
      signal: this.#stopping.signal,
      locationDetails: [zones, usualEntries, counts],
      assignedChanged: () => this.#followAssignments(),
    });
    this.#sweep = sweepRound(context, this.inventory.nameThem);
    this.#counts = createRefreshCounts(context);
    const slotJobs = slotJobsOf(context, this.#counts.refresh);
    this.schedules = new Schedulers({ ...context, ...watch, ...config.service, slotJobs });
    this.slots = new SlotJobs({
      ...context,
      store: context.shards,
      schedules: this.schedules,
      sweep: this.#sweep,
      slotJobs,
    });
    this.externalAlerts = createExternalAlerts({
      ...context,
      commitIfActive: store.commit,
      requestEvaluation: () => queues.add("upkeep", { job: "external" }),
    });
    this.rerouting = createRerouting({ ...context, isActive: mayCommit, owed: metrics.resolvedOwed });
    const { read, intervalMs } = config.counts;
    const isAsked = read && context.rules.some(({ when }) => when.kind === "counts_together");
    const together = isAsked
      ? createFollowTogether(context.countVerdicts, countsConditions(context.rules), intervalMs)
      : undefined;
    this.#evaluateSelf = createSelfAlerts({ ...context, ...context.intervals, store, together });
  }

  /** `retiring` integrations are about to send the ends they owe; `hadAssignments`: the fleet is known already. */
  async start(retiring: ReadonlySet<string>, hadAssignments: boolean): Promise<void> {
    const { queues, uncounted, config, countVerdicts, replicas, store, clock } = this.#context;
    if (!config.counts.read) await countVerdicts.forgetAll();
    await this.rerouting.begin(retiring);
    // `watch` may have changed; the inventory's schedule goes on as it was.
    if (hadAssignments) await queues.add("upkeep", { job: "inventory" });
    const { signal } = this.#stopping;
    await queues.work("sweep", SWEEPS_AT_ONCE, ({ data }) => this.#sweep([Number(data.shard)], signal));
    await replicas.share(true);
    await this.#followAssignments();
    const pruneLog = keptFor(HOUR_MS, store.log.prune);
    const collect = keptFor(HOUR_MS, store.groups.collect);
    const jobs: Record<string, () => Promise<void>> = {
      inventory: () => this.#refreshInventory(),
      fleet: async () => {
        await this.#evaluateSelf();
        await uncounted.settle();
        await pruneLog(clock.now());
        await collect(clock.now());
      },
      external: () => this.externalAlerts.evaluate(),
      counts: this.#counts.judge,
    };
    await queues.work("upkeep", UPKEEP_AT_ONCE, async ({ data }) => jobs[String(data.job)]?.());
  }

  /** The others sweep from now on; resolves when the rounds under way have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    void this.#context.replicas.share(false).catch(() => {});
    await this.slots.stop();
  }

  async #followAssignments(): Promise<void> {
    const attempts = await this.#context.shards.attempts();
    // Sweeps that are overdue begin before schedulers are asserted.
    await this.slots.follow(attempts);
    await this.schedules.assert(attempts);
  }

  /** A list that failed or was disbelieved is asked for again soon: an alert depends on it. */
  async #refreshInventory(): Promise<void> {
    if (await this.inventory.refresh()) return;
    const { clock, queues, statusIntervalMs } = this.#context;
    const delayMs = Math.min(LIST_RETRY_MAX_MS, statusIntervalMs);
    const id = `inventory-${Math.ceil(clock.now() / delayMs)}`;
    await queues.add("upkeep", { job: "inventory" }, { id, delayMs });
  }
}

/** Shards, where no evaluation is written unless this configuration is active. */
function guarded({ shards, mayCommit }: JobContext): JobContext["shards"] {
  return {
    ...shards,
    commit: async (input) => ((await mayCommit()) ? shards.commit(input) : { outcome: "lost" }),
    commitShard: async (shard, input) => ((await mayCommit()) ? shards.commitShard(shard, input) : { outcome: "lost" }),
  };
}

function sweepRound(context: JobContext, nameThem: PollJobs["inventory"]["nameThem"]): Round {
  const { uptime, inventory, metrics, attempted, coverage, clock } = context;
  const { read, intervalMs } = context.config.counts;
  const isAsked = read && context.rules.some(({ when }) => when.kind === "counts");
  const noteCoverage = createCoverage({ ...context, store: coverage });
  const sweep = createSweep({
    ...context,
    store: guarded(context),
    nameThem,
    followCounts: isAsked ? createCountsLookup(context.countVerdicts, intervalMs) : undefined,
    schedules: createScheduleLookup(uptime, inventory),
    swept(outcome, seconds, now) {
      attempted(now);
      if (outcome !== "ok") return;
      metrics.sweepFinished(seconds);
      noteCoverage(now);
    },
  });
  const round = createRound((shard) => {
    attempted(clock.now());
    return sweep(shard);
  }, createTurns(SWEEPS_AT_ONCE));
  return (shards, signal) => {
    // A round that finds every shard being swept already, by a slow sweep, shows as well that rounds go on.
    attempted(clock.now());
    return round(shards, signal);
  };
}

/** The work for shards beside sweeping them. */
function slotJobsOf(context: JobContext, refreshCounts: ReturnType<typeof createRefreshCounts>["refresh"]): SlotJob[] {
  const { watch, config, uptime, rules } = context;
  const inTurn = createTurns(SLOW_AT_ONCE);
  const details = createRefreshDetails({ ...context, ...watch });
  const kinds = figuresOf(rules).map(({ key }) => key);
  const everyMs = watch.inventoryIntervalMs;
  const ofZones = { everyMs, round: createRound(details.refresh, inTurn), retryMs: details.retryMs };
  const ofCounts = { everyMs: config.counts.intervalMs, round: createRound(refreshCounts, inTurn) };
  return [
    {
      name: "uptime",
      everyMs: watch.uptimeIntervalMs,
      round: uptimeRound(context),
      lacking: (shards) => uptime.lackingFigures(shards, kinds),
    },
    { name: "details", ...ofZones },
    // Without zones, recordings would wait for the next reading.
    ...(config.counts.read ? [{ name: "counts", after: "details", ...ofCounts } as const] : []),
  ];
}

function uptimeRound(context: JobContext): Round {
  const { shards, config, rules } = context;
  const [figures, retainMs] = [figuresOf(rules), uptimeRetentionMs(rules)];
  const indexTimezone = config.service.uptimeIndexTimezone;
  const service = pacedUptimes(context.service);
  const deps = { ...context, service, store: shards, figures, retainMs, indexTimezone };
  return createUptimeRound(createRefreshUptime(deps), createBackfillUptime(deps));
}
