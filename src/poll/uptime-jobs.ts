/** The uptime of shards as jobs: figures, and days of the past after all the figures that wait. */
import type { ShardJob } from "../cluster/own-ticks.ts";
import { shardJob } from "./needs.ts";
import { createShardTurns, SLOW_DEADLINE_MS } from "./rounds.ts";
import type { createRefreshUptime } from "./uptime.ts";
import type { createBackfillUptime } from "./uptime-backfill.ts";

const AT_ONCE = 3;

interface UptimeJobsDeps {
  readonly everyMs: number;
  readonly refresh: ReturnType<typeof createRefreshUptime>;
  readonly backfill: ReturnType<typeof createBackfillUptime>;
}

/** The shards in `lacking` are refreshed at once, and taken out of it then. */
export function createUptimeJobs(
  { everyMs, refresh, backfill }: UptimeJobsDeps,
  lacking: Set<number>,
): readonly ShardJob[] {
  const inTurn = createShardTurns(AT_ONCE, SLOW_DEADLINE_MS);
  const withoutPast = new Map<number, readonly string[]>();
  const figures = shardJob({
    ...{ name: "uptime", everyMs },
    isLacking: (shard) => lacking.has(shard),
    run: inTurn(async (shard, signal) => {
      const ids = await refresh(shard, signal);
      lacking.delete(shard);
      if (ids.length > 0) withoutPast.set(shard, ids);
    }),
  });
  const past: ShardJob = {
    ...{ name: "past", everyMs },
    need: (shard) => (withoutPast.has(shard) ? "at_once" : "none"),
    run: inTurn(async (shard, signal) => {
      const ids = withoutPast.get(shard) ?? [];
      withoutPast.delete(shard);
      await backfill(shard, ids, signal);
    }, true),
  };
  return [figures, past];
}
