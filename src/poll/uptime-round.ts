/** Rounds of uptime over shards: their figures, then the days of their past. */
import type { Round } from "../cluster/schedulers.ts";
import { createRound, createTurns } from "./rounds.ts";
import type { createRefreshUptime } from "./uptime.ts";
import type { createBackfillUptime } from "./uptime-backfill.ts";

const SHARDS_AT_ONCE = 3;

/** Days of the past come after the figures that wait, of other slots and of later rounds as well. */
export function createUptimeRound(
  refresh: ReturnType<typeof createRefreshUptime>,
  backfill: ReturnType<typeof createBackfillUptime>,
): Round {
  const inTurn = createTurns(SHARDS_AT_ONCE);
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
