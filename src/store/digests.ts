/** When each digest is due, and which recipients have it already. */
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import { createJsonHash } from "./hash.ts";
import type { Keys } from "./keys.ts";

/** When a digest is due next; `spec` is what that was computed from. */
export interface DigestDue {
  readonly spec: string;
  readonly dueAt: Instant;
}

export function createDigestStore(redis: Redis, keys: Keys) {
  const due = createJsonHash<DigestDue>(redis, keys.digestsDue);
  return {
    /** By name of the digest. */
    schedule: due.readAll,
    reschedule: (name: string, next: DigestDue): Promise<void> => due.save(new Map([[name, next]])),
    unschedule: (name: string): Promise<void> => due.forget([name]),

    /**
     * Claims the sending of a digest to one recipient for `ms`, so that a replica that was frozen meanwhile does not
     * send it a second time. False where another replica has the claim.
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
    async accept(name: string, periodEnd: Instant, recipient: string, at: Instant, keepSeconds: number): Promise<void> {
      const key = keys.digest(name, periodEnd);
      await redis.multi().hset(key, recipient, at).expire(key, keepSeconds).exec();
    },
  };
}

export type DigestStore = ReturnType<typeof createDigestStore>;
