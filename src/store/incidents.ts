/** Alerts that fire, and ended incidents: one small row each, sorted by their end, for digests and the API. */
import type { Redis } from "ioredis";
import type { Alert, EndReason, SubjectKind } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { createParsedHash } from "./hash.ts";
import type { Keys } from "./keys.ts";

/** Gives all alerts that fire: the same list, and the same alerts in it, as long as nothing changes. */
export function createFiringStore(redis: Redis, keys: Keys) {
  const parse = (text: string) => (text.startsWith("F") ? (JSON.parse(text.slice(1)) as Alert) : undefined);
  const readAll = createParsedHash(redis, keys.alerts, parse);
  let known: { readonly revision: string | null; readonly firing: readonly Alert[] } = { revision: null, firing: [] };
  return async (): Promise<readonly Alert[]> => {
    const revision = await redis.get(keys.revision);
    if (revision === null || revision !== known.revision)
      known = { revision, firing: [...(await readAll()).values()].filter((alert) => alert !== undefined) };
    return known.firing;
  };
}

/** One episode of an alert, resolved (`endsAt`) or not. */
export interface Incident {
  readonly id: string;
  readonly ruleId: string;
  readonly alertname: string;
  readonly subject: { readonly kind: SubjectKind; readonly id: string };
  readonly locationId: string | undefined;
  readonly startsAt: Instant;
  readonly endsAt: Instant | undefined;
  readonly endReason: EndReason | undefined;
}

/** An alert as the row of its incident. */
export function toIncident(alert: Alert): Incident {
  return {
    id: alert.id,
    ruleId: alert.ruleId,
    alertname: alert.labels.alertname ?? "",
    subject: alert.subject,
    locationId: alert.labels.location_id,
    startsAt: alert.startsAt,
    endsAt: alert.endsAt,
    endReason: alert.endReason,
  };
}

/** The oldest go when there are more. */
export const INCIDENTS_KEPT = 50_000;

export function createIncidentStore(redis: Redis, keys: Keys) {
  return {
    /** Incidents that ended at or after `from`, oldest end first. Open ones are among the alerts. */
    async endedSince(from: Instant): Promise<Incident[]> {
      const rows = await redis.zrangebyscore(keys.incidents, from, "+inf");
      return rows.map((row) => JSON.parse(row) as Incident);
    },

    /** From when on no incident was dropped to make room; 0 while none was. */
    async completeSince(): Promise<Instant> {
      if ((await redis.zcard(keys.incidents)) < INCIDENTS_KEPT) return 0;
      const [, end] = await redis.zrangebyscore(keys.incidents, "-inf", "+inf", "WITHSCORES", "LIMIT", 0, 1);
      return Number(end ?? 0);
    },
  };
}
