/** Sweeps of many shards, a few at a time. */

/**
 * Gives `sweepShards(shards)`, which sweeps so many at once in this process. A shard that is swept already, or waits for
 * it, is left to that sweep; one for which `isOwn` has become false is not begun.
 */
export function createSweepShards(sweep: (shard: number) => Promise<void>, atOnce: number) {
  const pending = new Set<number>();
  const waiting: (() => void)[] = [];
  let running = 0;

  async function inTurn(work: () => Promise<void>): Promise<void> {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  }

  return async (shards: readonly number[], isOwn = () => true): Promise<void> => {
    const fresh = shards.filter((shard) => !pending.has(shard));
    for (const shard of fresh) pending.add(shard);
    const sweeps = fresh.map((shard) =>
      inTurn(async () => (isOwn() ? sweep(shard) : undefined)).finally(() => pending.delete(shard)),
    );
    const failed = (await Promise.allSettled(sweeps)).find(({ status }) => status === "rejected");
    if (failed) await Promise.reject((failed as PromiseRejectedResult).reason);
  };
}
