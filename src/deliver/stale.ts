/** Alerts about what was not read lately, from the attempts that all replicas share. */
import { locationIdOf } from "../alerting/impact.ts";
import type { Suppression } from "../alerting/model.ts";
import { isStale, lastReadAt, watchedSince } from "../alerting/stale.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Store } from "../store/store.ts";

/** Gives a look-up for these alerts: an end was read, and other subjects have no shard. */
export type Staleness = (alerts: readonly Alert[], now: Instant) => Promise<(alert: Alert) => Suppression | undefined>;

interface StaleDeps {
  readonly shards: Pick<Store["shards"], "attemptsOf">;
  readonly assigned: Pick<Assigned, "shardOf" | "shards">;
  readonly statusIntervalMs: number;
  /** Since when this process runs without a pause. */
  runsSince(): Instant;
}

export function createStaleness({ shards, assigned, statusIntervalMs: intervalMs, runsSince }: StaleDeps): Staleness {
  /** The shards that may have it: any, where its location is not assigned any more. */
  function subjectsOf(alert: Alert): string[] {
    const location = alert.state === "firing" ? locationIdOf(alert) : undefined;
    if (location === undefined) return [];
    const shard = assigned.shardOf(location);
    return (shard === undefined ? assigned.shards() : [shard]).map((one) => `shard:${one}`);
  }

  return async (alerts, now) => {
    const subjects = new Set(alerts.flatMap(subjectsOf));
    if (subjects.size === 0) return () => undefined;
    const attempts = await shards.attemptsOf(["fleet", ...subjects]);
    const since = Math.max(runsSince(), watchedSince(attempts.get("fleet"), now, intervalMs));
    return (alert) => {
      const by = subjectsOf(alert).find((one) => isStale(attempts.get(one), alert, { now, since, intervalMs }));
      if (by === undefined) return undefined;
      const shard = attempts.get(by);
      return { reason: "stale", by, readAt: lastReadAt(shard, alert), goodAt: shard?.goodAt ?? 0 };
    };
  };
}
