/** The answers of the service about the fleet, in our own shapes; only `src/service` knows the wire format. */
import type { Instant } from "../lib/clock.ts";

/** Status values of a live status entry (contract: "States"; `degraded` is served too). */
export const recordingStatuses = ["online", "offline", "degraded", "unknown"] as const;
export type RecordingStatus = (typeof recordingStatuses)[number];
/** Unknown comes before degraded: it may be offline. */
export const worstFirst = ["offline", "unknown", "degraded", "online"] as const;

/** One row of `status/uptime`. `averageQuality` is a ratio 0–1; undefined means the service sent none. */
export interface Reading {
  readonly recordingId: string;
  readonly locationId: string | undefined;
  readonly status: RecordingStatus;
  /** A status that nobody knows, as the service wrote it. */
  readonly said?: string;
  readonly lastSeenAt: Instant | undefined;
  readonly averageQuality: number | undefined;
}

/** One good answer of `status/uptime`. */
export interface StatusSnapshot {
  readonly readings: readonly Reading[];
  /** Recordings whose row was there but could not be read: no reading, yet not missing either. */
  readonly unreadable: readonly string[];
  /** Rows of which it is not known whose they are: of so many absent recordings absence proves nothing. */
  readonly unidentified: number;
  /** Locations whose request failed: nothing is known of them. */
  readonly unread?: ReadonlySet<string>;
}

/** A camera feed at a location (contract: "Recording"), known from uptime results. */
export interface Recording {
  readonly id: string;
  readonly name: string;
  readonly organisation: string;
  readonly cameraServer: string;
  readonly locationId: string;
  readonly useUploadingSchedule: boolean;
  /** IANA time zone name; "UTC" where the service never sent one that exists. */
  readonly timezone: string;
}

/** A row of `/v1/location/list`; the contract shows no more than the id. */
export type Location = Readonly<{ id: string; name: string | undefined; timezone: string | undefined }>;

/** One uptime bucket. Ratios 0–1; undefined is the service's null: no data, never 0. */
export interface UptimeBucket {
  readonly startAt: Instant;
  readonly withinSchedule: boolean;
  readonly segmentsExpected: number | undefined;
  readonly segmentsReceived: number | undefined;
  readonly avgUptimeOnSegment: number | undefined;
  readonly pcSegmentsReceived: number | undefined;
  readonly overallUptime: number | undefined;
}

/** Uptime history of one recording, buckets in order of time. */
export type RecordingUptime = { readonly recording: Recording; readonly buckets: readonly UptimeBucket[] };

/** A recording as one answer has it; a field is undefined where it is missing, null or cannot be read. */
export type ReportedRecording = Pick<Recording, "id"> & {
  readonly [Field in Exclude<keyof Recording, "id">]: Recording[Field] | undefined;
};

/** The same as one answer has it. */
export type ReportedUptime = { readonly recording: ReportedRecording; readonly buckets: readonly UptimeBucket[] };
