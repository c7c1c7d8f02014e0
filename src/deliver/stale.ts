/** What is not sent because its shard was not read lately, from the attempts that all replicas share. */
import { locationIdOf } from "../alerting/impact.ts";
import type { Suppression } from "../alerting/notification.ts";
import { isStale, lastReadAt, watchedSince } from "../alerting/stale.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Store } from "../store/store.ts";

/** Gives a look-up for these alerts: an end was read, and other subjects have no shard. */
export type Staleness = (alerts: readonly Alert[], now: Instant) => Promise<(alert: Alert) => Suppression | undefined>;

export function createStaleness(deps: {
  readonly shards: Pick<Store["shards"], "attemptsOf">;
  readonly assigned: Pick<Assigned, "shardOf" | "shards">;
  readonly statusIntervalMs: number;
}): Staleness {
  const { shards, assigned, statusIntervalMs: intervalMs } = deps;
  const locationOf = (alert: Alert) => (alert.state === "firing" ? locationIdOf(alert) : undefined);
  /** Where the location is not assigned any more, any shard may have its alerts. */
  function subjectsOf(location: string | undefined): string[] {
    if (location === undefined) return [];
    const shard = assigned.shardOf(location);
    return (shard === undefined ? assigned.shards() : [shard]).map((one) => `shard:${one}`);
  }

  return async (alerts, now) => {
    const subjects = new Set(alerts.flatMap((alert) => subjectsOf(locationOf(alert))));
    if (subjects.size === 0) return () => undefined;
    const attempts = await shards.attemptsOf(["fleet", ...subjects]);
    const moment = { now, since: watchedSince(attempts.get("fleet"), now, intervalMs), intervalMs };
    return (alert) => {
      const location = locationOf(alert);
      const by = subjectsOf(location).find((subject) => isStale(attempts.get(subject), moment, location));
      if (by === undefined) return undefined;
      const shard = attempts.get(by);
      return { reason: "stale", by, readAt: lastReadAt(shard, location), goodAt: shard?.goodAt ?? 0 };
    };
  };
}
