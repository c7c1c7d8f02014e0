/**
 * What is to happen in a chaos run, decided beforehand from its seed: cameras that go dark and come back, and faults
 * of everything around the daemon. Storms of faults and lulls take turns, so that there is also a time to be judged
 * by how quick it is. Times are ms after the start.
 */
import type { Action } from "./action.ts";
import { planFaults, planKills } from "./plan-faults.ts";
import { planFlapping } from "./plan-flapping.ts";
import { planOutages } from "./plan-outages.ts";
import { planHours } from "./plan-schedules.ts";
import { createDice } from "./random.ts";

export interface PlanOptions {
  readonly seed: number;
  readonly lengthMs: number;
  /** Processes killed, Redis included. */
  readonly kills: number;
  /** Those without an uploading schedule, which come first. */
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly replicas: number;
  readonly webhooks: number;
  /** Redis is killed for its replica to take over, so often and no more. */
  readonly failover: boolean;
  /** The webhook of a location. */
  receiverOf(location: number): number;
  readonly scheduled: Scheduled;
}

/** Locations whose recordings have uploading schedules, behind the others. */
export interface Scheduled {
  /** Outside them all the time. */
  readonly night: readonly number[];
  /** Whose schedules end, and begin, at `crossingAt`. */
  readonly ends: readonly number[];
  readonly begins: readonly number[];
  /** ms after the start; undefined: no schedule begins or ends in this run. */
  readonly crossingAt: number | undefined;
}

export interface Plan {
  /** In order of time. */
  readonly actions: readonly Action[];
  /** Recordings that are left dark when all is over, since they came to rest so. */
  readonly leftDark: ReadonlySet<number>;
}

/** Everything that happens. */
export function planChaos(options: PlanOptions): Plan {
  const dice = createDice(options.seed);
  const flappers = planFlapping(options, dice);
  const actions = [
    ...flappers.actions,
    ...planOutages(options, flappers.locations, dice),
    ...planHours(options, dice),
    ...planKills(options, dice),
    ...planFaults(options, dice),
  ];
  return { actions: actions.sort((a, b) => a.at - b.at), leftDark: flappers.leftDark };
}

/** The recordings of a location, by their place in the fleet. */
export function recordingsAt(location: number, { recordingsPerLocation }: PlanOptions): number[] {
  return Array.from({ length: recordingsPerLocation }, (_, i) => location * recordingsPerLocation + i);
}
