/** The parts that outlive every configuration: Redis, queues, metrics, and this replica's membership. */
import type { Redis } from "ioredis";
import { Registry } from "prom-client";
import { skipReasons } from "../alerting/model.ts";
import { Replicas, type RoleOption } from "../cluster/active-config.ts";
import { Queues, queueNames } from "../cluster/queues.ts";
import type { Config } from "../config/config.ts";
import { heartbeatOutcomes } from "../deliver/heartbeat.ts";
import { type Clock, correctedClock, type Instant, steadyClock } from "../lib/clock.ts";
import type { Closer } from "../lib/closer.ts";
import type { Logger } from "../lib/log.ts";
import { noteRunning } from "../lib/running.ts";
import { readVersion } from "../lib/version.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { embeddedRedisUrl, startEmbeddedRedis } from "../redis-embedded/embedded.ts";
import { protocolErrorKinds, serviceEndpoints, serviceErrorCodes } from "../service/service.ts";
import { StoreError } from "../store/errors.ts";
import { connected, connectRedis } from "../store/redis.ts";
import { canFailOver } from "../store/redis-client.ts";
import { createStore } from "../store/store.ts";
import { createAuditTrail } from "./audit-trail.ts";
import { followDirectory } from "./directory.ts";

/** The directory of an embedded Redis, below the working directory. */
const DATA_DIR = "data";

export type Runtime = Awaited<ReturnType<typeof openRuntime>>;

/** Opens everything; each teardown is registered beside its construction. Throws StoreError without an embedded Redis. */
export async function openRuntime(
  options: { readonly config: Config; readonly log: Logger; readonly role: RoleOption; readonly clock?: Clock },
  closer: Closer,
) {
  const { config, log, role, clock: own } = options;
  const clock = own ? { now: () => own.now(), begin: () => {}, correct: () => {} } : correctedClock(steadyClock());
  const opened = await openRedis(config.redis, log.child({ component: "redis" }));
  closer.add("embedded Redis", () => opened.close(), 2_500);
  const redis = opened.connect("lenswatch");
  const syncing = opened.connect("lenswatch-sync");
  for (const connection of [redis, syncing]) closer.add("Redis", () => connection.disconnect());
  const failoverLog = canFailOver(config.redis) ? log : undefined;
  const { historyMs } = config.watch;
  const store = createStore(redis, config.redis.prefix, { failoverLog, syncing, log, historyMs });
  const audit = createAuditTrail({ log, clock });
  const directory = followDirectory({ ...store, clock, log });
  closer.add("directory", () => directory.close());
  const running = noteRunning(clock);
  closer.add("pauses", () => running.stop());
  const registry = new Registry();
  const replicas = new Replicas({ store: store.replicas, clock, log, roleOption: role });
  closer.add("replica", () => (redis.status === "ready" ? replicas.leave() : undefined), 1_000);
  let newest: Instant | undefined;
  return {
    ...{ log, store, redis, audit, registry, replicas, directory },
    /** The time since when this process runs without a pause. */
    runsSince: running.since,
    /** The local clock, corrected by the offset to Redis `TIME`. */
    clock,
    queues: new Queues({
      connect: opened.connect,
      prefix: store.keys.queuePrefix,
      log: log.child({ component: "queues" }),
      onFailed: (queue, err) => log.error({ err, queue }, "job failed, the next one tries again"),
    }),
    metrics: createMetrics(registry, { version: readVersion(), known: knownLabels(config) }),
    /** By endpoint of the service, whether it answers; for readiness. */
    serviceUp: new Map<string, boolean>(),
    /** A sweep was attempted, by this replica or another. */
    attempted(at: Instant): void {
      newest = Math.max(newest ?? at, at);
    },
    lastAttemptAt: () => newest,
  };
}

/** The configured Redis or, without one, an embedded server of this process. Throws StoreError. */
async function openRedis(redis: Config["redis"], log: Logger) {
  const server = isEmbedded(redis) ? await startEmbeddedRedis({ dir: DATA_DIR, log }) : undefined;
  return {
    /** A new connection, not connected yet; `name` shows in `CLIENT LIST`. */
    connect: (name: string): Redis => connectRedis(server ? { url: server.url } : redis, log, name),
    /** Stops an embedded server; connections are their makers' to close. */
    close: async () => server?.stop(),
  };
}

const isEmbedded = (redis: Config["redis"]) => redis.url === undefined && !canFailOver(redis);

/** Connects to the Redis of a running daemon. Throws StoreError `unavailable`. */
export async function connectToDaemons(redis: Config["redis"], log: Logger, name: string): Promise<Redis> {
  const place = isEmbedded(redis) ? { url: embeddedRedisUrl(DATA_DIR) } : redis;
  return await connected(connectRedis(place, log, name)).catch((thrown) => {
    if (place === redis) throw thrown;
    throw new StoreError("unavailable", "no lenswatch runs in this directory: run this one where the daemon runs", {
      cause: thrown,
    });
  });
}

function knownLabels({ heartbeat }: Config) {
  return {
    endpoints: serviceEndpoints,
    outcomes: ["ok", ...serviceErrorCodes],
    protocolErrors: protocolErrorKinds,
    suppressReasons: skipReasons,
    queues: queueNames,
    heartbeats: heartbeat ? heartbeatOutcomes : [],
    integrations: [],
  };
}
