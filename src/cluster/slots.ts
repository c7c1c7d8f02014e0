/** Which replica sweeps which shards: each slot of shards belongs to one of the replicas that sweep. Pure. */
import { createHash } from "node:crypto";

/** Fixed: replicas of different builds must agree. */
export const SLOTS = 32;

export const slotOf = (shard: number): number => shard % SLOTS;

/**
 * The replica of each slot: none has more than its share, rounded up, and few slots move when a replica comes or goes.
 * The same for the same replicas in any order; empty without replicas. First those that most likely stay with their
 * replica when others come.
 */
export function assignSlots(slots: readonly number[], replicas: readonly string[]): ReadonlyMap<number, string> {
  const most = Math.ceil(slots.length / replicas.length);
  const pairs = slots.flatMap((slot) => replicas.map((replica) => ({ slot, replica, rank: rankOf(slot, replica) })));
  const owners = new Map<number, string>();
  const counts = new Map<string, number>();
  for (const { slot, replica } of pairs.sort((a, b) => (a.rank < b.rank ? -1 : 1))) {
    const count = counts.get(replica) ?? 0;
    if (owners.has(slot) || count >= most) continue;
    owners.set(slot, replica);
    counts.set(replica, count + 1);
  }
  return owners;
}

function rankOf(slot: number, replica: string): string {
  return createHash("sha1").update(`${slot} ${replica}`).digest("hex");
}
