/**
 * BullMQ: six queues under our hash tag, their workers, and the schedulers that drive them. Lock and stall times
 * are short: with BullMQ's own, a kill between two of its calls leaves a 1 s scheduler silent for a minute.
 */
import { randomUUID } from "node:crypto";
import { type Job, Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";

export const queueNames = ["sweep", "upkeep", "uptime", "details", "deliver", "digest"] as const;
export type QueueName = (typeof queueNames)[number];

const LOCK_MS = 5_000;
const RETRY_MS = 500;
const GRACE_MS = 3_000;
const DONE = { removeOnComplete: true, removeOnFail: true } as const;

/** What a worker does with one job; a throw is logged and counted, never retried by BullMQ. */
export type Handler = (job: { name: string; data: Record<string, unknown> }) => Promise<void>;

export interface Queues {
  /** Connects; waits for Redis as long as it takes. Everything else comes after it. */
  open(): Promise<void>;
  /** Starts working on a queue, once until `drain`, with at most `concurrency` jobs at once. */
  work(name: QueueName, concurrency: number, handler: Handler): Promise<void>;
  /** Takes no new jobs of a queue from now on; resolves when those under way have ended. */
  drain(name: QueueName): Promise<void>;
  /** Runs `job` every `everyMs`, the first time at once; the same id again changes the interval only. */
  every(name: QueueName, id: string, everyMs: number, data: Record<string, unknown>): Promise<void>;
  /** Takes a scheduler away. */
  stop(name: QueueName, id: string): Promise<void>;
  schedulers(name: QueueName): Promise<string[]>;
  /** Adds a single job, `delayMs` from now; a second one with the same id is not added. */
  add(
    name: QueueName,
    data: Record<string, unknown>,
    options?: { id?: string; delayMs?: number },
  ): Promise<void>;
  /** How many jobs wait, run, are delayed, by queue and state. */
  counts(): Promise<Map<QueueName, Record<string, number>>>;
  /** Graceful with a deadline, then force: BullMQ's own close waits for ever when Redis is gone. */
  close(): Promise<void>;
}

/**
 * `connect` gives a new connection per use; BullMQ's workers block on theirs. BullMQ gives up on a connection that
 * fails at its first try, so it only ever gets connected ones.
 */
export function createQueues(deps: {
  connect: (name: string) => Redis;
  prefix: string;
  log: Logger;
  onFailed: (queue: QueueName, error: Error) => void;
}): Queues {
  const { log } = deps;
  const options = { prefix: deps.prefix, skipVersionCheck: true };
  const queues = new Map<QueueName, Queue>();
  const workers = new Map<QueueName, Worker>();
  /** Those at work, and those that still end what they had begun, with their connections. */
  const unclosed = new Map<Worker, Redis>();
  const connections = new Set<Redis>();
  let wakesInTime = false;
  const connected = async (name: string): Promise<Redis> => {
    const connection = deps.connect(name);
    connections.add(connection);
    await ready(connection);
    return connection;
  };
  const queue = (name: QueueName): Queue => {
    const found = queues.get(name);
    if (!found) throw new Error(`no queue ${name}`);
    return found;
  };

  return {
    async open() {
      if (queues.size > 0) return;
      const connection = await connected("lenswatch-queues");
      wakesInTime = await takesFractions(connection);
      for (const name of queueNames) {
        const one = new Queue(name, { ...options, connection });
        one.on("error", (error) => log.debug({ err: toError(error), queue: name }, "queue trouble"));
        queues.set(name, one);
      }
    },

    async work(name, concurrency, handler) {
      if (workers.has(name)) return;
      const connection = await connected(`lenswatch-${name}`);
      const worker = new Worker(name, (job: Job) => handler({ name: job.name, data: job.data }), {
        ...options,
        connection,
        concurrency,
        lockDuration: LOCK_MS,
        stalledInterval: LOCK_MS,
        maxStalledCount: 100,
        runRetryDelay: RETRY_MS,
        drainDelay: 2,
        ...DONE_WORKER,
      });
      worker.on("failed", (_job, error) => deps.onFailed(name, error));
      worker.on("error", (error) => log.debug({ err: toError(error), queue: name }, "worker trouble"));
      if (wakesInTime) void letWakeInTime(worker);
      workers.set(name, worker);
      unclosed.set(worker, connection);
    },

    async drain(name) {
      const worker = workers.get(name);
      if (!worker) return;
      workers.delete(name);
      await worker.close();
      const connection = unclosed.get(worker);
      unclosed.delete(worker);
      if (!connection) return;
      connections.delete(connection);
      connection.disconnect();
    },

    async every(name, id, everyMs, data) {
      await queue(name).upsertJobScheduler(id, { every: everyMs }, { name, data, opts: DONE });
    },
    async stop(name, id) {
      await queue(name).removeJobScheduler(id);
    },
    async schedulers(name) {
      return (await queue(name).getJobSchedulers(0, -1)).map(({ key }) => key);
    },
    async add(name, data, { id = randomUUID(), delayMs = 0 } = {}) {
      await queue(name).add(name, data, { ...DONE, jobId: id, delay: Math.max(0, delayMs), attempts: 1 });
    },

    async counts() {
      const counts = new Map<QueueName, Record<string, number>>();
      for (const [name, one] of queues) {
        counts.set(name, await one.getJobCounts("waiting", "active", "delayed", "failed"));
      }
      return counts;
    },

    async close() {
      const ending = [...unclosed.keys()].map((worker) => worker.close());
      const cut = () => {
        for (const connection of connections) connection.disconnect();
      };
      // A worker is closed once only: what hangs in Redis ends when its connection does.
      await withDeadline(Promise.allSettled(ending), GRACE_MS).catch(cut);
      const drain = [...ending, ...[...queues.values()].map((one) => one.close())];
      await withDeadline(Promise.allSettled(drain), 1_000).catch(() => {});
      cut();
    },
  };
}

/** Resolves once the connection has answered; never rejects while it goes on trying. */
async function ready(connection: Redis): Promise<void> {
  await connection.connect().catch(() => {});
  await connection.ping();
}

/**
 * Whether Redis blocks for fractions of a second (`BZPOPMIN` since 6.0). Who may not ask (INFO can be forbidden) takes
 * it not to.
 */
async function takesFractions(connection: Redis): Promise<boolean> {
  const info = await connection.info("server").catch(() => "");
  return Number(/^redis_version:(\d+)\./m.exec(info)?.[1] ?? 0) >= 6;
}

/**
 * BullMQ asks for the version itself, unless that is skipped: then it rounds each wait for a delayed job up to whole
 * seconds, as Redis 5 wants it. It is skipped because it writes to the console, and fails where INFO is forbidden.
 */
async function letWakeInTime(worker: Worker): Promise<void> {
  await worker.waitUntilReady().catch(() => {});
  const { blockingConnection } = worker.getBackend();
  if (blockingConnection)
    blockingConnection.capabilities = { ...blockingConnection.capabilities, canDoubleTimeout: true };
}

const DONE_WORKER = { removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } };
