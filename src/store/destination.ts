/** Where an alert is to be told, as scripts take it, and what they answer with. */
import type { Instant } from "../lib/clock.ts";

/** Where a firing alert is to be told: one group at one integration, with the timers of its route. */
export interface Destination {
  readonly integration: string;
  readonly group: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly repeatIntervalMs: number;
  /** More groups than this due at once are told as one; undefined: never. */
  readonly stormGroups?: number | undefined;
}

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
