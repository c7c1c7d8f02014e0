/** What can be wrong, and what it is called wherever people read of it. */
import { recordingProblems } from "./recording-conditions.ts";

export interface ProblemWords {
  /** The default rule that watches it: what is counted together in a message. */
  readonly rule: string;
  /** By itself: `Low quality`. */
  readonly name: string;
}

export interface RecordingProblemWords extends ProblemWords {
  /** `2 recordings with low quality`. */
  readonly adjective: string;
  /** After another problem, or in an alert's own line: `1 quality low`. */
  readonly short: string;
  /** Once it is over: `had low quality`. */
  readonly was: string;
}

/** What an alert says is wrong, whatever its rule is called. */
export const problems = {
  ...recordingProblems,
  location_offline: { rule: "LocationOffline", name: "Location offline" },
  service_unreachable: { rule: "ServiceUnreachable", name: "Service out of reach" },
  service_partly_unreachable: { rule: "ServicePartlyUnreachable", name: "Service partly out of reach" },
  notifications_failing: { rule: "NotificationsFailing", name: "Messages do not get out" },
} as const satisfies Record<string, ProblemWords>;

/** One read from Redis may be another version's, and in none of these words. */
export type ProblemKind = keyof typeof problems;
