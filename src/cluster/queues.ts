/**
 * BullMQ: four queues under our hash tag and one per slot of shards, their workers, and the schedulers that drive them.
 * Lock and stall times are short: with BullMQ's own, a kill between two of its calls leaves a 1 s scheduler silent for
 * a minute.
 */
import { randomUUID } from "node:crypto";
import { type Job, Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { SLOTS } from "./slots.ts";

export const queueNames = ["sweep", "upkeep", "deliver", "digest"] as const;
/** The jobs of the shards of a slot; `sweep` itself has sweeps of shards that no slot's queue sweeps. */
type SlotQueue = `sweep-${number}`;
export type QueueName = (typeof queueNames)[number] | SlotQueue;

export const slotQueue = (slot: number): SlotQueue => `sweep-${slot}`;
export const slotQueues: readonly SlotQueue[] = Array.from({ length: SLOTS }, (_, slot) => slotQueue(slot));
const isSlotQueue = (name: QueueName) => /-\d+$/.test(name);

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
/** Its jobs end at once, and the replica that takes the slot begins its schedulers again. */
const SLOT_STALLED_INTERVAL_MS = 30_000;
const STATES = ["waiting", "active", "delayed", "failed"] as const;

/** Runs one job; a throw is logged and counted, never retried by BullMQ. */
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
  readonly #queues = new Map<string, Queue>();
  readonly #workers = new Map<QueueName, Worker>();
  /** Workers that take jobs, and those that still finish theirs. */
  readonly #unclosed = new Set<Worker>();
  /** The connection of everything: each worker blocks a duplicate of it. */
  #connection: Redis | undefined;
  #blocksForFractions = false;

  constructor(options: QueuesOptions) {
    this.#options = options;
  }

  /** Connects; waits for Redis as long as it takes. Everything else comes after it. */
  async open(): Promise<void> {
    this.#connection ??= this.#options.connect("lenswatch-queues");
    // BullMQ gives up on a connection that fails at its first try, so it only ever gets a connected one.
    await this.#connection.connect().catch(() => {});
    await this.#connection.ping();
    this.#blocksForFractions = await blocksForFractions(this.#connection);
  }

  /** Starts working on a queue, once until `drain`, with at most `concurrency` jobs at once. */
  async work(name: QueueName, concurrency: number, handler: Handler): Promise<void> {
    if (this.#workers.has(name)) return;
    const { prefix, log, onFailed } = this.#options;
    const worker = new Worker(name, (job: Job) => handler({ name: job.name, data: job.data }), {
      ...WORKER,
      prefix,
      skipVersionCheck: true,
      connection: this.#opened(),
      concurrency,
      ...(isSlotQueue(name) ? { stalledInterval: SLOT_STALLED_INTERVAL_MS } : {}),
    });
    worker.on("failed", (_job, error) => onFailed(name, error));
    worker.on("error", (error) => log.debug({ err: toError(error), queue: name }, "worker error"));
    if (this.#blocksForFractions) void blockForFractions(worker);
    this.#workers.set(name, worker);
    this.#unclosed.add(worker);
  }

  /** Takes no new jobs of a queue from now on; resolves when those under way have ended. */
  async drain(name: QueueName): Promise<void> {
    const worker = this.#workers.get(name);
    if (!worker) return;
    this.#workers.delete(name);
    await worker.close();
    this.#unclosed.delete(worker);
  }

  /** The same of every queue. */
  async drainAll(): Promise<void> {
    await Promise.all([...this.#workers.keys()].map((name) => this.drain(name)));
  }

  /**
   * Runs a job every `everyMs`, the first time at once or, with an offset, that long after a multiple of the interval;
   * the same id again changes the interval only.
   */
  async every(
    name: QueueName,
    id: string,
    everyMs: number,
    data: Record<string, unknown>,
    offsetMs = 0,
  ): Promise<void> {
    await this.#queue(name).upsertJobScheduler(id, { every: everyMs, offset: offsetMs }, { name, data, opts: JOB });
  }

  /** Removes a job scheduler. */
  async stop(name: string, id: string): Promise<void> {
    await this.#queue(name).removeJobScheduler(id);
  }

  /** Ids of the queue's job schedulers. */
  async schedulers(name: string): Promise<string[]> {
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

  /** Counts the jobs of each queue by state; those of slots count as `sweep`. */
  async count(metrics: Pick<Metrics, "queueJobs">): Promise<void> {
    for (const [name, names] of Map.groupBy([...queueNames, ...slotQueues], (one) => one.replace(/-\d+$/, ""))) {
      const counts = await Promise.all(names.map((one) => this.#queue(one).getJobCounts(...STATES)));
      for (const state of STATES) {
        const jobs = counts.reduce((sum, count) => sum + (count[state] ?? 0), 0);
        metrics.queueJobs(name, state, jobs);
      }
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

  #opened(): Redis {
    if (!this.#connection) throw new Error("queues are not open");
    return this.#connection;
  }

  #queue(name: string): Queue {
    const known = this.#queues.get(name);
    if (known) return known;
    const { prefix, log } = this.#options;
    const queue = new Queue(name, { prefix, skipVersionCheck: true, connection: this.#opened() });
    queue.on("error", (error) => log.debug({ err: toError(error), queue: name }, "queue error"));
    this.#queues.set(name, queue);
    return queue;
  }
}

/** Tells whether Redis blocks for fractions of a second (`BZPOPMIN` since 6.0); no where INFO is forbidden. */
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
