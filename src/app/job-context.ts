/** The parts of one configuration, and what all jobs of an engine share. */
import type { Role } from "../cluster/active-config.ts";
import { createAssigned } from "../cluster/shard-assignment.ts";
import type { Config } from "../config/config.ts";
import { createWake } from "../deliver/wake.ts";
import type { EvidenceMoment } from "../health/evidence.ts";
import { coalesced } from "../lib/yield.ts";
import type { HeartbeatCall } from "../notify/heartbeat.ts";
import { createCommit } from "../poll/commit.ts";
import { countsConditions } from "../poll/counts-assess.ts";
import { createUncounted } from "../poll/uncounted.ts";
import type { Service } from "../service/service.ts";
import { readFleet, readOverview } from "../store/read-fleet.ts";
import type { Check } from "../store/transact.ts";
import type { Senders } from "./integrations.ts";
import type { Runtime } from "./runtime.ts";

/** Everything of a configuration but the work itself. */
export interface Configured {
  readonly config: Config;
  /** The integrations opened, ready to send. */
  readonly senders: Senders;
  readonly service: Service;
  /** Undefined without `heartbeat`. */
  readonly heartbeat: HeartbeatCall | undefined;
}

interface EngineState {
  isDraining(): boolean;
  /** The check by which a transaction holds only while the configuration of this engine is active. */
  checkActive(role: Role): Check | undefined;
}

/** The parts that all jobs of one engine share; the stores by their names, as most jobs need a few of them. */
export type JobContext = ReturnType<typeof contextOf>;

export function contextOf(parts: Runtime & Configured, engine: EngineState) {
  const { config, log, clock, store, queues, replicas, senders, metrics } = parts;
  const { rules, route, watch, maintenance } = config;
  const integrations = senders.list;
  const wake = createWake(queues, clock);
  const { read, restore, count } = store.assignments;
  const assigned = createAssigned(read, restore, count);
  // An earlier reading is not called old before it could be made again.
  const intervals = { ...intervalsOf(config), startedAt: clock.now() };
  return {
    ...store,
    ...parts,
    ...{ assigned, integrations, wake, rules, watch, intervals },
    uncounted: createUncounted({ ...store, assigned, clock, metrics, closedDays: config.counts.closedDays }),
    /** The one way an evaluation is stored. */
    commit: createCommit({ ...store, log, route, integrations, maintenance, wake }),
    statusIntervalMs: watch.statusIntervalMs,
    overview: coalesced(() => readOverview({ intervals, store, clock, assigned })),
    fleet: (shardNumbers = assigned.shards()) => readFleet({ intervals, store, clock, shardNumbers }),
    /** False once draining, and where this replica knows that another configuration is active. */
    mayCommit: () => !engine.isDraining() && replicas.active().has("poll"),
    checkActive: engine.checkActive,
  };
}

/** The intervals at which a configuration has things read: the age of evidence is measured by them. */
export function intervalsOf({ watch, service, counts, rules }: Config): Omit<EvidenceMoment, "now" | "startedAt"> {
  const areCountsNeeded = counts.read && countsConditions(rules).length > 0;
  return {
    intervalMs: watch.statusIntervalMs,
    requestTimeoutMs: service.requestTimeoutMs,
    uptimeIntervalMs: watch.uptimeIntervalMs,
    inventoryIntervalMs: watch.inventoryIntervalMs,
    countsIntervalMs: areCountsNeeded ? counts.intervalMs : undefined,
  };
}
