/** Belief in answers that lack known recordings: as a location list that shrinks too much is not. */

import { HOUR_MS } from "../lib/clock.ts";
import type { Attempt } from "./model.ts";
import { SETTLING_MS } from "./uptime.ts";

/** Recordings of some shards that are known, and those of them that complete answers lack. */
export type Presence = { readonly known: number; readonly absent: number };

/** Up to so many absent recordings are believed in a fleet of any size, unless most of it is absent. */
const FEW = 10;
const MAX_ABSENT_RATIO = 0.2;
const MOST_RATIO = 0.5;

export function isAbsenceBelieved({ known, absent }: Presence): boolean {
  return absent <= MOST_RATIO * known && (absent <= FEW || absent <= MAX_ABSENT_RATIO * known);
}

/** Belief in values that one answer changes, such as locations; `absent` are those of which it does. */
export function areChangesBelieved(changed: Presence): boolean {
  return changed.absent <= A_FEW || isAbsenceBelieved(changed);
}

/**
 * Segments that hardly arrive are the recordings' own failure, or not: where most of the fleet that is online lacks them,
 * it is the service's figures that are late. `absent` are those that lack them.
 */
export function areSegmentsBelieved({ known, absent }: Presence): boolean {
  return absent <= A_FEW || absent <= MOST_RATIO * known;
}

/** Below this ratio of segments a recording lacks them. */
export const LACKS_SEGMENTS = 0.5;
const A_FEW = 2;

/**
 * The recordings of shards whose last reading of uptime was good and is of the hour of the newest one: earlier ones say
 * nothing about the bucket that has been finished since.
 */
export function segmentsOf(uptimes: readonly Attempt[]): Presence {
  const hourOf = ({ goodAt }: Attempt) => Math.floor((goodAt - SETTLING_MS) / HOUR_MS);
  const newest = Math.max(...uptimes.map(hourOf));
  return presenceOf(uptimes.filter((one) => hourOf(one) === newest));
}

/** The recordings of shards whose last sweep, or last reading of uptime, was good. */
export function presenceOf(shards: readonly Attempt[]): Presence {
  const read = shards.filter(({ goodAt, attemptedAt }) => goodAt >= attemptedAt);
  return {
    known: read.reduce((sum, { known = 0 }) => sum + known, 0),
    absent: read.reduce((sum, { absent = 0 }) => sum + absent, 0),
  };
}
