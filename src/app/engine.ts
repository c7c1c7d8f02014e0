/**
 * The jobs of a running lenswatch, wired: who sweeps, who delivers, what is scheduled, and the fleet as it is now
 * for those who show it. Everything that does I/O is handed in.
 */
import type { ExternalAlertState } from "../alerting/external-alerts.ts";
import type { Integration } from "../alerting/route.ts";
import { countJobs } from "../cluster/queue-metrics.ts";
import { queueNames } from "../cluster/queues.ts";
import { createReconcile, createWake } from "../cluster/reconcile.ts";
import { createReconcileLoop } from "../cluster/reconcile-loop.ts";
import type { Role } from "../cluster/replicas.ts";
import { createSchedules } from "../cluster/schedulers.ts";
import { createAssigned } from "../cluster/shard-assignment.ts";
import type { SuppressibleAlert } from "../deliver/suppression.ts";
import { createSuppressionChanges, type SuppressionChanges } from "../deliver/suppression-changes.ts";
import { createDigestSchedule } from "../digest/schedule.ts";
import type { FleetSnapshot } from "../health/shard-state.ts";
import { uptimeRetentionMs } from "../health/uptime.ts";
import { createCommit } from "../poll/commit.ts";
import { createCoverage } from "../poll/coverage.ts";
import { createDetailsWork } from "../poll/details-worker.ts";
import { createExternalAlerts, type ExternalAlerts } from "../poll/external-alerts.ts";
import { createInventoryJob } from "../poll/inventory.ts";
import { createRerouting } from "../poll/reroute.ts";
import { createScheduleLookup } from "../poll/schedule-lookup.ts";
import { createSelfAlerts } from "../poll/self-alerts.ts";
import { createSweep } from "../poll/sweep.ts";
import { createRefreshUptime, windowsOf } from "../poll/uptime.ts";
import { createUptimeReader, type UptimeReader } from "../poll/uptime-reader.ts";
import { startUptimeWork } from "../poll/uptime-worker.ts";
import { readFleet } from "../store/read-fleet.ts";
import type { Store } from "../store/store.ts";
import type { EngineDeps } from "./engine-deps.ts";
import { createNotifying } from "./notify-jobs.ts";

const SWEEPS_AT_ONCE = 8;
const LIST_RETRY_MOST_MS = 60_000;
export interface Engine {
  /** Reads what is remembered, once: only then is the work asked of this replica. Waits for Redis. */
  prepare(): Promise<void>;
  /**
   * After `prepare`: starts the workers and schedules of its duties; without any it only follows what the others do.
   * `retiring` are integrations that are gone and about to tell what they owe.
   */
  start(options: { roles: ReadonlySet<Role>; retiring: ReadonlySet<string> }): Promise<void>;
  /**
   * Takes no new work and judges no more: what a sweep under way has found is thrown away, a message under way is
   * sent and written down. Resolves when all of it has ended; `start` again is not possible.
   */
  retire(): Promise<void>;
  /** As `retire`, and gives up what Redis does not take. */
  stop(): void;
  fleet(): Promise<FleetSnapshot>;
  readonly uptimes: UptimeReader;
  /** Everything that fires, with what holds it back. */
  suppressed(): Promise<SuppressibleAlert[]>;
  /** Silences and acknowledgements, as people change them. */
  readonly changes: SuppressionChanges;
  /** Remembers alerts that somebody outside sent. */
  readonly acceptAlerts: ExternalAlerts["accept"];
  /** What was sent from outside and fires, judged or not, by fingerprint. */
  externalAlerts(): Promise<ExternalAlertState>;
}

