/** The jobs of the role `poll`: sweeps, inventory, uptime, details, self alerts, external alerts, rerouting. */
import { Schedulers } from "../cluster/schedulers.ts";
import { uptimeRetentionMs } from "../health/uptime.ts";
import { createCoverage } from "../poll/coverage.ts";
import { createDetailsWork } from "../poll/details.ts";
import { createExternalAlerts, type ExternalAlerts } from "../poll/external-alerts.ts";
import { createInventoryJob } from "../poll/inventory.ts";
import { createRerouting, type Rerouting } from "../poll/reroute.ts";
import { createScheduleLookup } from "../poll/schedule-lookup.ts";
import { createSelfAlerts } from "../poll/self-alerts.ts";
import { createSweep } from "../poll/sweep.ts";
import { createRefreshUptime, startUptimeWork, windowsOf } from "../poll/uptime.ts";
import type { Store } from "../store/store.ts";
import type { JobContext } from "./engine.ts";

const SWEEPS_AT_ONCE = 8;
const UPKEEP_AT_ONCE = 2;
const LIST_RETRY_MAX_MS = 60_000;

type Shards = Store["shards"];

export class PollJobs {
  readonly inventory: ReturnType<typeof createInventoryJob>;
  readonly schedules: Schedulers;
  readonly externalAlerts: ExternalAlerts;
  readonly rerouting: Rerouting;
  readonly #context: JobContext;
  readonly #shards: Shards;
  readonly #details: ReturnType<typeof createDetailsWork>;

  constructor(context: JobContext) {
    const { clock, queues, assigned, watch, store } = context;
    this.#context = context;
    this.#shards = guarded(store.shards, context.mayCommit);
    this.schedules = new Schedulers({ clock, queues, assigned, ...watch });
    this.inventory = createInventoryJob({
      ...context,
      assignments: store.assignments,
      inventory: store.inventory,
      store: store.shards,
      locationDetails: [store.zones, store.usualEntries],
      assignedChanged: () => this.schedules.assert(),
    });
    this.externalAlerts = externalAlertsOf(context, this.#shards);
    this.rerouting = reroutingOf(context);
    this.#details = createDetailsWork({ ...context, ...watch });
  }

  /** `retiring` integrations are about to send the ends they owe; `hadAssignments`: the fleet is known already. */
  async start(retiring: ReadonlySet<string>, hadAssignments: boolean): Promise<void> {
    const { queues, attempted, clock, assigned, watch } = this.#context;
    await this.rerouting.begin(retiring);
    await this.schedules.assert();
    // `watch` may have changed; the inventory's schedule goes on as it was.
    if (hadAssignments) await queues.add("upkeep", { job: "inventory" });
    const sweep = sweepOf(this.#context, this.#shards, this.inventory);
    await queues.work("sweep", SWEEPS_AT_ONCE, ({ data }) => {
      attempted(clock.now());
      return sweep(Number(data.shard));
    });
    const jobs = this.#upkeepJobs();
    await queues.work("upkeep", UPKEEP_AT_ONCE, async ({ data }) => jobs[String(data.job)]?.());
    await this.#details.start();
    const refresh = uptimeOf(this.#context);
    await startUptimeWork({ queues, assigned, ...watch, refresh });
  }

  stop(): void {
    this.#details.stop();
  }

  #upkeepJobs(): Record<string, () => Promise<void>> {
    return {
      inventory: async () => {
        if (!(await this.inventory.refresh())) await this.#retryInventory();
      },
      fleet: selfAlertsOf(this.#context, this.#shards),
      external: () => this.externalAlerts.evaluate(),
    };
  }

  /** A list that failed or was disbelieved is asked for again soon: an alert depends on it. */
  async #retryInventory(): Promise<void> {
    const { clock, queues, statusIntervalMs } = this.#context;
    const delayMs = Math.min(LIST_RETRY_MAX_MS, statusIntervalMs);
    const id = `inventory-${Math.ceil(clock.now() / delayMs)}`;
    await queues.add("upkeep", { job: "inventory" }, { id, delayMs });
  }
}

/** Writes no evaluation unless this configuration is active. */
function guarded(shards: Shards, mayCommit: () => Promise<boolean>): Shards {
  return {
    ...shards,
    commit: async (input) => ((await mayCommit()) ? shards.commit(input) : { outcome: "lost" }),
    commitShard: async (shard, input) => ((await mayCommit()) ? shards.commitShard(shard, input) : { outcome: "lost" }),
  };
}

function sweepOf(context: JobContext, shards: Shards, { nameThem }: PollJobs["inventory"]) {
  const { log, store, watch, metrics, attempted } = context;
  const noteCoverage = createCoverage({ log, store: store.coverage, ...watch });
  return createSweep({
    ...context,
    store: shards,
    inventory: store.inventory,
    nameThem,
    uptime: store.uptime,
    schedules: createScheduleLookup(store.uptime, store.inventory),
    swept(outcome, seconds, now) {
      attempted(now);
      if (outcome !== "ok") return;
      metrics.sweepFinished(seconds, now);
      noteCoverage(now);
    },
  });
}

function selfAlertsOf(context: JobContext, shards: Shards): () => Promise<void> {
  const { config, watch } = context;
  const { groups, selfAlerts } = context.store;
  const { requestTimeoutMs } = config.service;
  const intervals = { ...watch, intervalMs: watch.statusIntervalMs };
  return createSelfAlerts({ ...context, ...intervals, requestTimeoutMs, store: shards, groups, selfAlerts });
}

function externalAlertsOf(context: JobContext, shards: Shards): ExternalAlerts {
  return createExternalAlerts({
    ...context,
    commitIfActive: shards.commit,
    requestEvaluation: () => context.queues.add("upkeep", { job: "external" }),
  });
}

function uptimeOf(context: JobContext): (shard: number) => Promise<boolean> {
  const { store, config, rules } = context;
  return createRefreshUptime({
    ...context,
    store: store.shards,
    uptime: store.uptime,
    inventory: store.inventory,
    windowsMs: windowsOf(rules),
    retainMs: uptimeRetentionMs(rules),
    indexTimezone: config.service.uptimeIndexTimezone,
  });
}

function reroutingOf(context: JobContext): Rerouting {
  return createRerouting({ ...context, isActive: context.mayCommit, owed: context.metrics.resolvedOwed });
}
