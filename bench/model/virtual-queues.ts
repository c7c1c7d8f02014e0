/** The queues of BullMQ in virtual time: jobs outlive a process as they do in Redis, workers do not. */
import type { Handler, QueueName, Queues } from "../../src/cluster/queues.ts";
import type { Instant } from "../../src/lib/clock.ts";
import type { VirtualTime } from "./virtual-time.ts";

interface Job {
  readonly id: string;
  readonly data: Record<string, unknown>;
}

interface Worker {
  readonly handler: Handler;
  readonly concurrency: number;
  readonly active: Map<string, Promise<void>>;
  drained: boolean;
}

/** What Redis keeps of the queues. */
export class QueueMemory {
  readonly time: VirtualTime;
  readonly waiting = new Map<QueueName, Map<string, Job>>();
  readonly delayed = new Set<string>();
  /** The worker that takes jobs of a queue. */
  readonly workers = new Map<QueueName, Worker>();

  #jobs = 0;

  constructor(time: VirtualTime) {
    this.time = time;
  }

  newId(): string {
    return `job-${this.#jobs++}`;
  }

  /** Puts a job into the queue at a time; a second one of the same id is not added. */
  addAt(name: QueueName, at: Instant, job: Job): void {
    const key = `${name}/${job.id}`;
    if (this.delayed.has(key) || this.#waitingIn(name).has(job.id)) return;
    this.delayed.add(key);
    this.time.after(at - this.time.now(), () => {
      this.delayed.delete(key);
      this.#waitingIn(name).set(job.id, job);
      this.take(name);
    });
  }

  /** Begins waiting jobs, as many as the worker may do at once. */
  take(name: QueueName): void {
    const worker = this.workers.get(name);
    if (!worker) return;
    for (const [id, job] of this.#waitingIn(name)) {
      if (worker.active.size >= worker.concurrency) return;
      if (worker.active.has(id)) continue;
      this.#waitingIn(name).delete(id);
      const done = this.#run(name, worker, job);
      worker.active.set(id, done);
    }
  }

  async #run(name: QueueName, worker: Worker, { id, data }: Job): Promise<void> {
    try {
      await worker.handler({ name, data });
    } catch {
      // Logged and counted by the real queues, never tried again by them.
    }
    worker.active.delete(id);
    if (!worker.drained) this.take(name);
  }

  #waitingIn(name: QueueName): Map<string, Job> {
    const known = this.waiting.get(name) ?? new Map<string, Job>();
    this.waiting.set(name, known);
    return known;
  }
}

type QueueMethods = Pick<Queues, "open" | "work" | "drain" | "add" | "count" | "close">;

/** The queues as one process has them. `ignored` queues take no work. */
export function virtualQueues(memory: QueueMemory, ignored: readonly QueueName[] = []): Queues {
  const own = new Set<QueueName>();
  const queues: QueueMethods = {
    open: async () => {},
    async work(name, concurrency, handler) {
      if (ignored.includes(name) || memory.workers.has(name)) return;
      memory.workers.set(name, { handler, concurrency, active: new Map(), drained: false });
      own.add(name);
      memory.take(name);
    },
    async drain() {
      const workers = [...own].flatMap((name) => memory.workers.get(name) ?? []);
      await this.close();
      for (const { active } of workers) while (active.size > 0) await Promise.all(active.values());
    },
    async add(name, data, { id = memory.newId(), delayMs = 0 } = {}) {
      if (!ignored.includes(name)) memory.addAt(name, memory.time.now() + Math.max(0, delayMs), { id, data });
    },
    count: async () => {},
    async close() {
      for (const name of own) {
        const worker = memory.workers.get(name);
        if (worker) worker.drained = true;
        memory.workers.delete(name);
      }
      own.clear();
    },
  };
  return queues as Queues;
}
