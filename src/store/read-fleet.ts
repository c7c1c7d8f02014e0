/** The whole fleet as stored at this moment. */
import { keptIntervalMs } from "../health/rhythm.ts";
import type { FleetParts, FleetSnapshot } from "../health/shard-state.ts";
import { type ReadEvidenceDeps, readEvidence } from "./read-evidence.ts";
import type { Store } from "./store.ts";

/** Figures older than this many uptime intervals are dropped. */
const FIGURES_FRESH_INTERVALS = 3;

interface ReadFleetDeps extends Pick<ReadEvidenceDeps, "clock" | "intervals"> {
  readonly store: Pick<Store, "shards" | "uptime" | "inventory">;
  readonly shardNumbers: readonly number[];
}

/** A snapshot, with the numbers of its shards in the same order. Reads only what changed since the last time. */
export async function readFleet(
  { store, shardNumbers, intervals, clock }: ReadFleetDeps,
  { figures = true }: FleetParts = {},
) {
  const now = clock.now();
  const assigned = { shards: () => shardNumbers };
  const [shards, evidence] = await Promise.all([
    store.shards.readAll(shardNumbers),
    readEvidence({ clock, intervals, assigned, store: store.shards }),
  ]);
  await store.inventory.follow();
  const staleBefore = now - FIGURES_FRESH_INTERVALS * intervals.uptimeIntervalMs;
  if (figures) await store.uptime.refreshFigures(shardNumbers, staleBefore);
  return {
    now,
    statusIntervalMs: keptIntervalMs(shards, { now, intervalMs: intervals.intervalMs }),
    shards,
    shardNumbers,
    inventory: store.inventory,
    overallUptime: store.uptime.figure,
    evidence,
  } satisfies FleetSnapshot & { readonly shardNumbers: readonly number[] };
}
