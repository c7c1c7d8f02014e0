/** Alerts that are out of date: not read since the fleet was last watched, or since reading them began to fail. Pure. */

import type { Alert } from "../health/alert.ts";
import type { Attempt } from "../health/attempt.ts";
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

/**
 * The last reading of what the alert is about, 0 for never: of what a shard has, `unread` lists what its good sweep did not
 * read. A recording is missing by an answer for its location.
 */
export function lastReadAt(
  { goodAt, unread = {} }: Attempt = NEVER,
  { subject, facts }: Pick<Alert, "subject" | "facts">,
  location = "",
): Instant {
  const recording = facts.problem === "missing" ? undefined : own(unread, subject.id);
  return recording ?? own(unread, location) ?? goodAt;
}

/** True if what was read then may not be sent: not since the fleet is watched, or not lately. A slow request is no failure. */
export function isStale(
  readAt: Instant,
  shard: Attempt = NEVER,
  { now, since, intervalMs }: { readonly now: Instant; readonly since: Instant; readonly intervalMs: number },
): boolean {
  return readAt < since || (shard.attemptedAt > readAt && now - readAt > GAP_INTERVALS * intervalMs);
}
