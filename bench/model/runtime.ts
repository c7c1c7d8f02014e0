/** What one process of the model has: a connection and a store of its own, virtual queues and time, no metrics. */
import { Registry } from "prom-client";
import type { Runtime } from "../../src/app/runtime.ts";
import { Replicas } from "../../src/cluster/active-config.ts";
import type { QueueName } from "../../src/cluster/queues.ts";
import { type Logger, silentLogger } from "../../src/lib/log.ts";
import type { Metrics } from "../../src/metrics/metrics.ts";
import { createStore } from "../../src/store/store.ts";
import type { Connections } from "./connections.ts";
import { type QueueMemory, virtualQueues } from "./virtual-queues.ts";

interface ModelOptions {
  readonly connections: Connections;
  readonly queues: QueueMemory;
  /** Of every key. */
  readonly prefix: string;
  /** Queues whose work is left out. */
  readonly ignored?: readonly QueueName[];
  readonly log?: Logger;
}

/** A metric for every name, which counts nothing. */
const noMetrics = new Proxy({}, { get: () => () => {} }) as Metrics;

export async function openModelRuntime(options: ModelOptions): Promise<Runtime> {
  const { connections, queues, prefix, ignored, log = silentLogger } = options;
  const clock = { now: () => queues.time.now(), begin() {}, correct() {} };
  const startedAt = clock.now();
  const redis = await connections.connect();
  const store = createStore(redis, prefix);
  return {
    log,
    clock,
    redis,
    store,
    audit: () => {},
    directory: {
      follow: async () => false,
      recipients: () => new Map(),
      addresses: () => "",
      onRecipients() {},
      close() {},
    },
    queues: virtualQueues(queues, ignored),
    registry: new Registry(),
    metrics: noMetrics,
    replicas: new Replicas({ store: store.replicas, clock, log, roleOption: "all" }),
    serviceUp: new Map(),
    attempted() {},
    runsSince: () => startedAt,
    lastAttemptAt: () => undefined,
  };
}