/** Builds the engine; nothing runs before `start`. */
export function createEngine(deps: EngineDeps): Engine {
  const { config, clock, log, store, queues, service, metrics } = deps;
  const { watch, rules, route } = config;
  const integrations: Integration[] = [...deps.senders.values()].map(({ integration }) => integration);
  const integrationIds = integrations.map(({ id }) => id);
  const { assignments } = store;
  const assigned = createAssigned(
    () => assignments.read(),
    (gone) => assignments.restore(gone),
  );
  const wake = createWake(queues, clock);
  let retired = false;
  let prepared: { readonly hadAssignments: boolean } | undefined;
  let roles: ReadonlySet<Role> = new Set();

  /** Two configurations never judge at the same time: who is not in force writes no judgement. */
  const mayJudge = async () => !retired && (await deps.isActive("poll"));
  const shards: Store["shards"] = {
    ...store.shards,
    commit: async (input) => ((await mayJudge()) ? store.shards.commit(input) : { outcome: "lost" }),
    commitShard: async (shard, input) =>
      (await mayJudge()) ? store.shards.commitShard(shard, input) : { outcome: "lost" },
  };

  const inventory = createInventoryJob({
    clock,
    log,
    service,
    assignments: store.assignments,
    assigned,
    inventory: store.inventory,
    store: store.shards,
    watch,
    places: [store.zones, store.usualEntries],
    assignedChanged: () => schedules.assert(),
  });
  const schedules = createSchedules({ clock, queues, assigned, ...watch });
  const reconcile = createReconcile({
    clock,
    log,
    groups: store.groups,
    store: store.shards,
    assigned,
    inventory: store.inventory,
    schedules,
    integrations: integrationIds,
    statusIntervalMs: watch.statusIntervalMs,
    roles: () => roles,
    sweptAnywhere: deps.attempted,
    enqueueDueDigests: createDigestSchedule({
      clock,
      log,
      queues,
      store: store.digests,
      digests: config.digests,
    }),
    refill: async () => void (await inventory.refresh()),
    checkColdStart: () => (roles.has("notify") ? notifying.start.look() : notifying.start.begin()),
    evaluateExternalAlerts: () => externalAlerts.evaluate(),
    wake,
  });
  const commit = createCommit({ log, route, integrations, wake });
  const noteCoverage = createCoverage({ log, store: store.coverage, ...watch });
  const sweep = createSweep({
    clock,
    log,
    service,
    store: shards,
    assigned,
    inventory: store.inventory,
    nameThem: inventory.nameThem,
    commit,
    uptime: store.uptime,
    schedules: createScheduleLookup(store.uptime, store.inventory),
    rules,
    watch,
    swept(outcome, seconds, now) {
      deps.attempted(now);
      if (outcome !== "ok") return;
      metrics.sweepFinished(seconds, now);
      noteCoverage(now);
    },
  });
  const evaluateSelfAlerts = createSelfAlerts({
    clock,
    store: shards,
    commit,
    selfAlerts: deps.selfAlerts,
    groups: store.groups,
    assigned,
    rules,
    intervalMs: watch.statusIntervalMs,
    uptimeIntervalMs: watch.uptimeIntervalMs,
    inventoryIntervalMs: watch.inventoryIntervalMs,
    requestTimeoutMs: config.service.requestTimeoutMs,
    integrations,
  });
  const externalAlerts = createExternalAlerts({
    clock,
    log,
    store,
    commit,
    commitIfActive: shards.commit,
    statusIntervalMs: watch.statusIntervalMs,
    requestEvaluation: () => queues.add("upkeep", { job: "external" }),
  });
  const refreshUptime = createRefreshUptime({
    clock,
    log,
    service,
    store: store.shards,
    uptime: store.uptime,
    inventory: store.inventory,
    windowsMs: windowsOf(rules),
    retainMs: uptimeRetentionMs(rules),
    indexTimezone: config.service.uptimeIndexTimezone,
  });
  const details = createDetailsWork({ clock, log, queues, service, store, assigned, ...watch });

  const fleet = () => readFleet({ watch, store, clock, shardNumbers: assigned.shards() });
  const notifying = createNotifying({ ...deps, assigned, integrations, wake, fleet });

  /** A list that failed or is not believed is asked for again soon: an alert hangs on it. */
  const askAgain = async () => {
    const delayMs = Math.min(LIST_RETRY_MOST_MS, watch.statusIntervalMs);
    const id = `inventory-${Math.ceil(clock.now() / delayMs)}`;
    await queues.add("upkeep", { job: "inventory" }, { id, delayMs });
  };

  const jobs: Record<string, (data: Record<string, unknown>) => Promise<unknown>> = {
    async inventory() {
      if (!(await inventory.refresh())) await askAgain();
    },
    fleet: () => evaluateSelfAlerts(),
    external: () => externalAlerts.evaluate(),
  };

  const rerouting = createRerouting({
    clock,
    log,
    store,
    commit,
    integrations,
    statusIntervalMs: watch.statusIntervalMs,
    isActive: mayJudge,
    owed: metrics.resolvedOwed,
  });

  async function startPolling(retiring: ReadonlySet<string>, hadAssignments: boolean): Promise<void> {
    await rerouting.begin(retiring);
    await schedules.assert();
    // What is watched may be another now: the schedule goes on as it was.
    if (hadAssignments) await queues.add("upkeep", { job: "inventory" });
    await queues.work("sweep", SWEEPS_AT_ONCE, ({ data }) => {
      deps.attempted(clock.now());
      return sweep(Number(data.shard));
    });
    await queues.work("upkeep", 2, async ({ data }) => void (await jobs[String(data.job)]?.(data)));
    await details.start();
    await startUptimeWork({ queues, assigned, ...watch, refresh: refreshUptime });
  }

  async function reconcileAndCount(): Promise<void> {
    await reconcile();
    if (roles.has("notify")) await notifying.checkHeartbeat();
    await store.inventory.follow();
    await countJobs(queues, metrics);
    await rerouting.repeatWhenDue();
  }

  const reconcileLoop = createReconcileLoop(reconcileAndCount, log);

  async function prepare(): Promise<void> {
    if (prepared) return;
    await queues.open();
    await store.inventory.load();
    await externalAlerts.begin((await store.shards.attempts()).get("fleet")?.attemptedAt);
    const hadAssignments = (await assigned.follow()) !== "none";
    prepared = { hadAssignments };
  }

  return {
    prepare,

    async start(options) {
      await prepare();
      roles = options.roles;
      if (roles.size > 0) await notifying.start.begin();
      if (roles.has("poll")) await startPolling(options.retiring, prepared?.hadAssignments === true);
      if (roles.has("notify")) await notifying.work();
      if (!retired) reconcileLoop.start();
    },

    async retire() {
      retired = true;
      notifying.drain();
      details.stop();
      await Promise.all([reconcileLoop.stop(), ...queueNames.map((name) => queues.drain(name))]);
    },

    stop() {
      void reconcileLoop.stop();
      notifying.stop();
      details.stop();
    },

    fleet,
    uptimes: createUptimeReader({ config, store, fleet, clock, log, service }),
    suppressed: notifying.suppressed,
    changes: createSuppressionChanges({ clock, log, store, wake }),
    acceptAlerts: externalAlerts.accept,
    externalAlerts: async () => (await store.externalAlerts.read()).state,
  };
}
