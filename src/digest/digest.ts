/**
 * What a digest is made from and what it says. Lengths are ms, ratios 0–1; undefined means that there is no
 * figure, and is shown as a blank: never as 0 %, never as 100 %.
 */

import type { Matcher } from "../alerting/route.ts";
import type { EndReason } from "../health/alert.ts";
import type { Recording, RecordingStatus, UptimeBucket } from "../health/recording.ts";
import type { Instant } from "../lib/clock.ts";

/** A stretch of time, `from` inclusive, `to` exclusive. */
export interface Span {
  readonly from: Instant;
  readonly to: Instant;
}

export interface DigestPeriod {
  readonly start: Instant;
  readonly end: Instant;
  /** For people: `Thu 19 Nov 2026`. */
  readonly label: string;
}

/**
 * What an incident says of its subject: `offline` and `missing` are downtime of a recording,
 * `location_offline` of a whole location; everything else is counted, not added to downtime.
 */
export const incidentKinds = ["offline", "missing", "location_offline", "flapping", "other"] as const;
export type IncidentKind = (typeof incidentKinds)[number];

/** One episode of an alert, as far as a digest cares. Without an `endsAt` it goes on. */
export interface Incident {
  readonly alertname: string;
  readonly kind: IncidentKind;
  readonly recordingId?: string | undefined;
  /** The subject where `recordingId` is absent. */
  readonly locationId?: string | undefined;
  readonly startsAt: Instant;
  readonly endsAt?: Instant | undefined;
  readonly endReason?: EndReason | undefined;
}

export interface DigestRecording {
  readonly recording: Recording;
  readonly locationName: string;
  /** Now; undefined or `unknown`: no recent good reading. */
  readonly status: RecordingStatus | undefined;
  /** Since when it has that status; 0 where there is none. */
  readonly since: Instant;
}

/** What the service's figures say of one recording. */
export interface RecordingFigures {
  /**
   * Hourly or daily, oldest first, as far back as they are kept: those before the period are compared with, and say
   * since when there are figures at all.
   */
  readonly buckets: readonly UptimeBucket[];
  /** `1` meant to upload, `0` not, `?` unknown, for each hour from Monday 00:00 on; undefined: nothing is known. */
  readonly scheduleHours?: string | undefined;
}

/** The period before the digest's own, to compare with. */
export interface PeriodBefore {
  readonly period: DigestPeriod;
  /** Whether lenswatch watched throughout: an outage nobody looked for is no good day. */
  readonly isWatched: boolean;
}

/** What a digest is about. */
export interface DigestScope {
  readonly now: Instant;
  readonly period: DigestPeriod;
  readonly before?: PeriodBefore | undefined;
  /** IANA zone in which every time is shown. */
  readonly timezone: string;
  /** The zone of the days that figures are given by, where it is not each recording's own. */
  readonly dayZone?: string | undefined;
  readonly incidents: readonly Incident[];
  /** Which recordings are spoken of, by the labels an alert of theirs would carry; all must match. */
  readonly matchers: readonly Matcher[];
  /** Time lenswatch could not see the service: unknown, neither up nor down. */
  readonly blind: readonly Span[];
  /** Time in which lenswatch did not run, or had not been installed yet: outages then are not known of. */
  readonly unwatched?: readonly Span[] | undefined;
  /** With less uptime on a day, a location's visitor counts of that day are not to be trusted; 0–1. */
  readonly untrustedBelow?: number | undefined;
}

/** A scope with everything in it at once; a large fleet is added recording by recording instead. */
export interface DigestInput extends DigestScope {
  readonly recordings: readonly DigestRecording[];
  /** By recording id. */
  readonly uptime: ReadonlyMap<string, readonly UptimeBucket[]>;
}

/**
 * Which part a recording belongs to. `down_now`: offline or missing when the digest is made. `down_some`: it was,
 * inside the period, or its figures are below `UP_ALL_THE_TIME`. `up`: neither, and there is evidence of it.
 * `closed`: outside its uploading schedule throughout. `unknown`: no evidence of anything.
 */
export const digestParts = ["down_now", "down_some", "up", "closed", "unknown"] as const;
export type DigestPart = (typeof digestParts)[number];

/** One time of being down, in its true length; `lostMs` is what of it counts inside the period. */
export interface Outage {
  readonly kind: "offline" | "missing" | "location_offline";
  readonly startsAt: Instant;
  readonly endsAt: Instant | undefined;
  readonly lostMs: number;
  /** It came back, and not only out of sight. */
  readonly recovered: boolean;
}

/** State of a piece of the period, worst first; `closed` is outside the uploading schedule. */
export type SlotState = "down" | "low" | "blind" | "up" | "closed" | "none";

/** A run of equal slots of the period's timeline. */
export interface TimelineRun {
  readonly state: SlotState;
  /** How many of the timeline's slots. */
  readonly slots: number;
}

