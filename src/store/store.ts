/** Everything stored in one Redis under one prefix. */
import type { Redis } from "ioredis";
import type { Logger } from "../lib/log.ts";
import { createAckStore } from "./acknowledgements.ts";
import { createAssignmentStore } from "./assignments.ts";
import { createColdStartStore } from "./cold-start.ts";
import { confirmed, createConfirm } from "./confirm.ts";
import { createConversationStore } from "./conversations.ts";
import { createCountVerdictStore } from "./count-verdicts.ts";
import { createCountsStore } from "./counts.ts";
import { createDecisionLog } from "./decision-log.ts";
import { createCoverageStore, createDigestStore, createShiftNoteStore } from "./digests.ts";
import { createExternalAlertStore, createSelfAlertStore } from "./documents.ts";
import { createEpisodeStore, createFiringStore } from "./episodes.ts";
import { createGroupStore } from "./groups.ts";
import { createIdentityStore } from "./identities.ts";
import { createInventoryStore } from "./inventory.ts";
import { type Keys, keysUnder } from "./keys.ts";
import { createUsualEntriesStore, createZoneStore } from "./location-details.ts";
import { createReleases } from "./releases.ts";
import { createLease, createReplicaStore } from "./replicas.ts";
import { createFollowClock } from "./rewind.ts";
import { createShardStore } from "./shards.ts";
import { createSilenceStore } from "./silences.ts";
import { createTransact } from "./transact.ts";
import { createUptimeStore } from "./uptime.ts";

const HISTORY_MS = 90 * 86_400_000;

interface StoreOptions {
  /** The log where a failover could lose a write: waits until a replica of Redis has it too, and logs here when none does. */
  readonly failoverLog?: Logger | undefined;
  /** A connection of its own, on which what may be sent is written to disk before it is: it waits for the disk. */
  readonly syncing?: Redis | undefined;
  /** For rows that are left out, and a disk that is slow. */
  readonly log?: Logger | undefined;
  /** The time for which the decision log keeps a line. */
  readonly historyMs?: number;
}

export function createStore(redis: Redis, prefix: string, options: StoreOptions = {}): Store {
  const { failoverLog, syncing, log, historyMs = HISTORY_MS } = options;
  const store = createParts(redis, keysUnder(prefix), { historyMs, log, syncing });
  if (!failoverLog) return store;
  const confirm = createConfirm(redis, store.keys.replicas, failoverLog);
  const confirmIntent = createConfirm(syncing ?? redis, store.keys.replicas, failoverLog);
  const { groups, silences, acks } = store;
  return {
    ...store,
    groups: {
      ...groups,
      intend: confirmed(groups.intend, confirmIntent, ([, , , how]) => how?.isSynced === true),
      settle: confirmed(groups.settle, confirm, ([, , outcomes]) =>
        outcomes.some((outcome) => "settle" in outcome && outcome.settle.sent),
      ),
    },
    silences: { ...silences, write: confirmed(silences.write, confirm) },
    acks: { ...acks, change: confirmed(acks.change, confirm) },
  };
}

function createParts(
  redis: Redis,
  keys: Keys,
  { historyMs, log, syncing }: Pick<StoreOptions, "log" | "syncing"> & { readonly historyMs: number },
) {
  const transact = createTransact(redis, keys);
  const releases = createReleases(redis, keys, transact);
  const episodes = createEpisodeStore(redis, keys, transact);
  return {
    keys,
    episodes,
    shards: createShardStore(redis, keys, { transact, releases }),
    /** Causes of suppression that ended. */
    releases,
    groups: createGroupStore(redis, keys, transact, syncing, log),
    conversations: createConversationStore(redis, keys, episodes),
    /** All alerts that fire. */
    firing: createFiringStore(redis, keys),
    silences: createSilenceStore(redis, keys, transact, releases, log),
    acks: createAckStore(redis, keys, transact),
    externalAlerts: createExternalAlertStore(redis, keys),
    selfAlerts: createSelfAlertStore(redis, keys),
    assignments: createAssignmentStore(redis, keys, transact),
    inventory: createInventoryStore(redis, keys),
    zones: createZoneStore(redis, keys),
    usualEntries: createUsualEntriesStore(redis, keys),
    identities: createIdentityStore(redis, keys, transact),
    log: createDecisionLog(redis, keys, transact, historyMs),
    uptime: createUptimeStore(redis, keys),
    digests: createDigestStore(redis, keys),
    shiftNotes: createShiftNoteStore(redis, keys),
    coldStart: createColdStartStore(redis, keys, transact),
    counts: createCountsStore(redis, keys),
    countVerdicts: createCountVerdictStore(redis, keys),
    coverage: createCoverageStore(redis, keys),
    followClock: createFollowClock(redis, keys, transact),
    heartbeatLease: createLease(redis, keys.heartbeat),
    replicas: createReplicaStore(redis, keys, transact),
  };
}

export type Store = ReturnType<typeof createParts>;
