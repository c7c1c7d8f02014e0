/** Everything stored in one Redis under one prefix. */
import type { Redis } from "ioredis";
import { createAckStore } from "./acks.ts";
import { createExternalAlertStore } from "./alert-documents.ts";
import { createAssignmentStore } from "./assignments.ts";
import { createColdStartStore } from "./cold-start.ts";
import { type Confirm, confirmed } from "./confirm.ts";
import { createCoverageStore } from "./coverage.ts";
import { createDecisionLog } from "./decision-log.ts";
import { createDigestStore } from "./digests.ts";
import { createEncodeLog } from "./encode.ts";
import { createEntriesStore } from "./entries.ts";
import { createFiringStore } from "./firing.ts";
import { createGroupStore } from "./groups.ts";
import { createIncidentStore } from "./incidents.ts";
import { createInventoryStore } from "./inventory.ts";
import { type Keys, keysUnder } from "./keys.ts";
import { createUsualEntriesStore, createZoneStore } from "./location-details.ts";
import { createLease, createReplicaStore } from "./replicas.ts";
import { createShardStore } from "./shards.ts";
import { createSilenceStore } from "./silences.ts";
import { createUptimeStore } from "./uptime.ts";

/** The default of `watch.history`. */
const HISTORY_MS = 90 * 86_400_000;

interface StoreOptions {
  /** Where a failover could lose a write: waits until a replica of Redis has it too, bounded. */
  readonly confirm?: Confirm | undefined;
  /** How long the decision log keeps a line. */
  readonly historyMs?: number;
}

export function createStore(redis: Redis, prefix: string, options: StoreOptions = {}) {
  const { confirm, historyMs = HISTORY_MS } = options;
  const store = createParts(redis, keysUnder(prefix), historyMs);
  if (!confirm) return store;
  const { groups, silences, acks } = store;
  return {
    ...store,
    groups: {
      ...groups,
      settle: confirmed(groups.settle, confirm, ([, , , { sent }]) => sent),
      settleAll: confirmed(groups.settleAll, confirm, ([, , outcomes]) =>
        outcomes.some((outcome) => "settle" in outcome && outcome.settle.sent),
      ),
    },
    silences: { ...silences, write: confirmed(silences.write, confirm) },
    acks: { ...acks, acknowledge: confirmed(acks.acknowledge, confirm) },
  };
}

function createParts(redis: Redis, keys: Keys, historyMs: number) {
  const encodeLog = createEncodeLog(historyMs);
  return {
    keys,
    shards: createShardStore(redis, keys, encodeLog),
    groups: createGroupStore(redis, keys, encodeLog),
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
    log: createDecisionLog(redis, keys, encodeLog),
    uptime: createUptimeStore(redis, keys),
    digests: createDigestStore(redis, keys),
    coldStart: createColdStartStore(redis, keys),
    entries: createEntriesStore(redis, keys),
    coverage: createCoverageStore(redis, keys),
    heartbeatLease: createLease(redis, keys.heartbeat),
    replicas: createReplicaStore(redis, keys),
  };
}

export type Store = ReturnType<typeof createStore>;
