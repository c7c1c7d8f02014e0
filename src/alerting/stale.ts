/** Alerts that are out of date: not read since the fleet was last watched, or since reading them began to fail. Pure. */
import type { Attempt } from "../health/model.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import type { Instant } from "../lib/clock.ts";
import { own } from "../lib/own.ts";

const NEVER: Attempt = { goodAt: 0, attemptedAt: 0 };

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

/** The time at which a location of the shard was last read, 0 for never: a good sweep may have no answer for a part of them. */
export function lastReadAt({ goodAt, unread = {} }: Attempt = NEVER, location = ""): Instant {
  return own(unread, location) ?? goodAt;
}

/** True if what is known of a location of the shard may not be sent. A slow request is no failure. */
export function isStale(
  shard: Attempt = NEVER,
  { now, since, intervalMs }: { readonly now: Instant; readonly since: Instant; readonly intervalMs: number },
  location?: string,
): boolean {
  const readAt = lastReadAt(shard, location);
  return readAt < since || (shard.attemptedAt > readAt && now - readAt > GAP_INTERVALS * intervalMs);
}
