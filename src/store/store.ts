/** Everything remembered in one Redis under one prefix. */
import type { Redis } from "ioredis";
import { createAckStore } from "./acks.ts";
import { createAssignmentStore } from "./assignments.ts";
import { createColdStartStore } from "./cold-start.ts";
import { type Confirm, confirmed } from "./confirm.ts";
import { createCoverageStore } from "./coverage.ts";
import { createDecisionLog, HISTORY_MS } from "./decision-log.ts";
import { createDigestStore } from "./digests.ts";
import { createEntriesStore } from "./entries.ts";
import { createExternalAlertStore } from "./external-alerts.ts";
import { createFiringStore } from "./firing.ts";
import { createGroupStore } from "./groups.ts";
import { createIncidentStore } from "./incidents.ts";
import { createInventoryStore } from "./inventory.ts";
import { type Keys, keysUnder } from "./keys.ts";
import { createLease } from "./lease.ts";
import { createReplicaStore } from "./replicas.ts";
import { createShardStore } from "./shards.ts";
import { createSilenceStore } from "./silences.ts";
import { createUptimeStore } from "./uptime.ts";
import { createUsualEntriesStore } from "./usual-entries.ts";
import { createZoneStore } from "./zones.ts";

export interface StoreOptions {
  /** Where a failover could lose what was written: waits until a replica of Redis has it too, bounded. */
  readonly confirm?: Confirm | undefined;
  /** How long the incident log keeps a line. */
  readonly historyMs?: number;
}

export function createStore(redis: Redis, prefix: string, options: StoreOptions = {}) {
  const { confirm, historyMs = HISTORY_MS } = options;
  const keys = keysUnder(prefix);
  const store = createParts(redis, keys, historyMs);
  if (!confirm) return store;
  const { groups, silences, acks } = store;
  return {
    ...store,
    groups: {
      ...groups,
      settle: confirmed(groups.settle, confirm, ([, , , { said }]) => said),
      end: confirmed(groups.end, confirm, ([, , endings]) =>
        endings.some((ending) => "settle" in ending && ending.settle.said),
      ),
    },
    silences: { ...silences, write: confirmed(silences.write.bind(silences), confirm) },
    acks: { ...acks, acknowledge: confirmed(acks.acknowledge, confirm) },
  };
}

function createParts(redis: Redis, keys: Keys, historyMs: number) {
  return {
    keys,
    shards: createShardStore(redis, keys, historyMs),
    groups: createGroupStore(redis, keys, historyMs),
    /** All alerts that fire. */
    firing: createFiringStore(redis, keys),
    silences: createSilenceStore(redis, keys),
    acks: createAckStore(redis, keys),
    externalAlerts: createExternalAlertStore(redis, keys),
    assignments: createAssignmentStore(redis, keys),
    inventory: createInventoryStore(redis, keys),
    zones: createZoneStore(redis, keys),
    usualEntries: createUsualEntriesStore(redis, keys),
    incidents: createIncidentStore(redis, keys),
    log: createDecisionLog(redis, keys, historyMs),
    uptime: createUptimeStore(redis, keys),
    digests: createDigestStore(redis, keys),
    start: createColdStartStore(redis, keys),
    entries: createEntriesStore(redis, keys),
    coverage: createCoverageStore(redis, keys),
    heartbeatLease: createLease(redis, keys.heartbeat),
    replicas: createReplicaStore(redis, keys),
  };
}

export type Store = ReturnType<typeof createStore>;