export interface RecordingDigest {
  readonly id: string;
  readonly name: string;
  readonly part: DigestPart;
  /** Of a recording that is down now: since when. */
  readonly downSince: Instant | undefined;
  readonly uptime: number | undefined;
  /** Of the period before; undefined where figures do not go back so far. */
  readonly uptimeBefore: number | undefined;
  /** Downtime inside the period, without blind time and time outside the uploading schedule. */
  readonly lostMs: number;
  /** In order of time. */
  readonly outages: readonly Outage[];
  /** Told as flapping inside the period, so many times and so long. */
  readonly flapping: { readonly count: number; readonly lengthMs: number } | undefined;
  /** Empty for recordings that were up or unknown. */
  readonly timeline: readonly TimelineRun[];
}

/** The recordings of one location that belong to one part, most downtime first. */
export interface LocationGroup {
  readonly locationId: string;
  readonly locationName: string;
  /** Over all recordings of the location, whatever part they are in. */
  readonly uptime: number | undefined;
  /** How many recordings the location has in all parts together. */
  readonly size: number;
  /** Downtime of the recordings in this group, added up. */
  readonly lostMs: number;
  readonly recordings: readonly RecordingDigest[];
}

/** A location as a whole, in the figures of its recordings. */
export interface LocationDigest {
  readonly locationId: string;
  readonly locationName: string;
  readonly recordings: number;
  readonly uptime: number | undefined;
  /** Of the period before; undefined where figures do not go back so far. */
  readonly uptimeBefore: number | undefined;
  /** Uptime by day, in the order of `Digest.days`; undefined: no figure, or outside the schedule. */
  readonly days: readonly (number | undefined)[];
}

/**
 * A day that is over, on which a location was up too little for its visitor counts to be trusted. Counts are as the
 * service has them: nothing is corrected.
 */
export interface UntrustedDay {
  readonly locationId: string;
  readonly locationName: string;
  readonly timezone: string;
  /** `YYYY-MM-DD` where the location is. */
  readonly date: string;
  /** Undefined: nobody knows. */
  readonly uptime: number | undefined;
  /** The same weekday of the weeks before, newest first, without days known to be like this one. */
  readonly alike: readonly string[];
  /** People counted in; undefined: the service has no figure, or could not be asked. */
  readonly entries: number | undefined;
  /** What is usually counted on that weekday: the median of those alike. */
  readonly usual: number | undefined;
}

/** Whether the service was asked for the counts of untrusted days, and answered. */
export type CountsAnswer = "not_asked" | "had" | "failed";

/** One of the longest outages: of a recording, or of all of a location. */
export interface LongOutage {
  readonly locationId: string;
  readonly locationName: string;
  /** Undefined: the location as a whole. */
  readonly recording: { readonly id: string; readonly name: string } | undefined;
  readonly outage: Outage;
}

/** A recording that went down again and again. */
export interface Flapper {
  readonly locationId: string;
  readonly locationName: string;
  readonly recording: RecordingDigest;
}

/** What the period before was like; undefined: there is nothing to compare with. */
export interface TotalsBefore {
  readonly uptime: number | undefined;
  readonly lostMs: number | undefined;
  readonly outages: number | undefined;
  readonly recoveryMs: number | undefined;
}

/** A location that was dark as a whole. */
export interface DarkLocation {
  readonly locationId: string;
  readonly locationName: string;
  readonly outage: Outage;
}

/** Alerts of other kinds inside the period, by name. `lengthMs` is their time inside it, added up. */
export interface OtherAlerts {
  readonly alertname: string;
  readonly count: number;
  readonly lengthMs: number;
}

export interface DigestTotals {
  readonly recordings: number;
  readonly locations: number;
  readonly downNow: number;
  readonly downSome: number;
  readonly up: number;
  readonly closed: number;
  readonly unknown: number;
  /** Recordings that lost time inside the period. */
  readonly affected: number;
  /** Of `downSome`: low figures without an outage anybody saw. */
  readonly low: number;
  readonly outages: number;
  readonly lostMs: number;
  readonly blindMs: number;
  readonly unwatchedMs: number;
  readonly uptime: number | undefined;
  /** Mean time to recovery: from going down to being back, of those that came back inside the period. */
  readonly recoveryMs: number | undefined;
}

export interface Digest {
  readonly now: Instant;
  readonly period: DigestPeriod;
  readonly timezone: string;
  readonly totals: DigestTotals;
  /** Undefined without a period to compare with. */
  readonly before: TotalsBefore | undefined;
  readonly parts: Readonly<Record<DigestPart, readonly LocationGroup[]>>;
  /** `YYYY-MM-DD` of the days shown by location: those of the period, or the week that ends with its day. */
  readonly days: readonly string[];
  /** Lowest uptime first, those without a figure last. */
  readonly locations: readonly LocationDigest[];
  /** The worst location first, its days in order. */
  readonly untrusted: readonly UntrustedDay[];
  readonly untrustedBelow: number;
  readonly counts: CountsAnswer;
  /** Longest first; a few. */
  readonly longest: readonly LongOutage[];
  /** Most outages first. */
  readonly flappers: readonly Flapper[];
  /** Longest first. */
  readonly dark: readonly DarkLocation[];
  readonly other: readonly OtherAlerts[];
  readonly blind: readonly Span[];
  readonly unwatched: readonly Span[];
}

/** From this ratio on a recording without an outage counts as up all the time: some segments are always lost. */
export const UP_ALL_THE_TIME = 0.99;
