/** The uptime of recordings, for those who show it: what is kept, and what the service tells when it is asked. */
import type { Config } from "../config/config.ts";
import type { FleetSnapshot } from "../health/shard-state.ts";
import type { Store } from "../store/store.ts";
import type { UptimeHistory } from "../store/uptime.ts";
import { createRecallUptime, type RecallUptime, type RecallUptimeDeps } from "./recall-uptime.ts";

export interface UptimeReaderDeps extends RecallUptimeDeps {
  readonly config: Pick<Config, "service">;
  readonly store: Pick<Store, "uptime">;
  fleet(): Promise<FleetSnapshot & { readonly shardNumbers: readonly number[] }>;
}

/** A history, and the zone in which its days are days. */
export type UptimeKept = Pick<UptimeHistory, "buckets" | "days" | "quality"> & { readonly timezone: string };

export interface UptimeReader {
  /** By recording id; recordings of which nothing is kept are left out. */
  kept(ids: readonly string[]): Promise<ReadonlyMap<string, UptimeKept>>;
  /** The hours of one recording's last month. */
  readonly recall: RecallUptime;
}

export function createUptimeReader(deps: UptimeReaderDeps): UptimeReader {
  return { kept: (ids) => readKept(deps, ids), recall: createRecallUptime(deps) };
}

async function readKept(
  { config, store, fleet }: UptimeReaderDeps,
  ids: readonly string[],
): Promise<ReadonlyMap<string, UptimeKept>> {
  const { shards, shardNumbers, inventory } = await fleet();
  const kept = new Map<string, UptimeKept>();
  for (const [i, { recordings }] of shards.entries()) {
    const here = ids.filter((id) => recordings.has(id));
    const histories = await store.uptime.histories(shardNumbers[i] ?? 0, here);
    for (const [id, { buckets, days, quality }] of histories) {
      const own = inventory.recording(id)?.timezone ?? "UTC";
      const timezone = config.service.uptimeIndexTimezone === "utc" ? "UTC" : own;
      kept.set(id, { buckets, days, timezone, quality });
    }
  }
  return kept;
}
