/** Details that are read of each location now and then: zones of its recordings, and usual entries. */
import type { Redis } from "ioredis";
import type { LocationZones, UsualEntries } from "../alerting/impact.ts";
import { createJsonHash } from "./hash.ts";
import type { Keys } from "./keys.ts";

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
