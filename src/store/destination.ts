/** Destinations as scripts take them, and the wake-ups they answer with. */
import type { Destination } from "../alerting/destinations.ts";
import type { Instant } from "../lib/clock.ts";

/** A destination in the order scripts read it. */
export function toPlace(to: Destination): readonly (string | number)[] {
  const labels = JSON.stringify(to.labels);
  const timers = [to.groupWaitMs, to.groupIntervalMs, to.repeatIntervalMs];
  return [to.integration, to.group, labels, ...timers, to.stormGroups ?? ""];
}

/** `integration, due, integration, due, …` as a map. */
export function toWake(flat: readonly string[]): Map<string, Instant> {
  const wake = new Map<string, Instant>();
  for (let i = 0; i < flat.length; i += 2) wake.set(flat[i] ?? "", Number(flat[i + 1]));
  return wake;
}
