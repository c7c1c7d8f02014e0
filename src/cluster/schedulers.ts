/**
 * Periodic jobs: a BullMQ job scheduler for each, asserted by every replica, and begun again where its job has stored
 * no attempt for two intervals. A kill between two of BullMQ's calls can leave a scheduler silent for ever.
 */
import type { Clock, Instant } from "../lib/clock.ts";
import type { Attempt } from "../store/shards.ts";
import type { QueueName, Queues } from "./queues.ts";
import type { Assigned } from "./shard-assignment.ts";

interface PeriodicJob {
  readonly queue: QueueName;
  readonly id: string;
  readonly everyMs: number;
  readonly data: Record<string, unknown>;
  /** The attempt that the job stores. */
  readonly subject: string;
}

interface SchedulersDeps {
  readonly clock: Clock;
  readonly queues: Pick<Queues, "every" | "stop" | "schedulers" | "waiting" | "add">;
  readonly assigned: Pick<Assigned, "known" | "shards">;
  readonly statusIntervalMs: number;
  readonly uptimeIntervalMs: number;
  readonly inventoryIntervalMs: number;
  /** Undefined where no counts are read. */
  readonly countsIntervalMs?: number | undefined;
}

const GRACE_MS = 1_000;
const SHARD = "shard-";

export class Schedulers {
  readonly #deps: SchedulersDeps;
  /** When this replica last began each; the first attempt may be slow to come. */
  readonly #begunAt = new Map<string, Instant>();

  constructor(deps: SchedulersDeps) {
    this.#deps = deps;
  }

  /** Asserts one scheduler for each job and removes the others. */
  async assert(): Promise<void> {
    const jobs = jobsOf(this.#deps);
    await this.#stopOthers(new Set(jobs.map(({ queue, id }) => `${queue}/${id}`)));
    for (const job of jobs) await this.#begin(job);
  }

  /** Begins again what was silent for two intervals and waits for no worker; sweeps shards not assigned any more. */
  async revive(attempts: ReadonlyMap<string, Attempt>): Promise<void> {
    const { queues, assigned, statusIntervalMs, clock } = this.#deps;
    const jobs = jobsOf(this.#deps);
    for (const job of jobs) {
      if (!this.#isSilent(job.id, job, attempts)) continue;
      // It is not silent, workers are too few: beginning it again would add a second job to those they lag behind with.
      if ((await queues.waiting(job.queue)).has(job.id)) continue;
      await queues.stop(job.queue, job.id);
      await this.#begin(job);
    }
    if (!assigned.known()) return;
    const subjects = new Set(jobs.map(({ subject }) => subject));
    for (const subject of attempts.keys()) {
      const shard = /^shard:(\d+)$/.exec(subject)?.[1];
      if (shard === undefined || subjects.has(subject)) continue;
      if (!this.#isSilent(subject, { subject, everyMs: statusIntervalMs }, attempts)) continue;
      this.#begunAt.set(subject, clock.now());
      await queues.add("sweep", { shard: Number(shard) });
    }
  }

  #isSilent(
    id: string,
    { subject, everyMs }: Pick<PeriodicJob, "subject" | "everyMs">,
    attempts: ReadonlyMap<string, Attempt>,
  ): boolean {
    const now = this.#deps.clock.now();
    const begunAt = Math.min(this.#begunAt.get(id) ?? now, now);
    this.#begunAt.set(id, begunAt);
    return now - Math.max(begunAt, attempts.get(subject)?.attemptedAt ?? 0) > 2 * everyMs + GRACE_MS;
  }

  async #begin({ queue, id, everyMs, data }: PeriodicJob): Promise<void> {
    this.#begunAt.set(id, this.#deps.clock.now());
    await this.#deps.queues.every(queue, id, everyMs, data);
  }

  /** Shards that lost all their locations are swept a last time, to resolve their alerts. */
  async #stopOthers(wantedIds: ReadonlySet<string>): Promise<void> {
    const { queues, assigned } = this.#deps;
    if (!assigned.known()) return;
    for (const queue of ["sweep", "upkeep", "uptime", "details"] as const) {
      for (const id of await queues.schedulers(queue)) {
        if (wantedIds.has(`${queue}/${id}`)) continue;
        await queues.stop(queue, id);
        if (queue === "sweep") await queues.add("sweep", { shard: Number(id.slice(SHARD.length)) });
      }
    }
  }
}

function jobsOf(deps: SchedulersDeps): PeriodicJob[] {
  const { statusIntervalMs, uptimeIntervalMs, inventoryIntervalMs, countsIntervalMs } = deps;
  const upkeep = (job: "inventory" | "fleet", everyMs: number): PeriodicJob => {
    return { queue: "upkeep", id: job, everyMs, data: { job }, subject: job };
  };
  const ofShard = (queue: QueueName, name: string, everyMs: number, shard: number): PeriodicJob => {
    return { queue, id: `${name}-${shard}`, everyMs, data: { shard, job: name }, subject: `${name}:${shard}` };
  };
  const ofShards = deps.assigned
    .shards()
    .flatMap((shard) => [
      ofShard("sweep", "shard", statusIntervalMs, shard),
      ofShard("uptime", "uptime", uptimeIntervalMs, shard),
      ofShard("details", "details", inventoryIntervalMs, shard),
      ...(countsIntervalMs === undefined ? [] : [ofShard("details", "counts", countsIntervalMs, shard)]),
    ]);
  return [upkeep("inventory", inventoryIntervalMs), upkeep("fleet", statusIntervalMs), ...ofShards];
}
