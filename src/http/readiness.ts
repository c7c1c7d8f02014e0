/** Readiness of lenswatch itself, never of the service it watches. */
import { FRESH_INTERVALS } from "../health/fleet-snapshot.ts";
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";

export interface Readiness {
  readonly ready: boolean;
  /** Why it is not ready, a sentence each; empty when ready. */
  readonly reasons: readonly string[];
  /** Facts that do not affect readiness, such as an unreachable service. */
  readonly notes: readonly string[];
}

export interface ReadinessFacts {
  readonly configLoaded: boolean;
  readonly redisReachable: boolean;
  /** Undefined where this replica does not poll. */
  readonly sweeps: { readonly lastAttemptAt: Instant | undefined; readonly statusIntervalMs: number } | undefined;
  /** Endpoints of the service that do not answer. */
  readonly endpointsDown: readonly string[];
  /** Roles this replica lost to a replica with a later configuration. */
  readonly standby?: readonly string[];
}

/** Ready: configuration loaded, Redis reachable and, where it polls, a sweep attempted within 3 intervals. */
export function judgeReadiness(facts: ReadinessFacts, now: Instant): Readiness {
  const reasons = [
    facts.configLoaded ? undefined : "The configuration is not loaded.",
    facts.redisReachable ? undefined : "Redis cannot be reached.",
    facts.sweeps && lateSweep(facts.sweeps, now),
  ].filter((reason) => reason !== undefined);
  const notes = [
    ...facts.endpointsDown.map((endpoint) => `The analytics service does not answer at ${endpoint}.`),
    ...(facts.standby ?? []).map(
      (role) => `Another replica has a later configuration: this one takes no new work (${role}).`,
    ),
  ];
  return { ready: reasons.length === 0, reasons, notes };
}

function lateSweep(sweeps: NonNullable<ReadinessFacts["sweeps"]>, now: Instant): string | undefined {
  const { lastAttemptAt, statusIntervalMs } = sweeps;
  if (lastAttemptAt === undefined) return "No sweep was attempted yet.";
  const ago = now - lastAttemptAt;
  if (ago <= FRESH_INTERVALS * statusIntervalMs) return undefined;
  const interval = humanDuration(statusIntervalMs);
  return `The last sweep was attempted ${humanDuration(ago)} ago, with an interval of ${interval}.`;
}
