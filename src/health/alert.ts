/** An alert as it is stored and notified. What was notified is in the notification log, apart from it. */
import type { Instant } from "../lib/clock.ts";
import { briefId, counted, nameOf } from "../lib/format.ts";
import type { RecordingStatus } from "./recording.ts";

export type Labels = Readonly<Record<string, string>>;

/** Why an alert ended. Only `recovered` means that its problem is over. */
export const endReasons = [
  "recovered",
  "no_longer_watched",
  /** For one integration alone: it left the configuration, and what it was notified of goes on. */
  "not_sent_here",
  "rule_removed",
  "rule_changed",
  "dropped_together",
  "expired",
] as const;
export type EndReason = (typeof endReasons)[number];

/**
 * The subject of an alert: one recording, one location, all recordings with the same value of a label (`<label>/<value>`),
 * the service itself, one integration, the directory, or an external alert, by its fingerprint.
 */
export const subjectKinds = [
  "recording",
  "location",
  "group",
  "service",
  "integration",
  "directory",
  "external",
] as const;
export type SubjectKind = (typeof subjectKinds)[number];

/** Labels that recordings of several locations share, and what people call them. */
export const groupNouns = {
  camera_server: "camera server",
  organisation: "organisation",
  timezone: "time zone",
} as const;
export type GroupLabel = keyof typeof groupNouns;
export const groupLabels = Object.keys(groupNouns) as GroupLabel[];

export function isGroupLabel(label: string): label is GroupLabel {
  return Object.hasOwn(groupNouns, label);
}

/** The label and value that the subject of a group alert names; undefined for any other subject. */
export function groupOfSubject({
  kind,
  id,
}: Alert["subject"]): { readonly label: GroupLabel; readonly value: string } | undefined {
  if (kind !== "group") return undefined;
  const [label = "", ...rest] = id.split("/");
  return isGroupLabel(label) ? { label, value: rest.join("/") } : undefined;
}

/** The name that a directory has of a group, else its id in brief. */
export function groupName(
  { label, value }: { readonly label: string; readonly value: string },
  labels: Labels,
): string {
  return labels[`${label}_name`] || briefId(value);
}

/** The label and value that the recordings share which an alert takes together; undefined for any other subject. */
export function scopeOf(
  subject: Alert["subject"] | undefined,
): { readonly label: string; readonly value: string } | undefined {
  if (!subject) return undefined;
  return subject.kind === "location" ? { label: "location_id", value: subject.id } : groupOfSubject(subject);
}

/** An annotation that every rule has, its own or a generated one. */
export type GeneratedAnnotation = "summary" | "description";

/** Observations of the last evaluation; for display, and `endpoint` for routing. */
export interface AlertFacts {
  /** IANA zone the times are shown in. */
  readonly timezone: string;
  readonly problem?: ProblemKind | undefined;
  readonly averageQuality?: number | undefined;
  readonly overallUptime?: number | undefined;
  /** low_uptime, not_uploading: of the segments expected in the rule's window, the ratio that arrived. */
  readonly arrived?: number | undefined;
  /** low_quality, low_uptime, not_uploading: decimals of the rule's thresholds in per cent; figures are shown with as many at least. */
  readonly decimals?: number | undefined;
  readonly lastSeenAt?: Instant | undefined;
  /** flapping: how often the status changed, since when, and what it is now, since when. */
  readonly changes?: number | undefined;
  readonly changesSince?: Instant | undefined;
  readonly status?: Exclude<RecordingStatus, "unknown"> | undefined;
  readonly statusSince?: Instant | undefined;
  /** The schedule of a recording that has one: that it is outside of it now, or that this hour is not known. */
  readonly schedule?: "outside" | "unknown" | undefined;
  /** Outside the schedule, and the rule respects that: it does not end, and is not notified again. */
  readonly paused?: boolean | undefined;
  /** Its condition is not met any more, and `keep_firing_for` runs. */
  readonly clearing?: boolean | undefined;
  /** Generated annotations that repeat the subject, the problem and the figures; never text that a rule sets. */
  readonly restated?: readonly GeneratedAnnotation[] | undefined;
  /** Offline recordings of a location or a group, and known ones. */
  readonly offline?: number | undefined;
  readonly of?: number | undefined;
  /** The most of them that were offline at once since it began. */
  readonly most?: number | undefined;
  /** Recordings of a location or a group that are not counted, as they are outside their schedule, or their status is unknown. */
  readonly outside?: number | undefined;
  readonly unread?: number | undefined;
  /** Names of the first few offline recordings; not cleaned. */
  readonly offlineNames?: readonly string[] | undefined;
  /** Offline recordings of a location by camera server. */
  readonly servers?: Readonly<Record<string, number>> | undefined;
  /** Locations at which recordings of a group are offline, and names of a few; whether no other recording is. */
  readonly locations?: number | undefined;
  readonly locationNames?: readonly string[] | undefined;
  readonly isAlone?: boolean | undefined;
  /** External alerts: the sender's link to its origin, an http or https URL. */
  readonly generatorUrl?: string | undefined;
  /** The endpoint of an integration, where that fails as a whole. No integration that uses it is notified. */
  readonly endpoint?: string | undefined;
  /** One sentence about the cause, already free of secrets (alerts about the service, notifications and counts). */
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
  /** Frozen as well: by a directory, each set of labels in which its locations differ. */
  readonly shops?: readonly Labels[] | undefined;
  readonly annotations: Labels;
  readonly state: "firing" | "resolved";
  /** Since when the problem is there, not when the rule's `for` was over. */
  readonly startsAt: Instant;
  /** The time at which it began to fire: latency is counted from here. */
  readonly firedAt: Instant;
  readonly updatedAt: Instant;
  /** Since when the problem is over: earlier than the evaluation that found it, and than `keep_firing_for` was over. */
  readonly endsAt?: Instant | undefined;
  readonly endReason?: EndReason | undefined;
  readonly facts: AlertFacts;
}

