/**
 * What the service counted by location and day, so that a digest asks for two months of it once. A day is asked for
 * again until the service has had the time to finish it.
 */
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";

/** One day's count as it was told; `entries` undefined: no figure. */
export interface KnownEntries {
  readonly entries: number | undefined;
  readonly askedAt: Instant;
}

const KEPT_S = 21 * 86_400;
/** No digest looks back further. */
const DAYS_KEPT_MS = 70 * 86_400_000;

export function createEntriesStore(redis: Redis, keys: Keys) {
  return {
    /** Location id → `YYYY-MM-DD` → what is known; locations nothing is known of are left out. */
    async read(locationIds: readonly string[]): Promise<Map<string, Map<string, KnownEntries>>> {
      const pipeline = redis.pipeline();
      for (const id of locationIds) pipeline.hgetall(keys.entries(id));
      const replies = (await pipeline.exec()) ?? [];
      const known = new Map<string, Map<string, KnownEntries>>();
      replies.forEach(([error, row], i) => {
        if (error) throw error;
        const days = Object.entries(row as Record<string, string>);
        if (days.length > 0)
          known.set(locationIds[i] ?? "", new Map(days.map(([day, text]) => [day, decode(text)])));
      });
      return known;
    },

    /** Keeps days of one location, for three weeks after the last of them was kept. */
    async save(
      locationId: string,
      days: ReadonlyMap<string, number | undefined>,
      now: Instant,
    ): Promise<void> {
      if (days.size === 0) return;
      const key = keys.entries(locationId);
      const oldest = new Date(now - DAYS_KEPT_MS).toISOString().slice(0, 10);
      const old = (await redis.hkeys(key)).filter((day) => day < oldest);
      const rows = [...days].map(([day, entries]) => [day, JSON.stringify([entries ?? null, now])] as const);
      const write = redis.multi().hset(key, Object.fromEntries(rows)).expire(key, KEPT_S);
      if (old.length > 0) write.hdel(key, ...old);
      await write.exec();
    },
  };
}

export type EntriesStore = ReturnType<typeof createEntriesStore>;

function decode(text: string): KnownEntries {
  const [entries, askedAt] = JSON.parse(text) as [number | null, number];
  return { entries: entries ?? undefined, askedAt };
}
