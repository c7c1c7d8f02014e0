/** The locations of each shard, as this replica knows them. */
import type { Assignments } from "../store/assignments.ts";

export interface Assigned {
  /** Location ids of a shard; empty once none is assigned to it. */
  locations(shard: number): readonly string[];
  shards(): readonly number[];
  /** True once assignments were read or made: before that, an empty list means nothing. */
  known(): boolean;
  set(assignments: Assignments): void;
  /** Reads what another replica may have changed. `none`: no assignments are stored, the known ones stay. */
  follow(): Promise<"same" | "changed" | "none">;
}

/**
 * `read` gives the stored assignments; `restore` restores those that were lost instead of removed, and gives them: a
 * location without an assignment is not watched.
 */
export function createAssigned(
  read: () => Promise<Assignments> = async () => new Map(),
  restore: (gone: Assignments) => Promise<Assignments> = async () => new Map(),
): Assigned {
  let current: Assignments = new Map();
  let byShard = new Map<number, string[]>();
  let known = false;

  function set(assignments: Assignments): void {
    known = true;
    current = assignments;
    byShard = new Map();
    for (const [location, shard] of assignments) {
      const there = byShard.get(shard);
      if (there) there.push(location);
      else byShard.set(shard, [location]);
    }
  }

  async function whole(stored: Assignments): Promise<Assignments> {
    const gone = [...current].filter(([location]) => !stored.has(location));
    return gone.length === 0 ? stored : new Map([...stored, ...(await restore(new Map(gone)))]);
  }

  return {
    locations: (shard) => byShard.get(shard) ?? [],
    shards: () => [...byShard.keys()],
    known: () => known,
    set,
    async follow() {
      const stored = await whole(await read());
      if (stored.size === 0) return "none";
      if (known && isSame(stored, current)) return "same";
      set(stored);
      return "changed";
    },
  };
}

function isSame(a: Assignments, b: Assignments): boolean {
  if (a.size !== b.size) return false;
  for (const [location, shard] of a) if (b.get(location) !== shard) return false;
  return true;
}
