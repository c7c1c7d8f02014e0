/**
 * The slots of this replica: it does the jobs of their shards while they are its own, and of no other. A job in a slot's
 * queue only begins its round: one that waits for a slow answer keeps no other waiting.
 */
import type { Clock } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Attempt } from "../store/shards.ts";
import type { Store } from "../store/store.ts";
import type { Replicas } from "./active-config.ts";
import { type Queues, slotQueue } from "./queues.ts";
import type { Round, Schedulers, SlotJob } from "./schedulers.ts";
import type { Assigned } from "./shard-assignment.ts";
import { slotOf } from "./slots.ts";

type Attempts = ReadonlyMap<string, Attempt>;

interface SlotJobsDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queues: Pick<Queues, "work" | "drain">;
  readonly replicas: Pick<Replicas, "ownSlots">;
  readonly assigned: Pick<Assigned, "shards">;
  readonly schedules: Pick<Schedulers, "takeOver">;
  readonly store: Pick<Store["shards"], "attemptsOf">;
  readonly statusIntervalMs: number;
  readonly sweep: Round;
  readonly slotJobs: readonly SlotJob[];
}

export class SlotJobs {
  readonly #deps: SlotJobsDeps;
  /** Aborted when the slot is left. */
  readonly #own = new Map<number, AbortController>();
  readonly #rounds = new Set<Promise<void>>();
  #isStopped = false;

  constructor(deps: SlotJobsDeps) {
    this.#deps = deps;
  }

  /** Takes the slots that have become its own, leaves those that have not stayed so, and begins what is due at once. */
  async follow(attempts: Attempts): Promise<void> {
    const { queues, replicas, assigned, slotJobs, clock } = this.#deps;
    const bySlot = Map.groupBy(assigned.shards(), slotOf);
    const ownSlots = () => replicas.ownSlots([...bySlot.keys()]);
    const own = ownSlots();
    for (const slot of this.#own.keys().filter((one) => !own.has(one))) {
      this.#leave(slot);
      void queues.drain(slotQueue(slot)).catch(() => {});
    }
    for (const slot of own) {
      if (this.#isStopped) return;
      const shards = bySlot.get(slot) ?? [];
      if (!this.#own.has(slot)) {
        // While the slots before were taken, others may have come to share.
        if (!ownSlots().has(slot)) continue;
        await this.#take(slot, shards, attempts);
      }
      for (const job of slotJobs) {
        const due = shards.filter((shard) => needOf(job, shard, attempts, clock.now()) === "at_once");
        if (due.length > 0) this.#begin(slot, (signal) => job.round(due, signal));
      }
    }
  }

  /** Begins nothing from now on; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const slot of this.#own.keys()) this.#leave(slot);
    await Promise.all(this.#rounds);
  }

  #leave(slot: number): void {
    this.#own.get(slot)?.abort();
    this.#own.delete(slot);
  }

  async #take(slot: number, shards: readonly number[], attempts: Attempts): Promise<void> {
    const { queues, schedules, sweep, slotJobs } = this.#deps;
    this.#own.set(slot, new AbortController());
    await queues.work(slotQueue(slot), 1, async ({ data }) => this.#beginJob(slot, data.job));
    if (this.#isOverdue(shards, attempts)) this.#begin(slot, (signal) => sweep(shards, signal));
    for (const job of slotJobs) this.#begin(slot, (signal) => this.#roundOf(job, shards, signal, job.lacking));
    await schedules.takeOver(slot);
  }

  #beginJob(slot: number, name: unknown): void {
    const { assigned, sweep, slotJobs } = this.#deps;
    const shards = assigned.shards().filter((shard) => slotOf(shard) === slot);
    const job = slotJobs.find((one) => one.name === name);
    this.#begin(slot, (signal) => (job ? this.#roundOf(job, shards, signal) : sweep(shards, signal)));
  }

  /** One round of a job; a shard of which another replica did it meanwhile is left out. */
  async #roundOf(job: SlotJob, shards: readonly number[], signal: AbortSignal, lacking?: SlotJob["lacking"]) {
    const { store, clock } = this.#deps;
    const subjects = ["shard", job.name, ...(job.after ? [job.after] : [])];
    const [others, attempts] = await Promise.all([
      lacking?.(shards),
      store.attemptsOf(subjects.flatMap((subject) => shards.map((shard) => `${subject}:${shard}`))),
    ]);
    const isDue = (shard: number) => needOf(job, shard, attempts, clock.now()) !== "none" || others?.includes(shard);
    await job.round(shards.filter(isDue), signal);
  }

  #begin(slot: number, work: (signal: AbortSignal) => Promise<void>): void {
    const signal = this.#own.get(slot)?.signal;
    if (!signal) return;
    const round = work(signal).catch((thrown: unknown) => {
      this.#deps.log.error({ err: toError(thrown), slot }, "job failed, the next one tries again");
    });
    this.#rounds.add(round);
    void round.then(() => this.#rounds.delete(round));
  }

  /** A job that was due may have been removed with the last replica's: half an interval counts. */
  #isOverdue(shards: readonly number[], attempts: Attempts): boolean {
    const since = this.#deps.clock.now() - this.#deps.statusIntervalMs / 2;
    return shards.some((shard) => (attempts.get(`shard:${shard}`)?.attemptedAt ?? 0) < since);
  }
}

/**
 * The need of a shard for a job: `at_once` the first time, and where a failed one is to be tried again; `in_round` where the
 * last attempt is older than half the interval, which it is not where its last replica made it. Not before its first
 * good sweep, and not while what is stored of it cannot be read.
 */
export function needOf(job: SlotJob, shard: number, attempts: Attempts, now: number): "none" | "at_once" | "in_round" {
  const isReady = job.after === undefined || attempts.has(`${job.after}:${shard}`);
  const swept = attempts.get(`shard:${shard}`);
  if (!isReady || !swept?.goodAt || swept.fault === "unreadable") return "none";
  const last = attempts.get(`${job.name}:${shard}`);
  if (!last) return "at_once";
  const agoMs = now - last.attemptedAt;
  const hasFailed = last.goodAt < last.attemptedAt;
  if (hasFailed && job.retryMs && agoMs >= job.retryMs(shard)) return "at_once";
  return agoMs >= job.everyMs / 2 ? "in_round" : "none";
}
