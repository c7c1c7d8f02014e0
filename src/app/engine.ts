/**
 * The jobs of a running lenswatch, wired: who sweeps, who delivers, what is scheduled, and the fleet as it is now
 * for those who show it. Everything that does I/O is handed in.
 */
import type { OutsideState } from "../alerting/external-alerts.ts";
import type { Integration } from "../alerting/route.ts";
import { countJobs } from "../cluster/queue-metrics.ts";
import { queueNames } from "../cluster/queues.ts";
import { createUpkeep, createWake } from "../cluster/reconcile.ts";
import { createHealing } from "../cluster/reconcile-loop.ts";
import type { Duty } from "../cluster/replicas.ts";
import { createSchedules } from "../cluster/schedulers.ts";
import { createAssigned } from "../cluster/shard-assignment.ts";
import type { HeldAlert } from "../deliver/suppression.ts";
import { createHoldChanges, type HoldChanges } from "../deliver/suppression-changes.ts";
import { createDigestSchedule } from "../digest/schedule.ts";
import type { FleetSnapshot } from "../health/shard-state.ts";
import { uptimeRetentionMs } from "../health/uptime.ts";
import { createNoteWatched } from "../poll/coverage.ts";
import { createDetailsWork } from "../poll/details-worker.ts";
import { createOutside, type Outside } from "../poll/external-alerts.ts";
import { createInventoryJob } from "../poll/inventory.ts";
import { createRerouting } from "../poll/reroute.ts";
import { createUploading } from "../poll/schedule-lookup.ts";
import { createJudgeService } from "../poll/self-alerts.ts";
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
   * `leaving` are integrations that are gone and about to tell what they owe.
   */
  start(options: { duties: ReadonlySet<Duty>; leaving: ReadonlySet<string> }): Promise<void>;
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
  held(): Promise<HeldAlert[]>;
  /** Silences and acknowledgements, as people change them. */
  readonly changes: HoldChanges;
  /** Remembers alerts that somebody outside sent. */
  readonly takeAlerts: Outside["take"];
  /** What was sent from outside and fires, judged or not, by fingerprint. */
  outside(): Promise<OutsideState>;
}

