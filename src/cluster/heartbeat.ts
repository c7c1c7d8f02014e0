/**
 * A dead man's switch, called only after a full round trip: a sweep was good lately, most sweeps keep their interval,
 * Redis wrote and read, and the job that calls it went through the queue of deliveries. Where one fails, calls stop.
 */
import type { Clock, Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Store } from "../store/store.ts";
import type { Queues } from "./queues.ts";

/** `skipped`: the round trip was not complete, the switch was not called. */
export const heartbeatOutcomes = ["ok", "failed", "skipped"] as const;
export type HeartbeatOutcome = (typeof heartbeatOutcomes)[number];

const GOOD_INTERVALS = 2;
const GRACE_MS = 1_000;

interface HeartbeatDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queues: Pick<Queues, "add">;
  readonly store: Pick<Store["shards"], "attempts">;
  readonly intervalMs: number;
  readonly statusIntervalMs: number;
  /** An answer is dated by its request: the last one may be this much older while the next is under way. */
  readonly requestTimeoutMs: number;
  /** Writes to Redis and reads it back; true for one replica in each interval. */
  takeLease(intervalMs: number): Promise<boolean>;
  /** Calls the switch. Gives why it was not reset; undefined where it was. Never throws. */
  call(signal: AbortSignal): Promise<string | undefined>;
  beat(outcome: HeartbeatOutcome): void;
}

export function createHeartbeat(deps: HeartbeatDeps) {
  const { clock, log, intervalMs } = deps;
  const stopping = new AbortController();
  let askedAt: Instant | undefined;
  /** The outcome of the last round, so that each failure is logged once. */
  let last: HeartbeatOutcome = "ok";

  function ended(outcome: HeartbeatOutcome, why: string): void {
    deps.beat(outcome);
    const before = last;
    last = outcome;
    if (outcome === before) return;
    if (outcome === "ok") log.info("heartbeat accepted again");
    else if (outcome === "skipped") log.warn({ why }, "heartbeat skipped");
    else log.warn({ why }, "heartbeat not accepted; check heartbeat.url and the switch behind it");
  }

  /** Why sweeps are not as they should be; undefined where they are. */
  async function troubleOfSweeps(): Promise<string | undefined> {
    const attempts = await deps.store.attempts();
    const shards = [...attempts].filter(([subject]) => subject.startsWith("shard:")).map(([, attempt]) => attempt);
    const lateMs = GOOD_INTERVALS * deps.statusIntervalMs + deps.requestTimeoutMs + GRACE_MS;
    const since = clock.now() - lateMs;
    if (!shards.some(({ goodAt }) => goodAt >= since)) return "no good sweep lately";
    const slow = shards.filter(({ slowMs }) => slowMs !== undefined);
    return slow.length > shards.length / 2 ? "sweeps cannot keep their interval" : undefined;
  }

  return {
    /** Adds the job when it is time; one that still waits is not added again. */
    async check(): Promise<void> {
      const now = clock.now();
      if (askedAt !== undefined && Math.abs(now - askedAt) < intervalMs) return;
      await deps.queues.add("deliver", { heartbeat: true }, { id: "heartbeat" });
      askedAt = now;
    },

    /** The job itself. */
    async round(): Promise<void> {
      const trouble = await troubleOfSweeps();
      if (trouble) return ended("skipped", trouble);
      if (!(await deps.takeLease(intervalMs))) return;
      const why = await deps.call(stopping.signal);
      if (!stopping.signal.aborted) ended(why === undefined ? "ok" : "failed", why ?? "");
    },

    stop: () => stopping.abort(),
  };
}
