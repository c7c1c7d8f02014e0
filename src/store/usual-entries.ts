/** What each location usually counts on each weekday, with the time it was worked out. */
import type { Redis } from "ioredis";
import type { UsualEntries } from "../health/usual-entries.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";

export interface KnownUsualEntries {
  readonly at: Instant;
  readonly weekdays: UsualEntries;
}

export function createUsualEntriesStore(redis: Redis, keys: Keys) {
  return {
    /** By location id; a location that was not asked for yet is left out. One round trip. */
    async read(locationIds: readonly string[]): Promise<Map<string, KnownUsualEntries>> {
      if (locationIds.length === 0) return new Map();
      const rows = await redis.hmget(keys.usualEntries, ...locationIds);
      return new Map(
        locationIds.flatMap((id, i) => {
          const row = rows[i];
          return row ? [[id, decode(row)] as const] : [];
        }),
      );
    },

    async save(usual: ReadonlyMap<string, UsualEntries>, at: Instant): Promise<void> {
      if (usual.size === 0) return;
      const fields = [...usual].map(([id, weekdays]) => [id, JSON.stringify({ at, weekdays })] as const);
      await redis.hset(keys.usualEntries, Object.fromEntries(fields));
    },

    /** Forgets locations that are watched no more. */
    async forget(locationIds: readonly string[]): Promise<void> {
      if (locationIds.length > 0) await redis.hdel(keys.usualEntries, ...locationIds);
    },
  };
}

export type UsualEntriesStore = ReturnType<typeof createUsualEntriesStore>;

function decode(row: string): KnownUsualEntries {
  const { at, weekdays } = JSON.parse(row) as { at: number; weekdays: (number | null)[] };
  return { at, weekdays: weekdays.map((entries) => entries ?? undefined) };
}
