/**
 * What is to happen in a chaos run, decided beforehand from its seed: cameras that go dark and come back, and faults
 * of everything around the daemon. Storms of faults and lulls take turns, so that there is also a time to be judged
 * by how quick it is. Times are ms after the start.
 */
import type { Action } from "./action.ts";
import { createDice } from "./dice.ts";
import { planOutages } from "./outages.ts";
import { planFaults, planKills } from "./troubles.ts";

export interface PlanOptions {
  readonly seed: number;
  readonly lengthMs: number;
  /** Processes killed, Redis included. */
  readonly kills: number;
  readonly locations: number;
  readonly recordingsPerLocation: number;
  readonly replicas: number;
  readonly webhooks: number;
}

/** Everything that happens, in order of time. */
export function planChaos(options: PlanOptions): Action[] {
  const dice = createDice(options.seed);
  const actions = [...planOutages(options, dice), ...planKills(options, dice), ...planFaults(options, dice)];
  return actions.sort((a, b) => a.at - b.at);
}
