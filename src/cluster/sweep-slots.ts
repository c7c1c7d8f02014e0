/** The slots of this replica: it works on their queues while they are its own, and on no other. */
import type { Clock } from "../lib/clock.ts";
import type { Attempt } from "../store/shards.ts";
import type { Replicas } from "./active-config.ts";
import { type Queues, slotQueue } from "./queues.ts";
import type { Schedulers } from "./schedulers.ts";
import type { Assigned } from "./shard-assignment.ts";
import { slotOf } from "./slots.ts";

/** One that waits for a slow answer must not keep the others of its slot waiting. */
const ROUNDS_AT_ONCE = 4;

interface SweepSlotsDeps {
  readonly clock: Clock;
  readonly queues: Pick<Queues, "work" | "drain" | "add">;
  readonly replicas: Pick<Replicas, "ownSlots">;
  readonly assigned: Pick<Assigned, "shards">;
  readonly schedules: Pick<Schedulers, "takeOver">;
  readonly statusIntervalMs: number;
}

export class SweepSlots {
  readonly #deps: SweepSlotsDeps;
  readonly #sweepShards: (shards: readonly number[], isOwn: () => boolean) => Promise<void>;
  readonly #own = new Set<number>();
  #isStopped = false;

  constructor(deps: SweepSlotsDeps, sweepShards: (shards: readonly number[], isOwn: () => boolean) => Promise<void>) {
    this.#deps = deps;
    this.#sweepShards = sweepShards;
  }

  /** Takes the slots that have become its own, and leaves those that have not stayed so. */
  async follow(attempts: ReadonlyMap<string, Attempt>): Promise<void> {
    const { queues, replicas, assigned, schedules } = this.#deps;
    const bySlot = Map.groupBy(assigned.shards(), slotOf);
    const own = replicas.ownSlots([...bySlot.keys()]);
    for (const slot of this.#own.difference(own)) {
      this.#own.delete(slot);
      void queues.drain(slotQueue(slot)).catch(() => {});
    }
    for (const slot of own.difference(this.#own)) {
      if (this.#isStopped) return;
      this.#own.add(slot);
      await queues.work(slotQueue(slot), ROUNDS_AT_ONCE, () => this.#sweep(slot));
      await schedules.takeOver(slot);
      if (this.#isOverdue(bySlot.get(slot) ?? [], attempts)) await queues.add(slotQueue(slot), {}, { id: "now" });
    }
  }

  /** Begins no sweep from now on. */
  stop(): void {
    this.#isStopped = true;
    this.#own.clear();
  }

  #sweep(slot: number): Promise<void> {
    const shards = this.#deps.assigned.shards().filter((shard) => slotOf(shard) === slot);
    return this.#sweepShards(shards, () => this.#own.has(slot));
  }

  /** A job that was due may have been removed with the last replica's: half an interval counts. */
  #isOverdue(shards: readonly number[], attempts: ReadonlyMap<string, Attempt>): boolean {
    const since = this.#deps.clock.now() - this.#deps.statusIntervalMs / 2;
    return shards.some((shard) => (attempts.get(`shard:${shard}`)?.attemptedAt ?? 0) < since);
  }
}
