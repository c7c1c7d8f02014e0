/**
 * A dead man's switch, called only after a full round trip: a sweep was good lately, Redis wrote and read, and the
 * job that calls went through the queue of deliveries. What stops any of them stops the calls.
 */
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { ShardStore } from "../store/shards.ts";
import type { Queues } from "./queues.ts";

/** `held`: the round trip was not complete, nobody was called. */
export const heartbeatOutcomes = ["ok", "failed", "held"] as const;
export type HeartbeatOutcome = (typeof heartbeatOutcomes)[number];

const GOOD_INTERVALS = 2;
const GRACE_MS = 1_000;

export interface HeartbeatDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queues: Pick<Queues, "add">;
  readonly store: Pick<ShardStore, "attempts">;
  readonly intervalMs: number;
  readonly statusIntervalMs: number;
  /** An answer counts from its question: one that is on its way may make the last one so much older. */
  readonly requestTimeoutMs: number;
  /** Writes to Redis and reads it back; true for one replica in each interval. */
  takeLease(intervalMs: number): Promise<boolean>;
  /** Why the switch was not reset; undefined where it was. Never throws. */
  call(signal: AbortSignal): Promise<string | undefined>;
  beat(outcome: HeartbeatOutcome): void;
}

export function createHeartbeat(deps: HeartbeatDeps) {
  const { clock, log, intervalMs } = deps;
  const stopping = new AbortController();
  let askedAt: Instant | undefined;
  /** What the last round ended with, so that each trouble is said once. */
  let last: HeartbeatOutcome = "ok";

  function ended(outcome: HeartbeatOutcome, why: string): void {
    deps.beat(outcome);
    const before = last;
    last = outcome;
    if (outcome === before) return;
    if (outcome === "ok") log.info("the heartbeat is called again");
    else if (outcome === "held") log.warn({ why }, "the heartbeat is held back until this is over");
    else log.warn({ why }, "the heartbeat was not accepted; check heartbeat.url and the switch behind it");
  }

  async function isSeeing(): Promise<boolean> {
    const attempts = await deps.store.attempts();
    const lateMs = GOOD_INTERVALS * deps.statusIntervalMs + deps.requestTimeoutMs + GRACE_MS;
    const since = clock.now() - lateMs;
    return [...attempts].some(([subject, { goodAt }]) => subject.startsWith("shard:") && goodAt >= since);
  }

  return {
    /** Puts the job into the queue when it is time; a job that is still there is not added again. */
    async look(): Promise<void> {
      const now = clock.now();
      if (askedAt !== undefined && now - askedAt < intervalMs) return;
      await deps.queues.add("deliver", { heartbeat: true }, { id: "heartbeat" });
      askedAt = now;
    },

    /** The job itself. */
    async round(): Promise<void> {
      if (!(await isSeeing())) return ended("held", "no sweep was good lately");
      if (!(await deps.takeLease(intervalMs))) return;
      const why = await deps.call(stopping.signal);
      if (!stopping.signal.aborted) ended(why === undefined ? "ok" : "failed", why ?? "");
    },

    stop: () => stopping.abort(),
  };
}
