/** The worker of zones and usual entries: one shard at a time, and again soon where a shard could not be read. */

import type { Queues } from "../cluster/queues.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import type { Clock } from "../lib/clock.ts";
import type { Logger } from "../lib/log.ts";
import type { Service } from "../service/service.ts";
import type { Store } from "../store/store.ts";
import { createRefreshDetails } from "./details.ts";

/** What failed is asked for again after this long, and longer and longer up to `inventory_interval`. */
const AGAIN_MS = 60_000;

export interface DetailsWorkDeps {
  readonly clock: Clock;
  readonly log: Logger;
  readonly queues: Pick<Queues, "work" | "add">;
  readonly service: Pick<Service, "areaContexts" | "entries">;
  readonly store: Pick<Store, "shards" | "inventory" | "zones" | "usualEntries">;
  readonly assigned: Pick<Assigned, "locations" | "shards">;
  /** A shard that was not swept yet is asked for again after this long. */
  readonly statusIntervalMs: number;
  readonly inventoryIntervalMs: number;
}

export interface DetailsWork {
  start(): Promise<void>;
  /** Breaks off what is under way before its next question; whoever works next takes it up. */
  stop(): void;
}

export function createDetailsWork(deps: DetailsWorkDeps): DetailsWork {
  const { clock, queues, store, assigned, statusIntervalMs, inventoryIntervalMs } = deps;
  const stopping = new AbortController();
  const failures = new Map<number, number>();
  const refresh = createRefreshDetails({
    ...deps,
    store: store.shards,
    inventory: store.inventory,
    zones: store.zones,
    usualEntries: store.usualEntries,
    signal: stopping.signal,
  });

  const restMs = (failed: number) =>
    Math.min(AGAIN_MS * 2 ** Math.min(20, failed - 1), Math.max(AGAIN_MS, inventoryIntervalMs));

  async function again(shard: number, delayMs: number): Promise<void> {
    if (!assigned.shards().includes(shard)) return;
    const id = `details-${shard}-${Math.ceil((clock.now() + delayMs) / delayMs)}`;
    await queues.add("details", { shard }, { id, delayMs });
  }

  return {
    start: () =>
      queues.work("details", 1, async ({ data }) => {
        const shard = Number(data.shard);
        const outcome = await refresh(shard);
        const failed = outcome === "failed" ? (failures.get(shard) ?? 0) + 1 : 0;
        failures.set(shard, failed);
        if (outcome === "not_swept") await again(shard, statusIntervalMs);
        if (failed > 0) await again(shard, restMs(failed));
      }),
    stop: () => stopping.abort(),
  };
}
