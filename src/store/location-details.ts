/** What is read about each location now and then: the zones of its recordings, and its usual entries per weekday. */
import type { Redis } from "ioredis";
import type { LocationZones, UsualEntries } from "../health/usual-entries.ts";
import type { Instant } from "../lib/clock.ts";
import { createJsonHash } from "./hash.ts";
import type { Keys } from "./keys.ts";

/** By location id. */
export function createZoneStore(redis: Redis, keys: Keys) {
  return createJsonHash<LocationZones>(redis, keys.zones, {
    encode: (zones) => [...zones],
    decode: (rows: [string, string[]][]) => new Map(rows),
  });
}

export type ZoneStore = ReturnType<typeof createZoneStore>;

/** The usual entries, and when they were computed. */
interface KnownUsualEntries {
  readonly at: Instant;
  readonly weekdays: UsualEntries;
}

/** By location id. */
export function createUsualEntriesStore(redis: Redis, keys: Keys) {
  const hash = createJsonHash<KnownUsualEntries>(redis, keys.usualEntries, {
    decode: ({ at, weekdays }: { at: Instant; weekdays: (number | null)[] }) => ({
      at,
      weekdays: weekdays.map((entries) => entries ?? undefined),
    }),
  });
  return {
    ...hash,
    save: (usual: ReadonlyMap<string, UsualEntries>, at: Instant): Promise<void> =>
      hash.save(new Map([...usual].map(([id, weekdays]) => [id, { at, weekdays }]))),
  };
}

export type UsualEntriesStore = ReturnType<typeof createUsualEntriesStore>;
