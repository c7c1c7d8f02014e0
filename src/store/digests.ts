/** Which recipient has which digest already. */
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";

export function createDigestStore(redis: Redis, keys: Keys) {
  return {
    /** Recipients whose mail server has accepted the digest of the period that ended then. */
    async accepted(name: string, periodEnd: Instant): Promise<Set<string>> {
      return new Set(await redis.hkeys(keys.digest(name, periodEnd)));
    },
    async accept(
      name: string,
      periodEnd: Instant,
      recipient: string,
      at: Instant,
      keepSeconds: number,
    ): Promise<void> {
      const key = keys.digest(name, periodEnd);
      await redis.multi().hset(key, recipient, at).expire(key, keepSeconds).exec();
    },
  };
}

export type DigestStore = ReturnType<typeof createDigestStore>;
