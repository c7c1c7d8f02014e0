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
export const incidentKinds = ["offline", "missing", "location_offline", "other"] as const;
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

export interface DigestInput {
  readonly now: Instant;
  readonly period: DigestPeriod;
  /** IANA zone in which every time is shown. */
  readonly timezone: string;
  readonly recordings: readonly DigestRecording[];
  /** By recording id: hourly or daily buckets; those that start outside the period are ignored. */
  readonly uptime: ReadonlyMap<string, readonly UptimeBucket[]>;
  readonly incidents: readonly Incident[];
  /** Which recordings are spoken of, by the labels an alert of theirs would carry; all must match. */
  readonly matchers: readonly Matcher[];
  /** Time lenswatch could not see the service: unknown, neither up nor down. */
  readonly blind: readonly Span[];
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
  /** Downtime inside the period, without blind time and time outside the uploading schedule. */
  readonly lostMs: number;
  /** In order of time. */
  readonly outages: readonly Outage[];
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
  readonly uptime: number | undefined;
}

export interface Digest {
  readonly now: Instant;
  readonly period: DigestPeriod;
  readonly timezone: string;
  readonly totals: DigestTotals;
  readonly parts: Readonly<Record<DigestPart, readonly LocationGroup[]>>;
  /** Longest first. */
  readonly dark: readonly DarkLocation[];
  readonly other: readonly OtherAlerts[];
  readonly blind: readonly Span[];
}

/** From this ratio on a recording without an outage counts as up all the time: some segments are always lost. */
export const UP_ALL_THE_TIME = 0.99;
