/** Whether this is a cold start, and the summary that is sent after one. */
import type { Redis } from "ioredis";
import { type ColdStartLabels, coldStartLabels } from "../alerting/cold-start.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

const ALERTS_PER_CALL = 500;

export interface ColdStartProgress {
  /** True until the summary is made: nothing is sent meanwhile. */
  readonly gathering: boolean;
  /** When the store was first seen empty. */
  readonly since: Instant;
}

export function createColdStartStore(redis: Redis, keys: Keys) {
  const scripts = {
    begin: loadScript(redis, keys, "cold_start_begin"),
    sum: loadScript(redis, keys, "cold_start_sum", "groups"),
  };
  return {
    /** Begins to gather where the store is empty; called again it gives the progress. */
    async begin(now: Instant): Promise<ColdStartProgress> {
      return (await scripts.begin(keys.started, { now })) as ColdStartProgress;
    },

    /**
     * Makes the summary of these alerts due now: each integration gets its own, of those routed to it. False where it
     * was made already.
     */
    async sum(
      integrations: readonly string[],
      alerts: readonly string[],
      facts: ColdStartLabels,
      now: Instant,
    ): Promise<boolean> {
      const labels = JSON.stringify(coldStartLabels(facts));
      for (let from = 0; ; from += ALERTS_PER_CALL) {
        const page = alerts.slice(from, from + ALERTS_PER_CALL);
        const isLast = from + ALERTS_PER_CALL >= alerts.length;
        const made = await scripts.sum(keys.started, { now, integrations, alerts: page, labels, isLast });
        if (isLast || made === 0) return made === 1;
      }
    },
  };
}
