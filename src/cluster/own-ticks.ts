/**
 * The ticks of this replica: the jobs of the shards in its slots and, in the slot of the fleet, those of the fleet. A sweep
 * that does not come in time is also made by the next replica in rank: two of them are harmless.
 */

import type { Attempt } from "../health/attempt.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Replicas } from "./active-config.ts";
import type { Assigned } from "./shard-assignment.ts";
import { SLOTS, slotOf } from "./slots.ts";
import { type Tick, Ticker } from "./ticker.ts";

/** By the name of a job of the fleet, or the name of a job of shards, `:` and the number of the shard. */
export type Attempts = ReadonlyMap<string, Attempt>;

/** `in_time`: at the next time of the job, or when the replica takes the shard. */
export type Need = "none" | "in_time" | "at_once";

export interface FleetJob {
  readonly name: string;
  readonly everyMs: number;
  /** The need at this moment; a job without it runs at each of its times, whatever the last attempt was. */
  readonly need?: ((attempts: Attempts, now: Instant) => Need) | undefined;
  readonly run: (signal: AbortSignal) => Promise<unknown>;
}

export interface ShardJob extends Pick<FleetJob, "name" | "everyMs"> {
  readonly need?: ((shard: number, attempts: Attempts, now: Instant) => Need) | undefined;
  readonly run: (shard: number, signal: AbortSignal) => Promise<unknown>;
}

interface OwnTicksDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly replicas: Pick<Replicas, "ranks">;
  readonly assigned: Pick<Assigned, "known" | "shards">;
  /** `shard` in attempts: the only one of shards that are not assigned any more. */
  readonly sweep: ShardJob;
  readonly shardJobs: readonly ShardJob[];
  readonly fleetJobs: readonly FleetJob[];
  /** An attempt may be under way for so long. */
  readonly requestTimeoutMs: number;
}

interface OwnTick extends Tick {
  readonly slot: number;
  readonly need: FleetJob["need"];
}

const FLEET_SLOT = 0;
/** In slots, between two of them: the jobs of the fleet see what sweeps found half an interval ago, not in this moment. */
const FLEET_PHASE = (SLOTS + 1) / 2;
/** A sweep that did not come for so many intervals is late. */
const LATE_INTERVALS = 3;
/** After a longer pause of this process or of Redis, the attempts of all replicas are old. */
const PAUSE_MS = 10_000;

export class OwnTicks {
  readonly #deps: OwnTicksDeps;
  readonly #ticker: Ticker;
  readonly #ofFleet: readonly OwnTick[];
  readonly #ofShards = new Map<number, readonly OwnTick[]>();
  #attempts: Attempts = new Map();
  #followedAt = Number.NEGATIVE_INFINITY;
  /** Attempts have been followed without a pause since then. */
  #since = 0;

  constructor(deps: OwnTicksDeps) {
    this.#deps = deps;
    this.#ticker = new Ticker(deps);
    this.#ofFleet = deps.fleetJobs.map((job) => this.#tickOf(job, job.name, FLEET_SLOT, FLEET_PHASE));
  }

  /** Takes what has become this replica's, leaves what is not any more, and begins what is due at once. */
  follow(attempts: Attempts): void {
    const now = this.#deps.clock.now();
    this.#attempts = attempts;
    if (now < this.#followedAt || now - this.#followedAt > PAUSE_MS) this.#since = now;
    this.#followedAt = now;
    const own = this.#own(now);
    const taken = new Set<Tick>(this.#ticker.set(own));
    for (const tick of own) {
      const need = this.#needOf(tick, now);
      if (need === "at_once" || (need === "in_time" && taken.has(tick))) this.#ticker.begin(tick.key);
    }
  }

  /** Begins nothing from now on; resolves when what is under way has ended. */
  stop(): Promise<void> {
    return this.#ticker.stop();
  }

  #own(now: Instant): OwnTick[] {
    const { assigned, replicas } = this.#deps;
    const shards = new Set(assigned.shards());
    const left = assigned.known() ? sweptIn(this.#attempts).filter((shard) => !shards.has(shard)) : [];
    const ranks = replicas.ranks([...new Set([FLEET_SLOT, ...[...shards, ...left].map(slotOf)])]);
    const isOwn = (tick: OwnTick) => (ranks.get(tick.slot) ?? Infinity) <= this.#mostRank(tick, now);
    return [
      ...this.#ofFleet.filter(isOwn),
      ...[...shards].flatMap((shard) => this.#ofShard(shard).filter(isOwn)),
      ...left.flatMap((shard) => this.#ofShard(shard).slice(0, 1).filter(isOwn)),
    ];
  }

  /** The sweep first. */
  #ofShard(shard: number): readonly OwnTick[] {
    const known = this.#ofShards.get(shard);
    if (known) return known;
    const { sweep, shardJobs } = this.#deps;
    const ticks = [sweep, ...shardJobs].map(({ name, everyMs, need, run }) => {
      const ofShard = { everyMs, need: need?.bind(undefined, shard), run: run.bind(undefined, shard) };
      return this.#tickOf(ofShard, `${name}:${shard}`, slotOf(shard));
    });
    this.#ofShards.set(shard, ticks);
    return ticks;
  }

  #tickOf({ everyMs, need, run }: Omit<FleetJob, "name">, key: string, slot: number, phase = slot): OwnTick {
    const isNeeded = () => need?.(this.#attempts, this.#deps.clock.now()) !== "none";
    const offsetMs = Math.floor((phase * everyMs) / SLOTS);
    return { key, slot, everyMs, offsetMs, need, run: async (signal) => isNeeded() && run(signal) };
  }

  /** A job that was due may have died with its replica: where it has no need of its own, half an interval counts. */
  #needOf({ key, everyMs, need }: OwnTick, now: Instant): Need {
    if (need) return need(this.#attempts, now);
    return now - triedAt(this.#attempts.get(key)) > everyMs / 2 ? "in_time" : "none";
  }

  /** The highest rank whose replica runs the tick: one more for each time that it is late. */
  #mostRank({ key, everyMs, need }: OwnTick, now: Instant): number {
    if (need) return 0;
    const silentMs = now - Math.max(this.#since, triedAt(this.#attempts.get(key)));
    return Math.max(0, Math.floor(silentMs / (LATE_INTERVALS * everyMs + this.#deps.requestTimeoutMs)));
  }
}

const sweptIn = (attempts: Attempts) =>
  [...attempts.keys()].flatMap((subject) => /^shard:(\d+)$/.exec(subject)?.[1] ?? []).map(Number);

/** A replica of a later build may be able to read what this one cannot. */
function triedAt({ attemptedAt, goodAt, fault }: Attempt = { attemptedAt: 0, goodAt: 0 }): Instant {
  return fault === "unreadable" ? goodAt : attemptedAt;
}
