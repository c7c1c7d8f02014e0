/** Which locations each shard asks for, as this replica knows it. */
import type { Assignments } from "../store/assignments.ts";

export interface Assigned {
  /** Location ids of a shard; empty for one that has lost them all. */
  locations(shard: number): readonly string[];
  shards(): readonly number[];
  /** True once assignments were read or made: before that, an empty list means nothing. */
  known(): boolean;
  set(assignments: Assignments): void;
}

export function createAssigned(): Assigned {
  let byShard = new Map<number, string[]>();
  let known = false;
  return {
    locations: (shard) => byShard.get(shard) ?? [],
    shards: () => [...byShard.keys()],
    known: () => known,
    set(assignments) {
      known = true;
      byShard = new Map();
      for (const [location, shard] of assignments) {
        const there = byShard.get(shard);
        if (there) there.push(location);
        else byShard.set(shard, [location]);
      }
    },
  };
}
