/** The jobs of the role `poll`: sweeps, inventory, uptime, details, self alerts, external alerts, rerouting. */
import { Schedulers } from "../cluster/schedulers.ts";
import { SweepSlots } from "../cluster/sweep-slots.ts";
import { figuresOf, uptimeRetentionMs } from "../health/uptime.ts";
import { countsConditions } from "../poll/counts-assess.ts";
import { createCountsLookup, createFollowTogether } from "../poll/counts-judge.ts";
import { createCoverage } from "../poll/coverage.ts";
import { createDetailsWork } from "../poll/details.ts";
import { createExternalAlerts } from "../poll/external-alerts.ts";
import { createInventoryJob } from "../poll/inventory.ts";
import { createRefreshCounts } from "../poll/refresh-counts.ts";
import { createRerouting } from "../poll/reroute.ts";
import { createScheduleLookup } from "../poll/schedule-lookup.ts";
import { createSelfAlerts } from "../poll/self-alerts.ts";
import { createSloSamples } from "../poll/slo-samples.ts";
import { createSweep } from "../poll/sweep.ts";
import { createSweepShards } from "../poll/sweep-shards.ts";
import { createRefreshUptime, startUptimeWork } from "../poll/uptime.ts";
import { pacedUptimes } from "../poll/uptime-ask.ts";
import { createBackfillUptime } from "../poll/uptime-backfill.ts";
import type { JobContext } from "./engine.ts";

const SWEEPS_AT_ONCE = 8;
const UPKEEP_AT_ONCE = 2;
const LIST_RETRY_MAX_MS = 60_000;

export class PollJobs {
  readonly inventory: ReturnType<typeof createInventoryJob>;
  readonly schedules: Schedulers;
  readonly slots: SweepSlots;
  readonly externalAlerts: ReturnType<typeof createExternalAlerts>;
  readonly rerouting: ReturnType<typeof createRerouting>;
  readonly #context: JobContext;
  readonly #sweepShards: ReturnType<typeof createSweepShards>;
  readonly #details: ReturnType<typeof createDetailsWork>;
  readonly #counts: ReturnType<typeof createRefreshCounts>;
  readonly #stopping = new AbortController();
  readonly #evaluateSelf: () => Promise<void>;

  constructor(context: JobContext) {
    const { queues, watch, zones, usualEntries, counts, mayCommit, metrics, config } = context;
    this.#context = context;
    const store = guarded(context);
    const { signal } = this.#stopping;
    this.schedules = new Schedulers({
      ...context,
      ...watch,
      ...config.service,
      countsIntervalMs: config.counts.read ? config.counts.intervalMs : undefined,
    });
    this.inventory = createInventoryJob({
      ...context,
      store,
      signal,
      locationDetails: [zones, usualEntries, counts],
      assignedChanged: () => this.#followAssignments(),
    });
    const sweep = sweepOf(context, this.inventory.nameThem);
    const attempted = () => context.attempted(context.clock.now());
    const sweepShards = createSweepShards((shard) => {
      attempted();
      return sweep(shard);
    }, SWEEPS_AT_ONCE);
    // A round that finds every shard being swept already, by a slow sweep, shows as well that rounds go on.
    this.#sweepShards = (shards, isOwn) => {
      attempted();
      return sweepShards(shards, isOwn);
    };
    this.slots = new SweepSlots({ ...context, schedules: this.schedules }, this.#sweepShards);
    this.externalAlerts = createExternalAlerts({
      ...context,
      commitIfActive: store.commit,
      requestEvaluation: () => queues.add("upkeep", { job: "external" }),
    });
    this.rerouting = createRerouting({ ...context, isActive: mayCommit, owed: metrics.resolvedOwed });
    this.#counts = createRefreshCounts({ ...context, signal });
    this.#details = createDetailsWork({
      ...context,
      ...watch,
      store: context.store,
      signal,
      // One may be queued since before the configuration changed.
      refreshCounts: config.counts.read ? this.#counts.refresh : async () => "done",
    });
    const { requestTimeoutMs } = config.service;
    const { read, intervalMs } = config.counts;
    const isAsked = read && context.rules.some(({ when }) => when.kind === "counts_together");
    const together = isAsked
      ? createFollowTogether(context.countVerdicts, countsConditions(context.rules), intervalMs)
      : undefined;
    const sampleSlos = createSloSamples({
      ...context,
      store: context.slos,
      schedules: createScheduleLookup(context.uptime, context.inventory),
    });
    const countsIntervalMs = read && countsConditions(context.rules).length > 0 ? intervalMs : undefined;
    const self = { ...context, ...watch, store, requestTimeoutMs, together, sampleSlos, countsIntervalMs };
    this.#evaluateSelf = createSelfAlerts({ ...self, intervalMs: watch.statusIntervalMs });
  }

  /** `retiring` integrations are about to send the ends they owe; `hadAssignments`: the fleet is known already. */
  async start(retiring: ReadonlySet<string>, hadAssignments: boolean): Promise<void> {
    const { queues, uncounted, config, countVerdicts, replicas } = this.#context;
    if (!config.counts.read) await countVerdicts.forgetAll();
    await this.rerouting.begin(retiring);
    // `watch` may have changed; the inventory's schedule goes on as it was.
    if (hadAssignments) await queues.add("upkeep", { job: "inventory" });
    await queues.work("sweep", SWEEPS_AT_ONCE, ({ data }) => this.#sweepShards([Number(data.shard)]));
    await replicas.share(true);
    await this.#followAssignments();
    const jobs: Record<string, () => Promise<void>> = {
      inventory: () => this.#refreshInventory(),
      fleet: async () => {
        await this.#evaluateSelf();
        await uncounted.settle();
      },
      external: () => this.externalAlerts.evaluate(),
      counts: this.#counts.judge,
    };
    await queues.work("upkeep", UPKEEP_AT_ONCE, async ({ data }) => jobs[String(data.job)]?.());
    await this.#details.start();
    await startUptimeWork(this.#context, figuresOf(this.#context.rules), uptimeOf(this.#context));
  }

  /** The others sweep from now on. */
  stop(): void {
    this.#stopping.abort();
    this.slots.stop();
    void this.#context.replicas.share(false).catch(() => {});
  }

  async #followAssignments(): Promise<void> {
    const attempts = await this.#context.shards.attempts();
    // Sweeps that are overdue begin at once: a large fleet has thousands of schedulers.
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

function sweepOf(context: JobContext, nameThem: PollJobs["inventory"]["nameThem"]) {
  const { uptime, inventory, metrics, attempted, coverage } = context;
  const { read, intervalMs } = context.config.counts;
  const isAsked = read && context.rules.some(({ when }) => when.kind === "counts");
  const noteCoverage = createCoverage({ ...context, store: coverage });
  return createSweep({
    ...context,
    store: guarded(context),
    nameThem,
    followCounts: isAsked ? createCountsLookup(context.countVerdicts, intervalMs) : undefined,
    schedules: createScheduleLookup(uptime, inventory),
    swept(outcome, seconds, now) {
      attempted(now);
      if (outcome !== "ok") return;
      metrics.sweepFinished(seconds, now);
      noteCoverage(now);
    },
  });
}

function uptimeOf(context: JobContext) {
  const { shards, config, rules } = context;
  const [figures, retainMs] = [figuresOf(rules), uptimeRetentionMs(rules)];
  const indexTimezone = config.service.uptimeIndexTimezone;
  const service = pacedUptimes(context.service);
  const deps = { ...context, service, store: shards, figures, retainMs, indexTimezone };
  return { refresh: createRefreshUptime(deps), backfill: createBackfillUptime(deps) };
}
