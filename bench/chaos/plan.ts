/**
 * The plan of a chaos run, derived from its seed: outages of recordings, and faults of everything around the daemon.
 * Phases with faults alternate with calm ones, so that delays can be measured without faults.
 * Times are ms after the start.
 */
import type { Action } from "./action.ts";
import { planFaults, planKills } from "./plan-faults.ts";
import { planOutages } from "./plan-outages.ts";
import { createRandom } from "./random.ts";

export interface PlanOptions {
  readonly seed: number;
  readonly lengthMs: number;
  /** Processes killed, Redis included. */
  readonly kills: number;
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly replicas: number;
  readonly webhooks: number;
  /** The webhook of a location. */
  receiverOf(location: number): number;
}

/** All actions of a run, in order of time. */
export function planChaos(options: PlanOptions): Action[] {
  const random = createRandom(options.seed);
  const actions = [...planOutages(options, random), ...planKills(options, random), ...planFaults(options, random)];
  return actions.sort((a, b) => a.at - b.at);
}
