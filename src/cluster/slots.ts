/** Which replica works on which shards: each slot of shards belongs to one of the replicas that sweep. Pure. */
import { createHash } from "node:crypto";

/** Fixed: replicas of different builds must agree. So many that the shares of replicas are about equal. */
export const SLOTS = 256;

export const slotOf = (shard: number): number => shard % SLOTS;

/**
 * The rank of a replica in each slot, by a hash of both: 0 in its own. When another comes or goes, only slots that are
 * its own change hands. Empty for a replica that has no share.
 */
export function ranksOf(
  replica: string,
  slots: readonly number[],
  replicas: readonly string[],
): ReadonlyMap<number, number> {
  if (!replicas.includes(replica)) return new Map();
  const rankIn = (slot: number) => {
    const own = hashOf(slot, replica);
    return replicas.filter((other) => hashOf(slot, other) < own).length;
  };
  return new Map(slots.map((slot) => [slot, rankIn(slot)]));
}

function hashOf(slot: number, replica: string): string {
  return createHash("sha1").update(`${slot} ${replica}`).digest("hex");
}
