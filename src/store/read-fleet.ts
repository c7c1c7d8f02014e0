/** The whole fleet as stored at this moment. */
import { keptIntervalMs } from "../health/rhythm.ts";
import type { FleetParts, FleetSnapshot } from "../health/shard-state.ts";
import type { Clock } from "../lib/clock.ts";
import type { Store } from "./store.ts";

/** Figures older than this many uptime intervals are dropped. */
const FIGURES_FRESH_INTERVALS = 3;

interface ReadFleetDeps {
  readonly watch: { readonly statusIntervalMs: number; readonly uptimeIntervalMs: number };
  readonly store: Pick<Store, "shards" | "uptime" | "inventory">;
  readonly clock: Clock;
  readonly shardNumbers: readonly number[];
}

/** A snapshot, with the numbers of its shards in the same order. Reads only what changed since the last time. */
export async function readFleet(
  { store, shardNumbers, watch, clock }: ReadFleetDeps,
  { names, figures = true }: FleetParts = {},
) {
  const now = clock.now();
  const shards = await store.shards.readAll(shardNumbers);
  await store.inventory.knowShards(shards, names);
  const staleBefore = now - FIGURES_FRESH_INTERVALS * watch.uptimeIntervalMs;
  if (figures) await store.uptime.refreshFigures(shardNumbers, staleBefore);
  return {
    now,
    statusIntervalMs: keptIntervalMs(shards, { now, intervalMs: watch.statusIntervalMs }),
    shards,
    shardNumbers,
    inventory: store.inventory,
    overallUptime: store.uptime.figure,
  } satisfies FleetSnapshot & { readonly shardNumbers: readonly number[] };
}
