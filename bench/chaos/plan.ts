/**
 * The plan of a chaos run, derived from its seed: outages of recordings, and faults of everything around the daemon.
 * Phases with faults alternate with calm ones, so that delays can be measured without faults.
 * Times are ms after the start.
 */
import type { Action } from "./action.ts";
import { planFaults, planKills } from "./plan-faults.ts";
import { planFlapping } from "./plan-flapping.ts";
import { planOutages } from "./plan-outages.ts";
import { planSchedules } from "./plan-schedules.ts";
import { createRandom } from "./random.ts";

export interface PlanOptions {
  readonly seed: number;
  readonly lengthMs: number;
  /** Processes killed, Redis included. */
  readonly kills: number;
  /** Number of locations without an uploading schedule, which come first. */
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly replicas: number;
  readonly webhooks: number;
  /** Redis is killed only for failovers to its replica. */
  readonly failover: boolean;
  /** The webhook of a location. */
  receiverOf(location: number): number;
  readonly scheduled: Scheduled;
}

/** Locations with uploading schedules, after the others. */
export interface Scheduled {
  /** Outside their schedules during the whole run. */
  readonly night: readonly number[];
  /** With schedules that end, and begin, at `crossingAt`. */
  readonly ends: readonly number[];
  readonly begins: readonly number[];
  /** ms after the start; undefined: no schedule begins or ends in this run. */
  readonly crossingAt: number | undefined;
}

export interface Plan {
  /** In order of time. */
  readonly actions: readonly Action[];
  /** Recordings that stay offline at the end. */
  readonly leftOffline: ReadonlySet<number>;
}

/** All actions of a run. */
export function planChaos(options: PlanOptions): Plan {
  const random = createRandom(options.seed);
  const flappers = planFlapping(options, random);
  const actions = [
    ...flappers.actions,
    ...planOutages(options, flappers.locations, random),
    ...planSchedules(options, random),
    ...planKills(options, random),
    ...planFaults(options, random),
  ];
  return { actions: actions.sort((a, b) => a.at - b.at), leftOffline: flappers.leftOffline };
}

/** The recordings of a location, by index in the fleet. */
export function recordingsAt(location: number, { recordingsPerLocation }: PlanOptions): number[] {
  return Array.from({ length: recordingsPerLocation }, (_, i) => location * recordingsPerLocation + i);
}
