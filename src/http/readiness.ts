/** Readiness of lenswatch itself, never of the service that it watches. Pure. */
import type { Evidence } from "../health/evidence.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import type { Instant } from "../lib/clock.ts";
import { humanDuration } from "../lib/duration.ts";

export type Readiness = ReturnType<typeof judgeReadiness>;

export interface ReadinessFacts {
  readonly configLoaded: boolean;
  readonly redisReachable: boolean;
  /** Undefined where this replica does not poll. */
  readonly sweeps: { readonly lastAttemptAt: Instant | undefined; readonly statusIntervalMs: number } | undefined;
  /** Endpoints of the service that do not answer. */
  readonly endpointsDown: readonly string[];
  /** The age of what is known of recordings; undefined where it cannot be read. */
  readonly evidence?: Pick<Evidence, "state"> | undefined;
  /** Roles this replica lost to a replica with a later configuration. */
  readonly standby?: readonly string[];
  /** Slack's buttons do not reach this replica. */
  readonly isSlackDown?: boolean;
}

/**
 * Readiness of lenswatch itself, never of the service it watches, a sentence for each reason and for each note.
 * Ready: configuration loaded, Redis reachable and, where it polls, a sweep attempted within 3 intervals.
 */
export function judgeReadiness(facts: ReadinessFacts, now: Instant) {
  const reasons = [
    facts.configLoaded ? undefined : "The configuration is not loaded.",
    facts.redisReachable ? undefined : "Redis cannot be reached.",
    facts.sweeps && lateSweep(facts.sweeps, now),
  ].filter((reason) => reason !== undefined);
  const notes = [
    ...facts.endpointsDown.map((endpoint) => `The analytics service does not answer at ${endpoint}.`),
    ...(facts.evidence ? (EVIDENCE_NOTES[facts.evidence.state] ?? []) : []),
    ...(facts.standby ?? []).map(
      (role) => `Another replica has a later configuration: this one takes no new work (${role}).`,
    ),
    ...(facts.isSlackDown ? ["Slack's buttons do not reach this replica, it is reconnecting."] : []),
  ];
  return { ready: reasons.length === 0, reasons, notes };
}

/** Sentences that name nothing of the fleet. */
const EVIDENCE_NOTES: Readonly<Partial<Record<Evidence["state"], readonly string[]>>> = {
  unreachable: ["Hardly any recording was read lately."],
  partly: ["Not everything that is watched was read in time."],
};

function lateSweep(sweeps: NonNullable<ReadinessFacts["sweeps"]>, now: Instant): string | undefined {
  const { lastAttemptAt, statusIntervalMs } = sweeps;
  if (lastAttemptAt === undefined) return "No sweep was attempted yet.";
  const ago = now - lastAttemptAt;
  if (ago <= GAP_INTERVALS * statusIntervalMs) return undefined;
  const interval = humanDuration(statusIntervalMs);
  return `The last sweep was attempted ${humanDuration(ago)} ago, with an interval of ${interval}.`;
}
