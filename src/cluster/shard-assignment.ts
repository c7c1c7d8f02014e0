/** The locations of each shard, as this replica knows them. */
import type { Assignments } from "../store/assignments.ts";

export type Assigned = ReturnType<typeof createAssigned>;

/**
 * `read` gives the stored assignments; `restore` restores those that were lost instead of removed, and gives them: a
 * location without an assignment is not watched. `count` gives how many are stored.
 */
export function createAssigned(
  read: () => Promise<Assignments> = async () => new Map(),
  restore: (gone: Assignments) => Promise<Assignments> = async () => new Map(),
  count: () => Promise<number> = async () => Number.NaN,
) {
  let current: Assignments = new Map();
  let byShard = new Map<number, string[]>();
  let known = false;

  function set(assignments: Assignments): void {
    known = true;
    current = assignments;
    byShard = Map.groupBy(assignments.keys(), (location) => assignments.get(location) as number);
  }

  async function whole(stored: Assignments): Promise<Assignments> {
    const gone = [...current].filter(([location]) => !stored.has(location));
    return gone.length === 0 ? stored : new Map([...stored, ...(await restore(new Map(gone)))]);
  }

  return {
    /** Location ids of a shard; empty once none is assigned to it. */
    locations: (shard: number): readonly string[] => byShard.get(shard) ?? [],
    /** Undefined where the location is not assigned. */
    shardOf: (location: string): number | undefined => current.get(location),
    shards: (): readonly number[] => [...byShard.keys()],
    /** True once assignments were read or made: before that, an empty list means nothing. */
    known: () => known,
    set,
    /** True where as many are stored as are known: none was lost, and none added by another replica. */
    isComplete: async (): Promise<boolean> => current.size > 0 && (await count()) === current.size,
    /** Reads what another replica may have changed. `none`: no assignments are stored, the known ones stay. */
    async follow(): Promise<"same" | "changed" | "none"> {
      const stored = await whole(await read());
      if (stored.size === 0) return "none";
      if (known && isSame(stored, current)) return "same";
      set(stored);
      return "changed";
    },
  };
}

function isSame(a: Assignments, b: Assignments): boolean {
  return a.size === b.size && a.entries().every(([location, shard]) => b.get(location) === shard);
}
