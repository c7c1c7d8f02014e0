/**
 * A dead man's switch, called only after a full round trip: most recordings were read in time, lenswatch failed at none,
 * self alerts are evaluated, Redis wrote and read, and the job that calls it went through the queue of deliveries. Where
 * one fails, calls stop.
 */

import type { Queues } from "../cluster/queues.ts";
import type { Instant } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import { type ReadEvidenceDeps, readEvidence } from "../store/read-fleet.ts";

/** `skipped`: the round trip was not complete, the switch was not called. */
export const heartbeatOutcomes = ["ok", "failed", "skipped"] as const;
export type HeartbeatOutcome = (typeof heartbeatOutcomes)[number];

interface HeartbeatDeps extends ReadEvidenceDeps {
  readonly log: Logger;
  readonly queues: Pick<Queues, "add">;
  readonly intervalMs: number;
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

  /** Why evidence is not as it should be; undefined where it is. */
  async function troubleOfEvidence(): Promise<string | undefined> {
    const { state, known, unread, late, causes, isEvaluated } = await readEvidence(deps);
    if (state === "unreachable" || state === "unknown") return "hardly any recording was read lately";
    if (2 * (unread + late) > known) return "most recordings are not read in time";
    if (causes.some(({ attempts }) => attempts.some(({ fault }) => fault))) return "recordings cannot be evaluated";
    return isEvaluated ? undefined : "self alerts are not evaluated";
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
      const trouble = await troubleOfEvidence();
      if (trouble) return ended("skipped", trouble);
      if (!(await deps.takeLease(intervalMs))) return;
      const why = await deps.call(stopping.signal);
      if (!stopping.signal.aborted) ended(why === undefined ? "ok" : "failed", why ?? "");
    },

    stop: () => stopping.abort(),
  };
}
