/** The state of a cold start, and the summary that is sent after one. */
import type { Redis } from "ioredis";
import { type ColdStartLabels, coldStartLabels } from "../alerting/cold-start.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

const ALERTS_PER_CALL = 200;

export function createColdStartStore(redis: Redis, keys: Keys) {
  const addToSummary = loadScript(redis, keys, "cold_start_sum", "groups");
  return {
    /**
     * Begins to gather where the store is empty, and gives when that was. Until the summary is made (`gathering`),
     * nothing is claimed (`scripts/claim.lua`).
     */
    async begin(now: Instant): Promise<{ gathering: boolean; since: Instant }> {
      const [, , [state, since]] = await Promise.all([
        redis.hsetnx(keys.started, "since", now),
        redis.hsetnx(keys.started, "state", "gathering"),
        redis.hmget(keys.started, "state", "since"),
      ]);
      // Redis may have been emptied between two of these.
      return { gathering: state === "gathering", since: Number(since ?? now) };
    },

    /**
     * Makes the summary of these alerts due now: each integration gets its own, of those routed to it. False where it
     * was made already.
     */
    async sum(integrations: readonly string[], alerts: readonly string[], facts: ColdStartLabels, now: Instant) {
      const labels = JSON.stringify(coldStartLabels(facts));
      for (let from = 0; ; from += ALERTS_PER_CALL) {
        const page = alerts.slice(from, from + ALERTS_PER_CALL);
        const isLast = from + ALERTS_PER_CALL >= alerts.length;
        const made = await addToSummary(keys.started, { now, integrations, alerts: page, labels, isLast });
        if (isLast || made === 0) return made === 1;
      }
    },
  };
}
