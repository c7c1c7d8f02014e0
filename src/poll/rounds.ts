/** Work on many shards, a few at a time. */
import type { Round } from "../cluster/schedulers.ts";
import type { createRefreshUptime } from "./uptime.ts";
import type { createBackfillUptime } from "./uptime-backfill.ts";

/**
 * Gives `inTurn(work, isLater)`: so many are under way at once, the others begin in the order in which they came; what
 * is for later, once nothing else waits.
 */
export function createTurns(atOnce: number): (work: () => Promise<unknown>, isLater?: boolean) => Promise<void> {
  const waiting: (() => void)[] = [];
  const later: (() => void)[] = [];
  let running = 0;
  return async (work, isLater = false) => {
    if (running >= atOnce) await new Promise<void>((resolve) => (isLater ? later : waiting).push(resolve));
    else running++;
    try {
      await work();
    } finally {
      const next = waiting.shift() ?? later.shift();
      if (next) next();
      else running--;
    }
  };
}

/**
 * Gives a round of `work` over shards, each in its turn. A shard that is worked on already, or waits for it, is left to
 * the round that it is in, unless that was aborted; once the signal is aborted none is begun.
 */
export function createRound(
  work: (shard: number, signal: AbortSignal) => Promise<unknown>,
  inTurn: ReturnType<typeof createTurns>,
): Round {
  const pending = new Map<number, AbortSignal>();
  return async (shards, signal) => {
    const fresh = shards.filter((shard) => pending.get(shard)?.aborted ?? true);
    for (const shard of fresh) pending.set(shard, signal);
    const all = fresh.map((shard) =>
      inTurn(async () => !signal.aborted && work(shard, signal)).finally(() => {
        if (pending.get(shard) === signal) pending.delete(shard);
      }),
    );
    const failed = (await Promise.allSettled(all)).find(({ status }) => status === "rejected");
    if (failed) await Promise.reject((failed as PromiseRejectedResult).reason);
  };
}

const UPTIME_AT_ONCE = 3;

/** Rounds of uptime; days of the past come after the figures that wait, of other slots and of later rounds as well. */
export function createUptimeRound(
  refresh: ReturnType<typeof createRefreshUptime>,
  backfill: ReturnType<typeof createBackfillUptime>,
): Round {
  const inTurn = createTurns(UPTIME_AT_ONCE);
  const withoutPast = new Map<number, readonly string[]>();
  const figures = createRound(async (shard, signal) => {
    const ids = await refresh(shard, signal);
    if (ids.length > 0) withoutPast.set(shard, ids);
  }, inTurn);
  const past = createRound(
    async (shard, signal) => {
      const ids = withoutPast.get(shard) ?? [];
      withoutPast.delete(shard);
      await backfill(shard, ids, signal);
    },
    (work) => inTurn(work, true),
  );
  return async (shards, signal) => {
    await figures(shards, signal);
    await past(
      shards.filter((shard) => withoutPast.has(shard)),
      signal,
    );
  };
}
