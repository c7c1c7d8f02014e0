/** When lenswatch was sweeping: spans of time in which sweeps followed one another. */
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";

export interface CoverageSpan {
  readonly from: Instant;
  readonly to: Instant;
}

/** The two longest periods of digests, and a week. */
const KEPT_MS = 70 * 86_400_000;
const MOST_SPANS = 2_000;

export function createCoverageStore(redis: Redis, keys: Keys) {
  return {
    /**
     * Stores that a sweep was made at this moment: extends the newest span where that ended at most `gapMs` ago.
     * Replicas may do it at once: two spans that overlap are the same time.
     */
    async note(at: Instant, gapMs: number): Promise<void> {
      const [start, seen] = await redis.zrevrange(keys.coverage, 0, 0, "WITHSCORES");
      if (start !== undefined && at - Number(seen) <= gapMs) {
        await redis.zadd(keys.coverage, "GT", at, start);
        return;
      }
      await redis
        .multi()
        .zadd(keys.coverage, at, String(Math.floor(at)))
        .zremrangebyscore(keys.coverage, "-inf", at - KEPT_MS)
        .zremrangebyrank(keys.coverage, 0, -MOST_SPANS - 1)
        .exec();
    },

    /** The spans that reach beyond `since`, oldest end first. */
    async since(since: Instant): Promise<CoverageSpan[]> {
      const flat = await redis.zrangebyscore(keys.coverage, since, "+inf", "WITHSCORES");
      return flat.flatMap((start, i) => (i % 2 === 0 ? [{ from: Number(start), to: Number(flat[i + 1]) }] : []));
    },
  };
}

export type CoverageStore = ReturnType<typeof createCoverageStore>;
