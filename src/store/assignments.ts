/** The shard of each location, kept from when it is first seen; and when the inventory last listed it. */
import type { Redis } from "ioredis";
import { chunksOf } from "../lib/chunks.ts";
import type { Instant } from "../lib/clock.ts";
import { scanHash } from "./hash.ts";
import type { Keys } from "./keys.ts";
import { type Place, type Transact, type Write, writing } from "./transact.ts";

const PAGE = 1_000;

/** Location id → shard number. */
export type Assignments = ReadonlyMap<string, number>;

/** The shards of those that have none yet: gaps are filled first, with at most `most` locations per shard. */
export function assign(assigned: Assignments, locations: readonly string[], most: number): Assignments {
  const counts: number[] = [];
  for (const shard of assigned.values()) counts[shard] = (counts[shard] ?? 0) + 1;
  const added = new Map<string, number>();
  let shard = 0;
  for (const location of new Set(locations)) {
    if (assigned.has(location)) continue;
    while ((counts[shard] ?? 0) >= most) shard++;
    counts[shard] = (counts[shard] ?? 0) + 1;
    added.set(location, shard);
  }
  return added;
}

export function createAssignmentStore(redis: Redis, keys: Keys, { change }: Transact) {
  async function numbersIn(key: string): Promise<Map<string, number>> {
    const numbers = new Map<string, number>();
    await scanHash(redis, key, (id, value) => numbers.set(id, Number(value)));
    return numbers;
  }
  const read = () => numbersIn(keys.assignments);
  const lastSeen = (): Promise<ReadonlyMap<string, Instant>> => numbersIn(keys.locationsSeen);
  const written: Place = [keys.assignmentsWritten];

  /** Deletes assignments and adds others, as `add` decides by those that stay. Gives all, and those that were added. */
  const write = (removed: readonly string[], add: (stay: Assignments) => Assignments | Promise<Assignments>) =>
    change([written], async (_, id) => {
      const stay = await read();
      for (const location of removed) stay.delete(location);
      const added = await add(stay);
      const result = { all: new Map([...stay, ...added]), added };
      if (added.size + removed.length === 0) return { writes: [], result };
      const writes: Write[] = [
        writing(id, written, ""),
        // Both at once: a location that is seen but not assigned counts as one that lost its assignment.
        ["HDEL", keys.locationsSeen, ...removed],
        ["HDEL", keys.assignments, ...removed],
        ["HSET", keys.assignments, ...[...added].flat()],
      ];
      return { writes, result };
    });

  return {
    read,
    count: (): Promise<number> => redis.hlen(keys.assignments),

    /** Assigns new locations, deletes assignments of those that left, and gives all. */
    async update(added: readonly string[], removed: readonly string[], most: number): Promise<Assignments> {
      return (await write(removed, (stay) => assign(stay, added, most))).all;
    },

    /** Restores those of these assignments that were lost, not given up; gives them. */
    async restore(lost: Assignments): Promise<Assignments> {
      const { added } = await write([], async (stay) => {
        const seen = await lastSeen();
        return new Map([...lost].filter(([location]) => seen.has(location) && !stay.has(location)));
      });
      return added;
    },

    /** Location id → when a trusted location list last contained it. */
    lastSeen,

    async noteSeen(ids: readonly string[], now: Instant): Promise<void> {
      for (const page of chunksOf(ids, PAGE))
        await redis.hset(keys.locationsSeen, Object.fromEntries(page.map((id) => [id, now])));
    },
  };
}
