/** Whose turn it is to do what one replica does in each interval. */
import { randomUUID } from "node:crypto";
import type { Redis } from "ioredis";

/** True for the first to ask within the interval: a token was written and read back. */
export function createLease(redis: Redis, key: string) {
  return async (intervalMs: number): Promise<boolean> => {
    const token = randomUUID();
    await redis.set(key, token, "PX", Math.max(1, Math.round(intervalMs * KEPT)), "NX");
    return (await redis.get(key)) === token;
  };
}

/** Shorter than the interval, so that the next turn is not missed by a hair. */
const KEPT = 0.8;