/** Builds the engine; nothing runs before `start`. */
export function createEngine(deps: EngineDeps): Engine {
  const { config, clock, log, store, queues, service, metrics } = deps;
  const { watch, rules, route } = config;
  const integrations: Integration[] = [...deps.channels.values()].map(({ integration }) => integration);
  const integrationIds = integrations.map(({ id }) => id);
  const { assignments } = store;
  const assigned = createAssigned(
    () => assignments.read(),
    (gone) => assignments.restore(gone),
  );
  const wake = createWake(queues, clock);
  let retired = false;
  let prepared: { readonly remembered: boolean } | undefined;
  let duties: ReadonlySet<Duty> = new Set();

  /** Two configurations never judge at the same time: who is not in force writes no judgement. */
  const mayJudge = async () => !retired && (await deps.holds("poll"));
  const shards: Store["shards"] = {
    ...store.shards,
    remember: async (input) => ((await mayJudge()) ? store.shards.remember(input) : { outcome: "lost" }),
    rememberShard: async (shard, input) =>
      (await mayJudge()) ? store.shards.rememberShard(shard, input) : { outcome: "lost" },
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
  const heal = createUpkeep({
    clock,
    log,
    groups: store.groups,
    store: store.shards,
    assigned,
    inventory: store.inventory,
    schedules,
    integrations: integrationIds,
    statusIntervalMs: watch.statusIntervalMs,
    duties: () => duties,
    sweptAnywhere: deps.attempted,
    lookAtDigests: createDigestSchedule({
      clock,
      log,
      queues,
      store: store.digests,
      digests: config.digests,
    }),
    refill: async () => void (await inventory.refresh()),
    lookAtMemory: () => (duties.has("notify") ? notifying.start.look() : notifying.start.begin()),
    lookAtOutside: () => outside.judge(),
    wake,
  });
  const noteWatched = createNoteWatched({ log, store: store.watched, ...watch });
  const sweep = createSweep({
    clock,
    log,
    service,
    store: shards,
    assigned,
    inventory: store.inventory,
    nameThem: inventory.nameThem,
    uptime: (id, overMs) => store.uptime.figure(id, overMs),
    lowUptimes: store.uptime.below,
    ...createUploading(store.uptime, store.inventory),
    refreshFigures: (shard) => store.uptime.refreshFigures(shard, clock.now() - 3 * watch.uptimeIntervalMs),
    rules,
    excluded: new Set(watch.exclude),
    intervalMs: watch.statusIntervalMs,
    forgetAfterMs: watch.forgetAfterMs,
    route,
    integrations,
    wake,
    swept(outcome, seconds, now) {
      deps.attempted(now);
      if (outcome !== "ok") return;
      metrics.sweepFinished(seconds, now);
      noteWatched(now);
    },
  });
  const judgeService = createJudgeService({
    clock,
    log,
    store: shards,
    fleet: deps.fleet,
    groups: store.groups,
    assigned,
    rules,
    intervalMs: watch.statusIntervalMs,
    uptimeIntervalMs: watch.uptimeIntervalMs,
    inventoryIntervalMs: watch.inventoryIntervalMs,
    requestTimeoutMs: config.service.requestTimeoutMs,
    route,
    integrations,
    wake,
  });
  const outside = createOutside({
    clock,
    log,
    store,
    remember: store.shards.remember,
    rememberJudged: shards.remember,
    route,
    integrations,
    statusIntervalMs: watch.statusIntervalMs,
    encode: store.outside.encode,
    askForJudgement: () => queues.add("upkeep", { job: "outside" }),
    wake,
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
    fleet: () => judgeService(),
    outside: () => outside.judge(),
  };

  const rerouting = createRerouting({
    clock,
    log,
    store: store.shards,
    groups: store.groups,
    incidentLog: store.log,
    route,
    integrations,
    statusIntervalMs: watch.statusIntervalMs,
    isInForce: mayJudge,
    wake,
    owed: metrics.endsOwed,
  });

  async function startPolling(leaving: ReadonlySet<string>, remembered: boolean): Promise<void> {
    await rerouting.begin(leaving);
    await schedules.assert();
    // What is watched may be another now: the schedule goes on as it was.
    if (remembered) await queues.add("upkeep", { job: "inventory" });
    await queues.work("sweep", SWEEPS_AT_ONCE, ({ data }) => {
      deps.attempted(clock.now());
      return sweep(Number(data.shard));
    });
    await queues.work("upkeep", 2, async ({ data }) => void (await jobs[String(data.job)]?.(data)));
    await details.start();
    await startUptimeWork({ queues, assigned, ...watch, refresh: refreshUptime });
  }

  async function healAndCount(): Promise<void> {
    await heal();
    if (duties.has("notify")) await notifying.lookAtHeart();
    await store.inventory.follow();
    await countJobs(queues, metrics);
    await rerouting.look();
  }

  const healing = createHealing(healAndCount, log);

  async function prepare(): Promise<void> {
    if (prepared) return;
    await queues.open();
    await store.inventory.load();
    await outside.begin((await store.shards.attempts()).get("fleet")?.attemptedAt);
    const remembered = (await assigned.follow()) !== "none";
    prepared = { remembered };
  }

  return {
    prepare,

    async start(options) {
      await prepare();
      duties = options.duties;
      if (duties.size > 0) await notifying.start.begin();
      if (duties.has("poll")) await startPolling(options.leaving, prepared?.remembered === true);
      if (duties.has("notify")) await notifying.work();
      if (!retired) healing.start();
    },

    async retire() {
      retired = true;
      notifying.rest();
      details.stop();
      await Promise.all([healing.stop(), ...queueNames.map((name) => queues.rest(name))]);
    },

    stop() {
      void healing.stop();
      notifying.stop();
      details.stop();
    },

    fleet,
    uptimes: createUptimeReader({ config, store, fleet, clock, log, service }),
    held: notifying.held,
    changes: createHoldChanges({ clock, log, store, wake }),
    takeAlerts: outside.take,
    outside: async () => (await store.outside.read()).state,
  };
}
