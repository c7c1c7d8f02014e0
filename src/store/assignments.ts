/**
 * Which shard a location belongs to, assigned when it is first seen and kept, so that nothing is lost or doubled
 * when the fleet changes; and when the inventory last listed it.
 */
import type { Redis } from "ioredis";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";
import { loadScript } from "./redis.ts";

/** Location id → shard number. */
export type Assignments = ReadonlyMap<string, number>;

export function createAssignmentStore(redis: Redis, keys: Keys) {
  const assign = loadScript(redis, "assign");
  const restore = loadScript(redis, "restore_assignments");
  return {
    async read(): Promise<Assignments> {
      return toAssignments(await redis.hgetall(keys.assignments));
    },

    /** Assigns what is new (filling gaps first, at most `perShard` each) and takes the places of what left. */
    async update(
      added: readonly string[],
      removed: readonly string[],
      perShard: number,
    ): Promise<Assignments> {
      // Seen no more before it has no place: one that is seen and has none has lost it.
      if (removed.length > 0) await redis.hdel(keys.locationsSeen, ...removed);
      const flat = (await assign(
        keys.assignments,
        perShard,
        JSON.stringify(added),
        JSON.stringify(removed),
      )) as string[];
      const assignments = new Map<string, number>();
      for (let i = 0; i < flat.length; i += 2) assignments.set(flat[i] ?? "", Number(flat[i + 1]));
      return assignments;
    },

    /** Puts back those of these places that were lost, not given up; gives them. */
    async restore(lost: Assignments): Promise<Assignments> {
      const put = await restore(keys.assignments, keys.locationsSeen, JSON.stringify([...lost]));
      return new Map((put as string[]).map((location) => [location, lost.get(location) ?? 0]));
    },

    /** Location id → when a believed location list last had it. */
    async lastSeen(): Promise<Map<string, Instant>> {
      return toAssignments(await redis.hgetall(keys.locationsSeen));
    },

    async noteSeen(ids: readonly string[], now: Instant): Promise<void> {
      if (ids.length > 0)
        await redis.hset(keys.locationsSeen, Object.fromEntries(ids.map((id) => [id, now])));
    },
  };
}

export type AssignmentStore = ReturnType<typeof createAssignmentStore>;

function toAssignments(hash: Record<string, string>): Map<string, number> {
  return new Map(Object.entries(hash).map(([id, value]) => [id, Number(value)]));
}
