/** Alerts of which nothing is known because their shard was not read lately, from the attempts that all replicas share. */
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
}

export function createStaleness(deps: StaleDeps): Staleness {
  const staleLocations = createStaleLocations(deps);
  const locationOf = (alert: Alert) => (alert.state === "firing" ? locationIdOf(alert) : undefined);
  return async (alerts, now) => {
    const staleOf = await staleLocations(new Set(alerts.flatMap((alert) => locationOf(alert) ?? [])), now);
    return (alert) => {
      const location = locationOf(alert);
      return location === undefined ? undefined : staleOf(location);
    };
  };
}

/** Gives a look-up for these locations: undefined for one that was read lately. */
export function createStaleLocations({ shards, assigned, statusIntervalMs: intervalMs }: StaleDeps) {
  /** The shards that may have a location: any, where it is not assigned any more. */
  function subjectsOf(location: string): string[] {
    const shard = assigned.shardOf(location);
    return (shard === undefined ? assigned.shards() : [shard]).map((one) => `shard:${one}`);
  }

  return async (
    locations: ReadonlySet<string>,
    now: Instant,
  ): Promise<(location: string) => Suppression | undefined> => {
    const subjects = new Set([...locations].flatMap(subjectsOf));
    if (subjects.size === 0) return () => undefined;
    const attempts = await shards.attemptsOf(["fleet", ...subjects]);
    const moment = { now, since: watchedSince(attempts.get("fleet"), now, intervalMs), intervalMs };
    return (location) => {
      const by = subjectsOf(location).find((subject) => isStale(attempts.get(subject), moment, location));
      if (by === undefined) return undefined;
      const shard = attempts.get(by);
      return { reason: "stale", by, readAt: lastReadAt(shard, location), goodAt: shard?.goodAt ?? 0 };
    };
  };
}
