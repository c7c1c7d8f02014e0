/** Alerts about what was not read lately, from the attempts that all replicas share. */
import { locationIdOf } from "../alerting/impact.ts";
import type { Suppression } from "../alerting/model.ts";
import { isStale, lastReadAt, watchedSince } from "../alerting/stale.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import type { Alert } from "../health/alert.ts";
import type { Attempt } from "../health/attempt.ts";
import type { Instant } from "../lib/clock.ts";
import type { Store } from "../store/store.ts";

/**
 * Gives a look-up for these alerts: an end was read, and the service, integrations and external alerts are not. Of `others`
 * it goes by their shards alone.
 */
export type Staleness = (
  alerts: readonly Alert[],
  now: Instant,
  others?: readonly Alert[],
) => Promise<(alert: Alert) => Suppression | undefined>;

interface StaleDeps {
  readonly shards: Pick<Store["shards"], "attemptsOf" | "holding">;
  readonly assigned: Pick<Assigned, "shardOf" | "shards">;
  readonly inventory: Pick<Store["inventory"], "recording">;
  readonly statusIntervalMs: number;
  /** Since when this process runs without a pause. */
  runsSince(): Instant;
}

const attemptAt = (shard: number) => `shard:${shard}`;

export function createStaleness(deps: StaleDeps): Staleness {
  const { shards, assigned, inventory, statusIntervalMs: intervalMs, runsSince } = deps;

  /** Where what the alert is about may be, the likeliest first: labels name where it was when it began. */
  function locationsOf(alert: Alert): string[] {
    if (alert.state !== "firing") return [];
    const known = alert.subject.kind === "recording" ? inventory.recording(alert.subject.id)?.locationId : undefined;
    return [known, locationIdOf(alert)].flatMap((id) => id || []);
  }

  /** The shards that may have it: any of them, where its location is not assigned any more. */
  function shardsOf(alert: Alert): readonly number[] {
    const locations = locationsOf(alert);
    const found = new Set(locations.flatMap((id) => assigned.shardOf(id) ?? []));
    return found.size === 0 && locations.length > 0 ? assigned.shards() : [...found];
  }

  return async (alerts, now, others = []) => {
    const places = alerts.flatMap((alert) => shardsOf(alert).map((shard) => ({ ...alert, shard })));
    const numbers = new Set([...places.map(({ shard }) => shard), ...others.flatMap(shardsOf)]);
    const [attempts, held] = await Promise.all([
      shards.attemptsOf(["fleet", ...[...numbers].map(attemptAt)]),
      shards.holding(places),
    ]);
    const lacking = new Set(places.flatMap(({ shard, id }, i) => (held[i] ? [] : `${shard} ${id}`)));
    const since = Math.max(runsSince(), watchedSince(attempts.get("fleet"), now, intervalMs));
    const isRead = (alert: Alert, by: string, shard?: Attempt) => {
      const readAt = lastReadAt(attempts.get(by), alert, locationsOf(alert)[0]);
      return !isStale(readAt, shard, { now, since, intervalMs });
    };
    const staleBy = (by: string) => ({ reason: "stale", by, goodAt: attempts.get(by)?.goodAt ?? 0 }) as const;
    return (alert) => {
      // An evaluation of groups knows by itself what is too old.
      if (alert.subject.kind === "group" && alert.state === "firing")
        return isRead(alert, "fleet") ? undefined : staleBy("fleet");
      const own = shardsOf(alert);
      const [first] = own;
      const isReadIn = (shard: number) =>
        !lacking.has(`${shard} ${alert.id}`) && isRead(alert, attemptAt(shard), attempts.get(attemptAt(shard)));
      return first === undefined || own.some(isReadIn) ? undefined : staleBy(attemptAt(first));
    };
  };
}
