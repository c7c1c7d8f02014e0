/**
 * Periodic jobs: a BullMQ job scheduler for each, asserted by every replica, and begun again where its job has stored
 * no attempt for two intervals. A kill between two of BullMQ's calls can leave a scheduler silent for ever. A slot of
 * shards has one for its sweeps and for each other kind of job, and slots are spread over the interval.
 */
import { chunksOf } from "../lib/chunks.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Attempt } from "../store/shards.ts";
import { type QueueName, type Queues, slotQueue, slotQueues } from "./queues.ts";
import type { Assigned } from "./shard-assignment.ts";
import { SLOTS, slotOf } from "./slots.ts";

/** Does a job for shards; begins no request once `signal` is aborted. */
export type Round = (shards: readonly number[], signal: AbortSignal) => Promise<void>;

/** A job beside sweeps, which stores an attempt `<name>:<shard>` for each shard. */
export interface SlotJob {
  readonly name: "uptime" | "details" | "counts";
  readonly everyMs: number;
  readonly round: Round;
  /** Another job, of which a shard must have an attempt first. */
  readonly after?: SlotJob["name"];
  /** A shard whose last attempt failed is due again after this long; at its next time unless given. */
  retryMs?(shard: number): number;
  /** The shards, of these, that are due although they were not attempted long ago. */
  lacking?(shards: readonly number[]): Promise<readonly number[]>;
}

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
  readonly inventoryIntervalMs: number;
  /** The jobs of a slot beside its sweeps. */
  readonly slotJobs: readonly Pick<SlotJob, "name" | "everyMs">[];
  /** A sweep may wait for an answer for so long. */
  readonly requestTimeoutMs: number;
}

type Attempts = ReadonlyMap<string, Attempt>;

const GRACE_MS = 1_000;
const BEGUN_AT_ONCE = 50;

export class Schedulers {
  readonly #deps: SchedulersDeps;
  /** The time at which this replica last began each; the first attempt may be slow to come. */
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
    const jobs = jobsOf(this.#deps);
    for (const job of jobs) {
      if (!this.#isSilent(job, attempts)) continue;
      // It is not silent, workers are too few: beginning it again would add a second job to those they lag behind with.
      if ((await queues.waiting(job.queue)).has(job.id)) continue;
      // The other schedulers of a slot whose sweeps are silent may be lost with theirs, and silent for hours.
      const lost = jobs.filter((one) => one === job || (job.data.job === "sweep" && one.queue === job.queue));
      await Promise.all(lost.map((one) => this.#beginAgain(one)));
      if (job.offsetMs) await queues.add(job.queue, job.data, { id: `now-${job.id}` });
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
   * The jobs of a slot that has become this replica's run by the clock of this machine: BullMQ has no other, and that of
   * the last one may have been ahead.
   */
  async takeOver(slot: number): Promise<void> {
    const jobs = jobsOf(this.#deps).filter(({ queue }) => queue === slotQueue(slot));
    await Promise.all(jobs.map((job) => this.#beginAgain(job)));
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
    for (const queue of ["upkeep", ...slotQueues] as const) {
      for (const id of await queues.schedulers(queue)) {
        if (!wantedIds.has(`${queue}/${id}`)) await queues.stop(queue, id);
      }
    }
  }
}

/** A replica of a later build may be able to read what this one cannot. */
function triedAt({ attemptedAt, goodAt, fault }: Attempt = { attemptedAt: 0, goodAt: 0 }): Instant {
  return fault === "unreadable" ? goodAt : attemptedAt;
}

function jobsOf(deps: SchedulersDeps): PeriodicJob[] {
  const { statusIntervalMs, inventoryIntervalMs, slotJobs, assigned } = deps;
  const upkeep = (job: "inventory" | "fleet", everyMs: number): PeriodicJob => {
    return { queue: "upkeep", id: job, everyMs, data: { job }, subjects: [job] };
  };
  const sweeps = { name: "sweep", id: "slot", subject: "shard", everyMs: statusIntervalMs };
  const kinds = [sweeps, ...slotJobs.map(({ name, everyMs }) => ({ name, id: name, subject: name, everyMs }))];
  const ofSlots = [...Map.groupBy(assigned.shards(), slotOf)].flatMap(([slot, own]) =>
    kinds.map(({ name, id, subject, everyMs }): PeriodicJob => {
      const offsetMs = Math.floor((slot * everyMs) / SLOTS);
      const subjects = own.map((shard) => `${subject}:${shard}`);
      return { queue: slotQueue(slot), id: `${id}-${slot}`, everyMs, offsetMs, data: { job: name }, subjects };
    }),
  );
  return [upkeep("inventory", inventoryIntervalMs), upkeep("fleet", statusIntervalMs), ...ofSlots];
}
