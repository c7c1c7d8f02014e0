/** Whether there is a memory, and the summary that is said where there was none. */
import type { Redis } from "ioredis";
import { type ColdStartLabels, labelsOf } from "../alerting/cold-start.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

const ALERTS_PER_CALL = 500;

export interface Started {
  /** True until the summary is made: nothing is said meanwhile. */
  readonly gathering: boolean;
  /** When it was first seen that nothing is remembered. */
  readonly since: Instant;
}

export function createColdStartStore(redis: Redis, keys: Keys) {
  const scripts = {
    begin: loadScript(redis, "cold_start_begin"),
    sum: loadScript(redis, "cold_start_sum", { withGroups: true }),
  };
  return {
    /** Begins to gather where nothing is remembered; asked again it says how far that is. */
    async begin(now: Instant): Promise<Started> {
      const [state, since] = (await scripts.begin(keys.started, now)) as [string, string];
      return { gathering: state === "gathering", since: Number(since) };
    },

    /**
     * The summary of these alerts is due from now on: each integration gets its own, of those it is to be told of.
     * False where it was made already.
     */
    async sum(
      integrations: readonly string[],
      alerts: readonly string[],
      facts: ColdStartLabels,
      now: Instant,
    ): Promise<boolean> {
      const labels = JSON.stringify(labelsOf(facts));
      for (let from = 0; ; from += ALERTS_PER_CALL) {
        const page = alerts.slice(from, from + ALERTS_PER_CALL);
        const isLast = from + ALERTS_PER_CALL >= alerts.length;
        const args = [now, JSON.stringify(integrations), JSON.stringify(page), labels, isLast ? "1" : "0"];
        const made = await scripts.sum(keys.started, keys.prefix, ...args);
        if (isLast || made === 0) return made === 1;
      }
    },
  };
}

export type ColdStartStore = ReturnType<typeof createColdStartStore>;
