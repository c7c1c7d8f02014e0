/** An alert as it is stored and notified. What was notified is in the notification log, apart from it. */
import type { Instant } from "../lib/clock.ts";
import type { RecordingStatus } from "./recording.ts";

export type Labels = Readonly<Record<string, string>>;

/** Why an alert ended. Only `recovered` means that its problem is over. */
export const endReasons = ["recovered", "no_longer_watched", "rule_removed", "rule_changed", "expired"] as const;
export type EndReason = (typeof endReasons)[number];

/**
 * What an alert is about: one recording, one location, the service itself, one integration, or an external alert, by
 * its fingerprint.
 */
export const subjectKinds = ["recording", "location", "service", "integration", "external"] as const;
export type SubjectKind = (typeof subjectKinds)[number];

/** An annotation that every rule has, its own or a generated one. */
export type GeneratedAnnotation = "summary" | "description";

/** What was observed when the alert was last evaluated; for display, and `endpoint` for routing. */
export interface AlertFacts {
  /** IANA zone the times are shown in. */
  readonly timezone: string;
  readonly problem?: ProblemKind | undefined;
  readonly averageQuality?: number | undefined;
  readonly overallUptime?: number | undefined;
  /** low_quality, low_uptime: decimals of the rule's thresholds in per cent; figures are shown with as many at least. */
  readonly decimals?: number | undefined;
  readonly lastSeenAt?: Instant | undefined;
  /** flapping: how often the status changed, since when, and what it is now, since when. */
  readonly changes?: number | undefined;
  readonly changesSince?: Instant | undefined;
  readonly status?: Exclude<RecordingStatus, "unknown"> | undefined;
  readonly statusSince?: Instant | undefined;
  /** Of a recording with an uploading schedule: that it is outside of it now, or that this hour is not known. */
  readonly schedule?: "outside" | "unknown" | undefined;
  /** Outside the schedule, and the rule respects that: it does not end, and is not notified again. */
  readonly paused?: boolean | undefined;
  /** Its condition is not met any more, and `keep_firing_for` runs. */
  readonly clearing?: boolean | undefined;
  /** Generated annotations that repeat the subject, the problem and the figures; never text that a rule sets. */
  readonly restated?: readonly GeneratedAnnotation[] | undefined;
  /** location_offline: how many recordings are offline, of how many known. */
  readonly offline?: number | undefined;
  readonly of?: number | undefined;
  /** location_offline: its recordings that are not counted, as they are outside their schedule, or their status is unknown. */
  readonly outside?: number | undefined;
  readonly unread?: number | undefined;
  /** location_offline: names of those that are, the first few; not cleaned. */
  readonly offlineNames?: readonly string[] | undefined;
  /** External alerts: the sender's link to its origin, an http or https URL. */
  readonly generatorUrl?: string | undefined;
  /** Of an integration: its endpoint, where that fails as a whole. No integration that uses it is notified. */
  readonly endpoint?: string | undefined;
  /** One sentence about the cause, already free of secrets (service and notification alerts). */
  readonly detail?: string | undefined;
}

/**
 * One episode of a firing alert: it fires once and ends once. `key` is the alert's identity (rule and subject),
 * `id` the episode's; notifications are about episodes. Labels are frozen.
 */
export interface Alert {
  /** `key@firedAt`. */
  readonly id: string;
  readonly key: string;
  readonly ruleId: string;
  readonly subject: { readonly kind: SubjectKind; readonly id: string };
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly state: "firing" | "resolved";
  /** Since when the problem is there, not when the rule's `for` was over. */
  readonly startsAt: Instant;
  /** When it began to fire: latency is counted from here. */
  readonly firedAt: Instant;
  readonly updatedAt: Instant;
  readonly endsAt?: Instant | undefined;
  readonly endReason?: EndReason | undefined;
  readonly facts: AlertFacts;
}

/** The identity of an alert: its rule and its subject. */
export function alertKey(ruleId: string, kind: SubjectKind, subjectId: string): string {
  return `${ruleId}/${kind}/${subjectId}`;
}

/** What can be wrong with a recording, and what it is called in messages and pages. */
export interface RecordingProblemWords {
  /** By itself: `Low quality`. */
  readonly name: string;
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
} as const satisfies Record<string, Pick<RecordingProblemWords, "name">>;

/** One read from Redis may come from another version, and have none of these words. */
export type ProblemKind = keyof typeof problems;

/** `1 outside its schedule, 2 unknown`: recordings of a location that its alert does not count; empty for none. */
export function leftOutPhrase({ outside = 0, unread = 0 }: Pick<AlertFacts, "outside" | "unread">): string {
  const schedule = outside > 0 ? [`${outside} outside ${outside === 1 ? "its" : "their"} schedule`] : [];
  return [...schedule, ...(unread > 0 ? [`${unread} unknown`] : [])].join(", ");
}

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
