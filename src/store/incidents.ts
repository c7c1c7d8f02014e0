/** Ended incidents, kept for digests and the API: one small row each, sorted by their end. */
import type { Redis } from "ioredis";
import type { Alert, EndReason, SubjectKind } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { Keys } from "./keys.ts";

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

export function encodeIncident(alert: Alert): string {
  return JSON.stringify(toIncident(alert));
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
