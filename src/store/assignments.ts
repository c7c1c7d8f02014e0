/** The shard of each location, kept from when it is first seen; and when the inventory last listed it. */
import type { Redis } from "ioredis";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

const PAGE = 1_000;

/** Location id → shard number. */
export type Assignments = ReadonlyMap<string, number>;

export function createAssignmentStore(redis: Redis, keys: Keys) {
  const assign = loadScript(redis, keys, "assign");
  const restore = loadScript(redis, keys, "restore_assignments");
  async function numbersIn(key: string): Promise<ReadonlyMap<string, number>> {
    const numbers = new Map<string, number>();
    await scanHash(redis, key, (id, value) => numbers.set(id, Number(value)));
    return numbers;
  }
  const read = (): Promise<Assignments> => numbersIn(keys.assignments);

  return {
    read,
    count: (): Promise<number> => redis.hlen(keys.assignments),

    /** Assigns new locations (filling gaps first, at most `most` per shard) and deletes assignments of those that left. */
    async update(added: readonly string[], removed: readonly string[], most: number): Promise<Assignments> {
      // In this order: a location that is seen but not assigned counts as one that lost its assignment.
      if (removed.length > 0) await redis.hdel(keys.locationsSeen, ...removed);
      await assign(keys.assignments, { added, removed, most });
      return read();
    },

    /** Restores those of these assignments that were lost, not given up; gives them. */
    async restore(lost: Assignments): Promise<Assignments> {
      const args = { lost: [...lost].map(([location, shard]) => ({ location, shard })) };
      const restored = (await restore(keys.assignments, args)) as string[];
      return new Map(restored.map((location) => [location, lost.get(location) ?? 0]));
    },

    /** Location id → when a trusted location list last contained it. */
    lastSeen: (): Promise<ReadonlyMap<string, Instant>> => numbersIn(keys.locationsSeen),

    async noteSeen(ids: readonly string[], now: Instant): Promise<void> {
      for (const page of chunksOf(ids, PAGE))
        await redis.hset(keys.locationsSeen, Object.fromEntries(page.map((id) => [id, now])));
    },
  };
}
