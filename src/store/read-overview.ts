/** The fleet at this moment as the overviews of its shards say: a few bytes of each location, and names from memory. */
import { type FleetOverview, joinOverviews } from "../health/shard-overview.ts";
import { type ReadEvidenceDeps, readEvidence } from "./read-evidence.ts";
import type { Store } from "./store.ts";

interface ReadOverviewDeps extends Pick<ReadEvidenceDeps, "clock" | "intervals" | "assigned"> {
  readonly store: Pick<Store, "shards" | "inventory">;
}

export async function readOverview({ store, assigned, intervals, clock }: ReadOverviewDeps): Promise<FleetOverview> {
  const { shards, inventory } = store;
  const [overviews, evidence] = await Promise.all([
    shards.overviews(),
    readEvidence({ clock, intervals, assigned, store: shards }),
    inventory.follow(),
  ]);
  const numbers = new Set(assigned.shards());
  const known = overviews.values().filter(({ shard }) => numbers.has(shard));
  const moment = { now: clock.now(), intervalMs: intervals.intervalMs };
  return { ...joinOverviews(known, moment), inventory, evidence };
}
