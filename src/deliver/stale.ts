/** Alerts about what was not read lately, from the attempts that all replicas share. */
import { locationIdOf } from "../alerting/impact.ts";
import type { Suppression } from "../alerting/model.ts";
import { isStale, lastReadAt, watchedSince } from "../alerting/stale.ts";
import type { Assigned } from "../cluster/shard-assignment.ts";
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Store } from "../store/store.ts";

/** Gives a look-up for these alerts: an end was read, and the service, integrations and external alerts are not. */
export type Staleness = (alerts: readonly Alert[], now: Instant) => Promise<(alert: Alert) => Suppression | undefined>;

interface StaleDeps {
  readonly shards: Pick<Store["shards"], "attemptsOf">;
  readonly assigned: Pick<Assigned, "shardOf" | "shards">;
  readonly inventory: Pick<Store["inventory"], "recording">;
  readonly statusIntervalMs: number;
  /** Since when this process runs without a pause. */
  runsSince(): Instant;
}

export function createStaleness(deps: StaleDeps): Staleness {
  const { shards, assigned, inventory, statusIntervalMs: intervalMs, runsSince } = deps;

  /** Where what the alert is about is now: labels name where it was when it began. */
  function locationOf(alert: Alert): string | undefined {
    const known = alert.subject.kind === "recording" ? inventory.recording(alert.subject.id)?.locationId : undefined;
    return alert.state === "firing" ? known || locationIdOf(alert) : undefined;
  }

  /** The attempts that may have read it: of any shard, where its location is not assigned any more; of the fleet for a group. */
  function subjectsOf(alert: Alert): string[] {
    if (alert.state === "firing" && alert.subject.kind === "group") return ["fleet"];
    const location = locationOf(alert);
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
      const location = locationOf(alert) ?? "";
      for (const by of subjectsOf(alert)) {
        const attempt = attempts.get(by);
        const readAt = lastReadAt(attempt, alert, location);
        // An evaluation of groups knows by itself what is too old.
        const isLate = isStale(readAt, by === "fleet" ? undefined : attempt, { now, since, intervalMs });
        if (isLate) return { reason: "stale", by, goodAt: attempt?.goodAt ?? 0 };
      }
      return undefined;
    };
  };
}
