/** Alerts that are out of date: their shard was not read since the fleet was last watched, or since it went stale. Pure. */
import type { Attempt } from "../health/evaluate-self.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import type { Instant } from "../lib/clock.ts";

/**
 * Good readings from before this are out of date. `fleet` is noted at every interval while any replica watches; where
 * that stopped for longer than 3 intervals, nothing was watched. 0: no pause is known.
 */
export function watchedSince(fleet: Attempt | undefined, now: Instant, intervalMs: number): Instant {
  if (!fleet) return 0;
  if (now - fleet.attemptedAt > GAP_INTERVALS * intervalMs) return fleet.attemptedAt + intervalMs;
  // After the clock was put back.
  return fleet.since === undefined || fleet.since > now ? 0 : fleet.since;
}

/** Whether what is known of the shard may not be sent. A slow request is no failure. */
export function isStale(
  shard: Attempt | undefined,
  { now, since, intervalMs }: { readonly now: Instant; readonly since: Instant; readonly intervalMs: number },
): boolean {
  const { goodAt, attemptedAt } = shard ?? { goodAt: 0, attemptedAt: 0 };
  return goodAt < since || (attemptedAt > goodAt && now - goodAt > GAP_INTERVALS * intervalMs);
}
