/** Which zones the recordings of a location cover, one field a location: read anew, it replaces what was there. */
import type { Redis } from "ioredis";
import type { LocationZones } from "../health/usual-entries.ts";
import type { Keys } from "./keys.ts";

export function createZoneStore(redis: Redis, keys: Keys) {
  return {
    /** By location id; a location of which nothing is known is left out. One round trip. */
    async read(locationIds: readonly string[]): Promise<Map<string, LocationZones>> {
      if (locationIds.length === 0) return new Map();
      const rows = await redis.hmget(keys.zones, ...locationIds);
      return new Map(
        locationIds.flatMap((id, i) => {
          const row = rows[i];
          return row ? [[id, new Map(JSON.parse(row) as [string, string[]][])] as const] : [];
        }),
      );
    },

    /** Keeps these locations' zones, and nothing older of them. */
    async save(zones: ReadonlyMap<string, LocationZones>): Promise<void> {
      if (zones.size === 0) return;
      const fields = [...zones].map(([id, byRecording]) => [id, JSON.stringify([...byRecording])] as const);
      await redis.hset(keys.zones, Object.fromEntries(fields));
    },

    /** Forgets locations that are watched no more. */
    async forget(locationIds: readonly string[]): Promise<void> {
      if (locationIds.length > 0) await redis.hdel(keys.zones, ...locationIds);
    },
  };
}

export type ZoneStore = ReturnType<typeof createZoneStore>;
