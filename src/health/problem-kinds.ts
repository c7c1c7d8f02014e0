/** What can be wrong, and what it is called in messages and pages. */

interface ProblemWords {
  /** By itself: `Low quality`. */
  readonly name: string;
}

export interface RecordingProblemWords extends ProblemWords {
  /** `2 recordings with low quality`. */
  readonly adjective: string;
  /** After another problem, or in an alert's own line: `1 quality low`. */
  readonly short: string;
  /** Once it is resolved: `had low quality`. */
  readonly was: string;
}

/** The problems of recordings. */
export const recordingProblems = {
  offline: { name: "Offline", adjective: "offline", short: "offline", was: "was offline" },
  degraded: { name: "Degraded", adjective: "degraded", short: "degraded", was: "was degraded" },
  low_quality: { name: "Low quality", adjective: "with low quality", short: "quality low", was: "had low quality" },
  low_uptime: { name: "Low uptime", adjective: "with low uptime", short: "uptime low", was: "had low uptime" },
  missing: { name: "Missing", adjective: "missing", short: "missing", was: "was missing" },
  flapping: { name: "Flapping", adjective: "flapping", short: "flapping", was: "was flapping" },
} as const satisfies Record<string, RecordingProblemWords>;

/** All problems, whatever the rules that watch them are called. */
export const problems = {
  ...recordingProblems,
  location_offline: { name: "Location offline" },
  service_unreachable: { name: "Service unreachable" },
  service_partly_unreachable: { name: "Service partly unreachable" },
  notifications_failing: { name: "Notifications failing" },
} as const satisfies Record<string, ProblemWords>;

/** One read from Redis may come from another version, and have none of these words. */
export type ProblemKind = keyof typeof problems;

/** The alert name of the default rule that watches a problem. Rules may have any other name. */
export const defaultAlertNames = {
  offline: "RecordingOffline",
  degraded: "RecordingDegraded",
  low_quality: "LowQuality",
  low_uptime: "LowUptime",
  missing: "RecordingMissing",
  flapping: "RecordingFlapping",
  location_offline: "LocationOffline",
  service_unreachable: "ServiceUnreachable",
  service_partly_unreachable: "ServicePartlyUnreachable",
  notifications_failing: "NotificationsFailing",
} as const satisfies Record<ProblemKind, string>;
