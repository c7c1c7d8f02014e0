/** The fleet as it is stored at this moment: its evidence, its overviews, or its shards. */
import { attemptsOf } from "../health/attempt.ts";
import { ageOf, type Evidence, type EvidenceMoment, fleetEvidence } from "../health/evidence.ts";
import { GAP_INTERVALS, keptIntervalMs } from "../health/rhythm.ts";
import { type FleetOverview, joinOverviews } from "../health/shard-overview.ts";
import type { FleetSnapshot } from "../health/shard-state.ts";
import type { Clock } from "../lib/clock.ts";
import type { Store } from "./store.ts";
import { FIGURES_FRESH_INTERVALS } from "./uptime.ts";

interface ReadOverviewDeps {
  readonly clock: Clock;
  readonly store: Pick<Store, "shards" | "inventory">;
  readonly intervals: Omit<EvidenceMoment, "now">;
  readonly assigned: { shards(): readonly number[] };
}

export type ReadEvidenceDeps = Omit<ReadOverviewDeps, "store"> & { readonly store: Pick<Store["shards"], "attempts"> };

interface ReadFleetDeps extends Pick<ReadOverviewDeps, "clock"> {
  readonly store: Pick<Store, "shards" | "uptime" | "inventory">;
  readonly intervals: Pick<EvidenceMoment, "intervalMs" | "uptimeIntervalMs">;
  readonly shardNumbers: readonly number[];
}

/** The age of the evidence of the fleet, by the attempts that all replicas share. `isEvaluated`: some replica evaluates self alerts. */
export async function readEvidence({
  clock,
  store,
  intervals,
  assigned,
}: ReadEvidenceDeps): Promise<Evidence & { readonly isEvaluated: boolean }> {
  const all = await store.attempts();
  const moment = { ...intervals, now: clock.now() };
  const fleet = all.get("fleet") ?? { goodAt: 0, attemptedAt: 0 };
  const isEvaluated = ageOf(fleet, moment, GAP_INTERVALS * intervals.intervalMs) === "fresh";
  return { ...fleetEvidence(attemptsOf(all, assigned.shards()), moment), isEvaluated };
}

/** The fleet as the overviews of its shards say: a few bytes of each location, and names from memory. */
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

/** These shards, with their numbers in the same order. Reads only what changed since the last time. */
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
