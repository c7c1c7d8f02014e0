/**
 * BullMQ: the queues of what must happen once and survive, under our hash tag, and their workers. Lock and stall times
 * are short: with BullMQ's own, the job of a replica that is killed waits for half a minute.
 */
import { randomUUID } from "node:crypto";
import { type Job, Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Metrics } from "../metrics/metrics.ts";

export const queueNames = ["deliver", "digest"] as const;
export type QueueName = (typeof queueNames)[number];

const GRACE_MS = 3_000;
const JOB = { removeOnComplete: true, removeOnFail: true, attempts: 1 } as const;
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

/** Runs one job; a throw is logged, never retried by BullMQ. */
export type Handler = (job: { name: string; data: Record<string, unknown> }) => Promise<void>;

interface QueuesOptions {
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
  /** Workers that take jobs, and those that still finish theirs. */
  readonly #unclosed = new Set<Worker>();
  /** The connection of everything: each worker blocks a duplicate of it. */
  #connection: Redis | undefined;
  #skipVersionCheck = true;

  constructor(options: QueuesOptions) {
    this.#options = options;
  }

  /** Connects; waits for Redis as long as it takes. Everything else comes after it. */
  async open(): Promise<void> {
    this.#connection ??= this.#options.connect("lenswatch-queues");
    // BullMQ gives up on a connection that fails at its first try, so it only ever gets a connected one.
    await this.#connection.connect().catch(() => {});
    await this.#connection.ping();
    this.#skipVersionCheck = !(await isCheckSilent(this.#connection));
  }

  /** Starts working on a queue, once until `drain`, with at most `concurrency` jobs at once. */
  async work(name: QueueName, concurrency: number, handler: Handler): Promise<void> {
    if (this.#workers.has(name)) return;
    const { log, onFailed } = this.#options;
    const worker = new Worker(name, (job: Job) => handler({ name: job.name, data: job.data }), {
      ...WORKER,
      ...this.#opened(),
      concurrency,
    });
    worker.on("failed", (_job, error) => onFailed(name, error));
    worker.on("error", (error) => log.debug({ err: toError(error), queue: name }, "worker error"));
    this.#workers.set(name, worker);
    this.#unclosed.add(worker);
  }

  /** Takes no new jobs from now on; resolves when those under way have ended. */
  async drain(): Promise<void> {
    const workers = [...this.#workers.values()];
    this.#workers.clear();
    await Promise.all(workers.map((worker) => worker.close().then(() => this.#unclosed.delete(worker))));
  }

  /** Adds a single job, `delayMs` from now; a second one with the same id is not added. */
  async add(
    name: QueueName,
    data: Record<string, unknown>,
    { id = randomUUID(), delayMs = 0 }: { id?: string; delayMs?: number } = {},
  ): Promise<void> {
    await this.#queue(name).add(name, data, { ...JOB, jobId: id, delay: Math.max(0, delayMs) });
  }

  /** Counts the jobs of each queue by state. */
  async count(metrics: Pick<Metrics, "queueJobs">): Promise<void> {
    for (const name of queueNames) {
      const counts = await this.#queue(name).getJobCounts(...STATES);
      for (const state of STATES) metrics.queueJobs(name, state, counts[state] ?? 0);
    }
  }

  /** Graceful with a deadline, then by force: BullMQ's own close waits for ever when Redis is away. */
  async close(): Promise<void> {
    const closing = [...this.#unclosed].map((worker) => worker.close());
    const cut = () => this.#connection?.disconnect();
    // A worker can be closed once only: a call that hangs in Redis ends with its connection.
    await withDeadline(Promise.allSettled(closing), GRACE_MS).catch(cut);
    const all = [...closing, ...[...this.#queues.values()].map((queue) => queue.close())];
    await withDeadline(Promise.allSettled(all), 1_000).catch(() => {});
    cut();
  }

  #opened() {
    if (!this.#connection) throw new Error("queues are not open");
    const { prefix } = this.#options;
    return { prefix, skipVersionCheck: this.#skipVersionCheck, connection: this.#connection };
  }

  #queue(name: QueueName): Queue {
    const known = this.#queues.get(name);
    if (known) return known;
    const queue = new Queue(name, this.#opened());
    queue.on("error", (error) => this.#options.log.debug({ err: toError(error), queue: name }, "queue error"));
    this.#queues.set(name, queue);
    return queue;
  }
}

/**
 * Whether BullMQ's check of Redis is silent: after it, waits for delayed jobs end at fractions of a second. It writes to the
 * console about a version before 6.2 or an eviction policy, and fails where INFO is forbidden.
 */
async function isCheckSilent(connection: Redis): Promise<boolean> {
  const info = await connection.info().catch(() => "");
  const [, major = 0, minor = 0] = /^redis_version:(\d+)\.(\d+)/m.exec(info) ?? [];
  const isRecent = Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 2);
  return isRecent && !/^maxmemory_policy:(?!noeviction)/m.test(info);
}
