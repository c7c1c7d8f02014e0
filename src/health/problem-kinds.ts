/** What can be wrong, and what it is called wherever people read of it. */
import { recordingProblems } from "./recording-conditions.ts";

interface ProblemWords {
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
  location_offline: { name: "Location offline" },
  service_unreachable: { name: "Service unreachable" },
  service_partly_unreachable: { name: "Service partly unreachable" },
  notifications_failing: { name: "Notifications failing" },
} as const satisfies Record<string, ProblemWords>;

/** One read from Redis may be another version's, and in none of these words. */
export type ProblemKind = keyof typeof problems;
