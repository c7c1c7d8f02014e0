/** The fleet of a run, with locations inside, outside and at the limits of their schedules. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import { receiverOf } from "./config-text.ts";
import type { Fleet } from "./environment.ts";
import type { PlanOptions } from "./plan.ts";
import { QUARTER_MS, type Zone, zoneAtHour, zoneBeginning, zoneEnding } from "./zones.ts";

const RECORDINGS_PER_LOCATION = 5;
/** Fewer locations use two webhooks, so that one of them can have a storm. */
const FEW_LOCATIONS = 160;
const HOUR_MS = 3_600_000;
/** Schedules end and begin at least this long after the start, and before the end of the run. */
const CROSS_AFTER_MS = 150_000;
const CROSS_BEFORE_MS = 30_000;

export interface FleetPlan {
  readonly fleet: Omit<Fleet, "seed">;
  /** Number of locations outside their schedules during the whole run. */
  readonly night: number;
  /** Number of locations with a schedule that ends in the run, and as many with one that begins. */
  readonly twilight: number;
  /** When those schedules end and begin; undefined: not in this run. */
  readonly crossing: Instant | undefined;
}

/** The fleet of a run that starts now. */
export function planFleet(
  { recordings, failover }: { readonly recordings: number; readonly failover?: true },
  now: Instant,
  lengthMs: number,
): FleetPlan {
  const quarter = Math.ceil((now + CROSS_AFTER_MS) / QUARTER_MS) * QUARTER_MS;
  const crossing = quarter < now + lengthMs - CROSS_BEFORE_MS ? quarter : undefined;
  const all = Math.max(4, Math.ceil(recordings / RECORDINGS_PER_LOCATION));
  const some = Math.max(1, Math.floor(all / 40));
  const times = (zone: Zone, count: number) => Array.from({ length: count }, () => zone);
  const night = [...times(zoneAtHour(23, now), some), ...times(zoneAtHour(2, now), some)];
  const ends = crossing === undefined ? [] : times(zoneEnding(crossing), 2 * some);
  const begins = crossing === undefined ? [] : times(zoneBeginning(crossing), 2 * some);
  const scheduled = [...night, ...ends, ...begins];
  return {
    fleet: {
      locations: Math.max(1, all - scheduled.length),
      recordingsPerLocation: RECORDINGS_PER_LOCATION,
      webhooks: all < FEW_LOCATIONS ? 2 : 8,
      scheduled,
      span: { from: now - HOUR_MS, to: now + lengthMs + HOUR_MS },
      failover: failover === true,
    },
    night: night.length,
    twilight: ends.length,
    crossing,
  };
}

/** The fleet as options of the plan; `ids` are those of the locations, in order; the run begins at `start`. */
export function planOptionsOf(
  { fleet, night, twilight, crossing }: FleetPlan,
  ids: readonly string[],
  start: Instant,
): Omit<PlanOptions, "seed" | "lengthMs" | "kills" | "replicas"> {
  const { locations, recordingsPerLocation, webhooks, failover } = fleet;
  const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);
  return {
    locations,
    recordingsPerLocation,
    webhooks,
    failover,
    receiverOf: (location) => receiverOf(ids[location] ?? "00", webhooks),
    scheduled: {
      night: from(locations, night),
      ends: from(locations + night, twilight),
      begins: from(locations + night + twilight, twilight),
      crossingAt: crossing === undefined ? undefined : crossing - start,
    },
  };
}

/** Wait until a full quarter of an hour falls into a run, ms. */
export function waitForCrossing(now: Instant, lengthMs: number): number {
  const left = QUARTER_MS - (now % QUARTER_MS);
  const most = lengthMs - 2 * CROSS_BEFORE_MS;
  return left >= CROSS_AFTER_MS && left <= most ? 0 : (left - most + QUARTER_MS) % QUARTER_MS;
}
