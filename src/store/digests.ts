/** When each digest is due, and which recipient has which digest already. */
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";

/** When a digest is due next; `spec` is what that was worked out from. */
export interface DigestDue {
  readonly spec: string;
  readonly dueAt: Instant;
}

export function createDigestStore(redis: Redis, keys: Keys) {
  return {
    /** By name of the digest. */
    async schedule(): Promise<Map<string, DigestDue>> {
      const rows = Object.entries(await redis.hgetall(keys.digestsDue));
      return new Map(rows.map(([name, text]) => [name, JSON.parse(text) as DigestDue]));
    },
    async reschedule(name: string, due: DigestDue): Promise<void> {
      await redis.hset(keys.digestsDue, name, JSON.stringify(due));
    },
    async unschedule(name: string): Promise<void> {
      await redis.hdel(keys.digestsDue, name);
    },

    /**
     * Takes the sending of a digest to one recipient, for so long: a replica that was frozen meanwhile must not send
     * beside the one that took its job. False where another one has it.
     */
    async claim(name: string, periodEnd: Instant, recipient: string, ms: number): Promise<boolean> {
      return (await redis.set(keys.digestClaim(name, periodEnd, recipient), 1, "PX", ms, "NX")) === "OK";
    },
    async release(name: string, periodEnd: Instant, recipient: string): Promise<void> {
      await redis.del(keys.digestClaim(name, periodEnd, recipient));
    },

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
