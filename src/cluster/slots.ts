/** Which replica works on which shards: each slot of shards belongs to one of the replicas that sweep. Pure. */
import { createHash } from "node:crypto";

/** Fixed: replicas of different builds must agree. */
export const SLOTS = 32;

export const slotOf = (shard: number): number => shard % SLOTS;

/**
 * The replica of each slot: none has more than its share, rounded up, and few slots move when a replica comes or goes.
 * The same for the same replicas in any order; empty without replicas.
 */
export function assignSlots(slots: readonly number[], replicas: readonly string[]): ReadonlyMap<number, string> {
  const most = Math.ceil(slots.length / replicas.length);
  const pairs = slots.flatMap((slot) => replicas.map((replica) => ({ slot, replica, hash: hashOf(slot, replica) })));
  const owners = new Map<number, string>();
  const counts = new Map<string, number>();
  for (const { slot, replica } of pairs.sort((a, b) => (a.hash < b.hash ? -1 : 1))) {
    const count = counts.get(replica) ?? 0;
    if (owners.has(slot) || count >= most) continue;
    owners.set(slot, replica);
    counts.set(replica, count + 1);
  }
  return owners;
}

/** The rank of a replica in each slot: 0 in its own; the others follow by their hash. Empty for one that has no share. */
export function ranksOf(
  replica: string,
  slots: readonly number[],
  replicas: readonly string[],
): ReadonlyMap<number, number> {
  if (!replicas.includes(replica)) return new Map();
  const owners = assignSlots(slots, replicas);
  const orderIn = (slot: number) =>
    replicas.filter((one) => one !== owners.get(slot)).sort((a, b) => (hashOf(slot, a) < hashOf(slot, b) ? -1 : 1));
  return new Map(slots.map((slot) => [slot, orderIn(slot).indexOf(replica) + 1]));
}

function hashOf(slot: number, replica: string): string {
  return createHash("sha1").update(`${slot} ${replica}`).digest("hex");
}
