/**
 * Periodic jobs: a BullMQ job scheduler for each, asserted by every replica, and begun again where its job has stored
 * no attempt for two intervals. A kill between two of BullMQ's calls can leave a scheduler silent for ever. A slot of
 * shards is one job, and slots are spread over the interval.
 */
import { chunksOf } from "../lib/chunks.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Attempt } from "../store/shards.ts";
import { type QueueName, type Queues, slotQueue, slotQueues } from "./queues.ts";
import type { Assigned } from "./shard-assignment.ts";
import { SLOTS, slotOf } from "./slots.ts";

interface PeriodicJob {
  readonly queue: QueueName;
  readonly id: string;
  readonly everyMs: number;
  readonly offsetMs?: number;
  readonly data: Record<string, unknown>;
  /** The attempts that the job stores. */
  readonly subjects: readonly string[];
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
  /** A sweep may wait for an answer for so long. */
  readonly requestTimeoutMs: number;
}

type Attempts = ReadonlyMap<string, Attempt>;

const GRACE_MS = 1_000;
const BEGUN_AT_ONCE = 50;

export class Schedulers {
  readonly #deps: SchedulersDeps;
  /** When this replica last began each; the first attempt may be slow to come. */
  readonly #begunAt = new Map<string, Instant>();

  constructor(deps: SchedulersDeps) {
    this.#deps = deps;
  }

  /** Asserts one scheduler for each job and removes the others; shards that lost all their locations are swept. */
  async assert(attempts: Attempts): Promise<void> {
    const { queues, assigned } = this.#deps;
    const jobs = jobsOf(this.#deps);
    await this.#stopOthers(new Set(jobs.map(({ queue, id }) => `${queue}/${id}`)));
    for (const some of chunksOf(jobs, BEGUN_AT_ONCE)) await Promise.all(some.map((job) => this.#begin(job)));
    if (!assigned.known()) return;
    for (const shard of this.#unassigned(attempts)) await queues.add("sweep", { shard }, { id: `shard-${shard}` });
  }

  /**
   * Begins again what was silent for two intervals and waits for no worker; sweeps the shards that are not assigned any
   * more, and those whose own replica reports itself, and does not sweep them.
   */
  async revive(attempts: Attempts): Promise<void> {
    const { queues, assigned, statusIntervalMs, requestTimeoutMs, clock } = this.#deps;
    for (const job of jobsOf(this.#deps)) {
      if (!this.#isSilent(job, attempts)) continue;
      // It is not silent, workers are too few: beginning it again would add a second job to those they lag behind with.
      if ((await queues.waiting(job.queue)).has(job.id)) continue;
      await this.#beginAgain(job);
      if (job.offsetMs) await queues.add(job.queue, job.data, { id: "now" });
    }
    if (!assigned.known()) return;
    const late = (shard: number, graceMs: number) => {
      const id = `shard:${shard}`;
      return this.#isSilent({ id, everyMs: statusIntervalMs, subjects: [id] }, attempts, graceMs);
    };
    const left = this.#unassigned(attempts).filter((shard) => late(shard, GRACE_MS));
    const alone = assigned.shards().filter((shard) => late(shard, GRACE_MS + requestTimeoutMs));
    for (const shard of [...left, ...alone]) {
      this.#begunAt.set(`shard:${shard}`, clock.now());
      await queues.add("sweep", { shard }, { id: `shard-${shard}` });
    }
  }

  /**
   * The job of a slot that has become this replica's runs by the clock of this machine: BullMQ has no other, and that of
   * the last one may have been ahead.
   */
  async takeOver(slot: number): Promise<void> {
    const job = jobsOf(this.#deps).find(({ queue }) => queue === slotQueue(slot));
    if (job) await this.#beginAgain(job);
  }

  #isSilent(
    { id, everyMs, subjects }: Pick<PeriodicJob, "id" | "everyMs" | "subjects">,
    attempts: Attempts,
    graceMs = GRACE_MS,
  ): boolean {
    const now = this.#deps.clock.now();
    const begunAt = Math.min(this.#begunAt.get(id) ?? now, now);
    this.#begunAt.set(id, begunAt);
    const lastAt = Math.max(begunAt, ...subjects.map((subject) => triedAt(attempts.get(subject))));
    return now - lastAt > 2 * everyMs + graceMs;
  }

  async #beginAgain(job: PeriodicJob): Promise<void> {
    await this.#deps.queues.stop(job.queue, job.id);
    await this.#begin(job);
  }

  async #begin({ queue, id, everyMs, data, offsetMs }: PeriodicJob): Promise<void> {
    this.#begunAt.set(id, this.#deps.clock.now());
    await this.#deps.queues.every(queue, id, everyMs, data, offsetMs);
  }

  #unassigned(attempts: Attempts): number[] {
    const assigned = new Set(this.#deps.assigned.shards());
    const swept = [...attempts.keys()].flatMap((subject) => /^shard:(\d+)$/.exec(subject)?.[1] ?? []);
    return swept.map(Number).filter((shard) => !assigned.has(shard));
  }

  async #stopOthers(wantedIds: ReadonlySet<string>): Promise<void> {
    const { queues, assigned } = this.#deps;
    if (!assigned.known()) return;
    // Schedulers in `sweep` itself are those of an earlier build, one for each shard.
    for (const queue of ["sweep", "upkeep", "uptime", "details", ...slotQueues] as const) {
      for (const id of await queues.schedulers(queue)) {
        if (!wantedIds.has(`${queue}/${id}`)) await queues.stop(queue, id);
      }
    }
  }
}

/** A replica of a later build may be able to read what this one cannot. */
function triedAt({ attemptedAt, goodAt, isUnreadable }: Attempt = { attemptedAt: 0, goodAt: 0 }): Instant {
  return isUnreadable ? goodAt : attemptedAt;
}

function jobsOf(deps: SchedulersDeps): PeriodicJob[] {
  const { statusIntervalMs, uptimeIntervalMs, inventoryIntervalMs, countsIntervalMs } = deps;
  const upkeep = (job: "inventory" | "fleet", everyMs: number): PeriodicJob => {
    return { queue: "upkeep", id: job, everyMs, data: { job }, subjects: [job] };
  };
  const ofShard = (queue: QueueName, name: string, everyMs: number, shard: number): PeriodicJob => {
    return { queue, id: `${name}-${shard}`, everyMs, data: { shard, job: name }, subjects: [`${name}:${shard}`] };
  };
  const shards = deps.assigned.shards();
  const sweeps = [...Map.groupBy(shards, slotOf)].map(([slot, own]): PeriodicJob => {
    const offsetMs = Math.floor((slot * statusIntervalMs) / SLOTS);
    const subjects = own.map((shard) => `shard:${shard}`);
    return { queue: slotQueue(slot), id: `slot-${slot}`, everyMs: statusIntervalMs, offsetMs, data: {}, subjects };
  });
  const others = shards.flatMap((shard) => [
    ofShard("uptime", "uptime", uptimeIntervalMs, shard),
    ofShard("details", "details", inventoryIntervalMs, shard),
    ...(countsIntervalMs === undefined ? [] : [ofShard("details", "counts", countsIntervalMs, shard)]),
  ]);
  return [upkeep("inventory", inventoryIntervalMs), upkeep("fleet", statusIntervalMs), ...sweeps, ...others];
}
