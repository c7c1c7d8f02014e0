/** Ready or not, and why: about lenswatch itself, never about the service it watches. */
import { FRESH_INTERVALS } from "../health/fleet-snapshot.ts";
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";

export interface Readiness {
  readonly ready: boolean;
  /** What stands in the way, a sentence each; empty when ready. */
  readonly reasons: readonly string[];
  /** What is worth knowing and no reason: that the service is down, say. */
  readonly notes: readonly string[];
}

export interface ReadinessFacts {
  readonly configLoaded: boolean;
  readonly redisReachable: boolean;
  /** Undefined where this replica does not poll. */
  readonly sweeps:
    | { readonly lastAttemptAt: Instant | undefined; readonly statusIntervalMs: number }
    | undefined;
  /** Endpoints of the service that do not answer. */
  readonly endpointsDown: readonly string[];
  /** What another replica's later configuration keeps this one from doing. */
  readonly standby?: readonly string[];
}

/** Ready = configuration loaded, Redis reachable and, where it polls, a sweep attempted within 3 intervals. */
export function judgeReadiness(facts: ReadinessFacts, now: Instant): Readiness {
  const reasons = [
    facts.configLoaded ? undefined : "The configuration is not loaded.",
    facts.redisReachable ? undefined : "Redis cannot be reached.",
    facts.sweeps && lateSweep(facts.sweeps, now),
  ].filter((reason) => reason !== undefined);
  const notes = [
    ...facts.endpointsDown.map((endpoint) => `The analytics service does not answer at ${endpoint}.`),
    ...(facts.standby ?? []).map(
      (role) => `A later configuration is in force at another replica: this one takes no new work (${role}).`,
    ),
  ];
  return { ready: reasons.length === 0, reasons, notes };
}

function lateSweep(sweeps: NonNullable<ReadinessFacts["sweeps"]>, now: Instant): string | undefined {
  const { lastAttemptAt, statusIntervalMs } = sweeps;
  if (lastAttemptAt === undefined) return "No sweep was attempted yet.";
  if (now - lastAttemptAt <= FRESH_INTERVALS * statusIntervalMs) return undefined;
  return `The last sweep was attempted ${humanDuration(now - lastAttemptAt)} ago, with an interval of ${humanDuration(statusIntervalMs)}.`;
}
