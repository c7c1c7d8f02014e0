/** Reads the episodes that incidents are made of. */
import { plannedBy } from "../alerting/maintenance.ts";
import type { Config } from "../config/config.ts";
import type { VisitsLost } from "../counts/visits-lost.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { type StoredEpisode, toStoredEpisode } from "../store/episodes.ts";
import type { Store } from "../store/store.ts";

export interface EpisodesSource {
  readonly store: Pick<Store, "episodes" | "shards">;
  readonly config: Partial<Pick<Config, "maintenance">>;
  /** Visits not counted while alerts fire, by episode. */
  readonly uncounted?: {
    of(alerts: readonly Alert[], now: Instant, withinMs?: number): Promise<ReadonlyMap<string, VisitsLost>>;
  };
}

/** The episodes that ended since then, and those that last with what is known of them now, visits within a time. */
export async function readEpisodes(
  { store, config: { maintenance = [] }, uncounted }: EpisodesSource,
  since: Instant,
  now: Instant,
  withinMs?: number,
): Promise<StoredEpisode[]> {
  const [ended, alerts] = await Promise.all([store.episodes.endedSince(since), store.shards.alerts()]);
  const firing = alerts.filter(({ state }) => state === "firing");
  const visits = await uncounted?.of(firing, now, withinMs);
  const lasting = firing.map((alert) => ({
    ...toStoredEpisode(alert),
    planned: plannedBy(maintenance, alert),
    uncounted: visits?.get(alert.id),
  }));
  return [...ended, ...lasting];
}
