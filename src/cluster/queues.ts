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
import type { Metrics } from "../metrics/metrics.ts";

export const queueNames = ["sweep", "upkeep", "uptime", "details", "deliver", "digest"] as const;
export type QueueName = (typeof queueNames)[number];

const GRACE_MS = 3_000;
const JOB = { removeOnComplete: true, removeOnFail: true } as const;
const WORKER = {
  lockDuration: 5_000,
  stalledInterval: 5_000,
  maxStalledCount: 100,
  runRetryDelay: 500,
  drainDelay: 2,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
};
const STATES = ["waiting", "active", "delayed", "failed"] as const;

/** Runs one job; a throw is logged and counted, never retried by BullMQ. */
export type Handler = (job: { name: string; data: Record<string, unknown> }) => Promise<void>;

interface QueuesOptions {
  /** A new connection for each use: BullMQ's workers block theirs. */
  readonly connect: (name: string) => Redis;
  readonly prefix: string;
  readonly log: Logger;
  readonly onFailed: (queue: QueueName, error: Error) => void;
}

/** Nothing is connected before `open`. */
export class Queues {
  readonly #options: QueuesOptions;
  readonly #queues = new Map<QueueName, Queue>();
  readonly #workers = new Map<QueueName, Worker>();
  /** Workers that take jobs, and those that still finish theirs, with their connections. */
  readonly #unclosed = new Map<Worker, Redis>();
  readonly #connections = new Set<Redis>();
  #blocksForFractions = false;

  constructor(options: QueuesOptions) {
    this.#options = options;
  }

  /** Connects; waits for Redis as long as it takes. Everything else comes after it. */
  async open(): Promise<void> {
    if (this.#queues.size > 0) return;
    const { prefix, log } = this.#options;
    const connection = await this.#connect("lenswatch-queues");
    this.#blocksForFractions = await blocksForFractions(connection);
    for (const name of queueNames) {
      const queue = new Queue(name, { prefix, skipVersionCheck: true, connection });
      queue.on("error", (error) => log.debug({ err: toError(error), queue: name }, "queue error"));
      this.#queues.set(name, queue);
    }
  }

  /** Starts working on a queue, once until `drain`, with at most `concurrency` jobs at once. */
  async work(name: QueueName, concurrency: number, handler: Handler): Promise<void> {
    if (this.#workers.has(name)) return;
    const { prefix, log, onFailed } = this.#options;
    const connection = await this.#connect(`lenswatch-${name}`);
    const worker = new Worker(name, (job: Job) => handler({ name: job.name, data: job.data }), {
      ...WORKER,
      prefix,
      skipVersionCheck: true,
      connection,
      concurrency,
    });
    worker.on("failed", (_job, error) => onFailed(name, error));
    worker.on("error", (error) => log.debug({ err: toError(error), queue: name }, "worker error"));
    if (this.#blocksForFractions) void blockForFractions(worker);
    this.#workers.set(name, worker);
    this.#unclosed.set(worker, connection);
  }

  /** Takes no new jobs of a queue from now on; resolves when those under way have ended. */
  async drain(name: QueueName): Promise<void> {
    const worker = this.#workers.get(name);
    if (!worker) return;
    this.#workers.delete(name);
    await worker.close();
    const connection = this.#unclosed.get(worker);
    this.#unclosed.delete(worker);
    if (!connection) return;
    this.#connections.delete(connection);
    connection.disconnect();
  }

  /** Runs a job every `everyMs`, the first time at once; the same id again changes the interval only. */
  async every(name: QueueName, id: string, everyMs: number, data: Record<string, unknown>): Promise<void> {
    await this.#queue(name).upsertJobScheduler(id, { every: everyMs }, { name, data, opts: JOB });
  }

  /** Removes a job scheduler. */
  async stop(name: QueueName, id: string): Promise<void> {
    await this.#queue(name).removeJobScheduler(id);
  }

  /** Ids of the queue's job schedulers. */
  async schedulers(name: QueueName): Promise<string[]> {
    return (await this.#queue(name).getJobSchedulers(0, -1)).map(({ key }) => key);
  }

  /** Ids of the job schedulers whose job waits for a worker. */
  async waiting(name: QueueName): Promise<ReadonlySet<string>> {
    const jobs = await this.#queue(name).getRanges(["waiting"], 0, -1);
    return new Set(jobs.flatMap((job) => /^repeat:(.*):\d+$/.exec(job)?.[1] ?? []));
  }

  /** Adds a single job, `delayMs` from now; a second one with the same id is not added. */
  async add(
    name: QueueName,
    data: Record<string, unknown>,
    { id = randomUUID(), delayMs = 0 }: { id?: string; delayMs?: number } = {},
  ): Promise<void> {
    const delay = Math.max(0, delayMs);
    await this.#queue(name).add(name, data, { ...JOB, jobId: id, delay, attempts: 1 });
  }

  /** Counts the jobs of each queue by state. */
  async count(metrics: Pick<Metrics, "queueJobs">): Promise<void> {
    for (const [name, queue] of this.#queues) {
      const counts = await queue.getJobCounts(...STATES);
      for (const state of STATES) metrics.queueJobs(name, state, counts[state] ?? 0);
    }
  }

  /** Graceful with a deadline, then by force: BullMQ's own close waits for ever when Redis is away. */
  async close(): Promise<void> {
    const closing = [...this.#unclosed.keys()].map((worker) => worker.close());
    const cut = () => {
      for (const connection of this.#connections) connection.disconnect();
    };
    // A worker can be closed once only: a call that hangs in Redis ends with its connection.
    await withDeadline(Promise.allSettled(closing), GRACE_MS).catch(cut);
    const all = [...closing, ...[...this.#queues.values()].map((queue) => queue.close())];
    await withDeadline(Promise.allSettled(all), 1_000).catch(() => {});
    cut();
  }

  /** BullMQ gives up on a connection that fails at its first try, so it only ever gets connected ones. */
  async #connect(name: string): Promise<Redis> {
    const connection = this.#options.connect(name);
    this.#connections.add(connection);
    await connection.connect().catch(() => {});
    await connection.ping();
    return connection;
  }

  #queue(name: QueueName): Queue {
    const queue = this.#queues.get(name);
    if (!queue) throw new Error(`no queue ${name}`);
    return queue;
  }
}

/** Whether Redis blocks for fractions of a second (`BZPOPMIN` since 6.0); no where INFO is forbidden. */
async function blocksForFractions(connection: Redis): Promise<boolean> {
  const info = await connection.info("server").catch(() => "");
  return Number(/^redis_version:(\d+)\./m.exec(info)?.[1] ?? 0) >= 6;
}

/**
 * BullMQ reads the version itself, unless that is skipped: then it rounds each wait for a delayed job up to whole
 * seconds, as Redis 5 needs it. It is skipped because it writes to the console, and fails where INFO is forbidden.
 */
async function blockForFractions(worker: Worker): Promise<void> {
  await worker.waitUntilReady().catch(() => {});
  const { blockingConnection } = worker.getBackend();
  if (blockingConnection)
    blockingConnection.capabilities = { ...blockingConnection.capabilities, canDoubleTimeout: true };
}
