/** Shards as stored at this moment. */
import type { EvidenceMoment } from "../health/evidence.ts";
import { keptIntervalMs } from "../health/rhythm.ts";
import type { FleetSnapshot } from "../health/shard-state.ts";
import type { Clock } from "../lib/clock.ts";
import type { Store } from "./store.ts";

/** Figures older than this many uptime intervals are dropped. */
const FIGURES_FRESH_INTERVALS = 3;

interface ReadFleetDeps {
  readonly clock: Clock;
  readonly intervals: Pick<EvidenceMoment, "intervalMs" | "uptimeIntervalMs">;
  readonly store: Pick<Store, "shards" | "uptime" | "inventory">;
  readonly shardNumbers: readonly number[];
}

/** A snapshot, with the numbers of its shards in the same order. Reads only what changed since the last time. */
export async function readFleet({ store, shardNumbers, intervals, clock }: ReadFleetDeps) {
  const now = clock.now();
  const shards = await store.shards.readAll(shardNumbers);
  await store.inventory.follow();
  await store.uptime.refreshFigures(shardNumbers, now - FIGURES_FRESH_INTERVALS * intervals.uptimeIntervalMs);
  return {
    now,
    statusIntervalMs: keptIntervalMs(shards, { now, intervalMs: intervals.intervalMs }),
    shards,
    shardNumbers,
    inventory: store.inventory,
    overallUptime: store.uptime.figure,
  } satisfies FleetSnapshot & { readonly shardNumbers: readonly number[] };
}