export type Subject = Alert["subject"];

/** True if an alert about flapping ended as its recording no longer flaps; its status may be any. */
export function isSteady({ facts, endReason }: Alert): boolean {
  return facts.problem === "flapping" && endReason === "recovered";
}

/** True if the recording is online, or all recordings of the location are, as far as is known. */
export function isBack(alert: Alert): boolean {
  const { offline, status } = alert.facts;
  return alert.endReason === "recovered" && !offline && (!isSteady(alert) || status === "online");
}

/** The identity of an alert: its rule and its subject. */
export function alertKey(ruleId: string, kind: SubjectKind, subjectId: string): string {
  return `${ruleId}/${kind}/${subjectId}`;
}

/** The name of a recording's problem in messages and pages. */
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
  not_uploading: {
    name: "Not uploading",
    adjective: "online but not uploading",
    short: "online but not uploading",
    was: "was not uploading",
  },
  not_seen: { name: "Not seen", adjective: "online but not seen", short: "online but not seen", was: "was not seen" },
  missing: { name: "Missing", adjective: "missing", short: "missing", was: "was missing" },
  counts_low: {
    name: "Counts too low",
    adjective: "counting too little",
    short: "counts too low",
    was: "counted too little",
  },
  flapping: { name: "Flapping", adjective: "flapping", short: "flapping", was: "was flapping" },
} as const satisfies Record<string, RecordingProblemWords>;

/** All problems, whatever the rules that watch them are called. */
export const problems = {
  ...recordingProblems,
  location_offline: { name: "Location offline" },
  camera_server_offline: { name: "Camera server offline" },
  organisation_offline: { name: "Organisation offline" },
  timezone_offline: { name: "Time zone offline" },
  counts_together: { name: "Counts dropped together" },
  service_unreachable: { name: "Service unreachable" },
  service_partly_unreachable: { name: "Service partly unreachable" },
  notifications_failing: { name: "Notifications failing" },
  directory_stale: { name: "Directory stale" },
} as const satisfies Record<string, Pick<RecordingProblemWords, "name">>;

/** The problems of recordings taken together. */
export const sharedOutages: ReadonlySet<ProblemKind | undefined> = new Set([
  "location_offline",
  ...groupLabels.map((label) => `${label}_offline` as const),
]);

/** One read from Redis may come from another version, and have none of these words. */
export type ProblemKind = keyof typeof problems;

/** `1 outside its schedule, 2 unknown`: recordings of a location or a group that its alert does not count; empty for none. */
export function leftOutPhrase({ outside = 0, unread = 0 }: Pick<AlertFacts, "outside" | "unread">): string {
  const schedule = outside > 0 ? [`${outside} outside ${outside === 1 ? "its" : "their"} schedule`] : [];
  return [...schedule, ...(unread > 0 ? [`${unread} unknown`] : [])].join(", ");
}

/** `Leeds, York and 3 more`; `5 locations` where no name is known; empty without locations. */
export function placesPhrase({
  locations = 0,
  locationNames = [],
}: Pick<AlertFacts, "locations" | "locationNames">): string {
  const named = locationNames.slice(0, locations > MOST_NAMED ? MOST_NAMED - 1 : MOST_NAMED);
  const names = named.map((name) => nameOf(name, "", NAME_LENGTH));
  if (names.length === 0) return locations === 0 ? "" : counted(locations, "location");
  const last = locations > names.length ? `${locations - names.length} more` : names.pop();
  return [names.join(", "), last].filter((part) => part).join(" and ");
}

const MOST_NAMED = 3;
const NAME_LENGTH = 40;

/** The alert name of the default rule that watches a problem. Rules may have any other name. */
export const defaultAlertNames = {
  offline: "RecordingOffline",
  degraded: "RecordingDegraded",
  low_quality: "LowQuality",
  low_uptime: "LowUptime",
  not_uploading: "RecordingNotUploading",
  not_seen: "RecordingNotSeen",
  missing: "RecordingMissing",
  flapping: "RecordingFlapping",
  location_offline: "LocationOffline",
  camera_server_offline: "CameraServerOffline",
  organisation_offline: "OrganisationOffline",
  timezone_offline: "TimezoneOffline",
  counts_low: "CountsImplausible",
  counts_together: "CountsDroppedTogether",
  service_unreachable: "ServiceUnreachable",
  service_partly_unreachable: "ServicePartlyUnreachable",
  notifications_failing: "NotificationsFailing",
  directory_stale: "DirectoryStale",
} as const satisfies Record<ProblemKind, string>;
