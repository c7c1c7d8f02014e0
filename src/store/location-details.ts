/** What is read about each location now and then: zones of its recordings, usual entries, and counts of entries by day. */
import type { Redis } from "ioredis";
import type { LocationZones, UsualEntries } from "../alerting/impact.ts";
import type { Instant } from "../lib/clock.ts";
import { createJsonHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { pipelined } from "./redis.ts";

/** Of the entries of a location. */
const KEPT_S = 21 * 86_400;
/** No digest covers more. */
const DAYS_KEPT_MS = 70 * 86_400_000;

/** By location id. */
export function createZoneStore(redis: Redis, keys: Keys) {
  return createJsonHash<LocationZones>(redis, keys.zones, {
    encode: (zones) => [...zones],
    decode: (rows: [string, string[]][]) => new Map(rows),
  });
}

/** By location id. */
export function createUsualEntriesStore(redis: Redis, keys: Keys) {
  return createJsonHash<UsualEntries>(redis, keys.usualEntries, {
    encode: (weekdays) => ({ weekdays }),
    decode: ({ weekdays }: { weekdays: (number | null)[] }) => weekdays.map((entries) => entries ?? undefined),
  });
}

/** One day's count as the service gave it; `entries` undefined: no figure. */
export type KnownEntries = { readonly entries: number | undefined; readonly askedAt: Instant };

/** Counts of entries, so that a digest asks the service for two months of them once. */
export function createEntriesStore(redis: Redis, keys: Keys) {
  return {
    /** Location id → `YYYY-MM-DD` → what is known; locations nothing is known of are left out. */
    async read(locationIds: readonly string[]): Promise<Map<string, Map<string, KnownEntries>>> {
      const hashes = await pipelined<Record<string, string>>(redis, (batch) => {
        for (const id of locationIds) batch.hgetall(keys.entries(id));
      });
      const known = locationIds.map((id, i) => [id, decodeDays(hashes[i] ?? {})] as const);
      return new Map(known.filter(([, days]) => days.size > 0));
    },

    /** Stores days of one location, for three weeks after the last of them was stored. */
    async save(locationId: string, days: ReadonlyMap<string, number | undefined>, now: Instant): Promise<void> {
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

function decodeDays(hash: Record<string, string>): Map<string, KnownEntries> {
  return new Map(
    Object.entries(hash).map(([day, text]) => {
      const [entries, askedAt] = JSON.parse(text) as [number | null, number];
      return [day, { entries: entries ?? undefined, askedAt }];
    }),
  );
}
