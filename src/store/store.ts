/** Everything remembered in one Redis under one prefix. */
import type { Redis } from "ioredis";
import { createAckStore } from "./acks.ts";
import { createAssignmentStore } from "./assignments.ts";
import { createDigestStore } from "./digests.ts";
import { createFiringStore } from "./firing.ts";
import { createGroupStore } from "./groups.ts";
import { createIncidentLog, HISTORY_MS } from "./incident-log.ts";
import { createIncidentStore } from "./incidents.ts";
import { createInventoryStore } from "./inventory.ts";
import { keysUnder } from "./keys.ts";
import { createReplicaStore } from "./replicas.ts";
import { createShardStore } from "./shards.ts";

import { createSilenceStore } from "./silences.ts";
import { createTurn } from "./turn.ts";

import { createUptimeStore } from "./uptime.ts";

/** `historyMs`: how long the incident log keeps a line. */
export function createStore(redis: Redis, prefix: string, { historyMs = HISTORY_MS } = {}) {
  const keys = keysUnder(prefix);
  return {
    keys,
    shards: createShardStore(redis, keys, historyMs),
    groups: createGroupStore(redis, keys, historyMs),
    /** All alerts that fire. */
    firing: createFiringStore(redis, keys),
    silences: createSilenceStore(redis, keys),
    acks: createAckStore(redis, keys),
    assignments: createAssignmentStore(redis, keys),
    inventory: createInventoryStore(redis, keys),
    incidents: createIncidentStore(redis, keys),
    log: createIncidentLog(redis, keys, historyMs),
    uptime: createUptimeStore(redis, keys),
    digests: createDigestStore(redis, keys),
    heartbeatTurn: createTurn(redis, keys.heartbeat),
    replicas: createReplicaStore(redis, keys),
  };
}

export type Store = ReturnType<typeof createStore>;
