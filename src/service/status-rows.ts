/**
 * The reply of `status/uptime`. 100,000 rows arrive at once, so a row exactly as documented is read by hand; zod, at
 * about 150 ns a row, reads all others.
 */
import { z } from "zod";
import { type Reading, type RecordingStatus, recordingStatuses, type StatusSnapshot } from "../health/recording.ts";
import { ServiceError } from "./errors.ts";
import { Id } from "./id.ts";
import type { ReportDeviation } from "./reporter.ts";
import { parseUtc } from "./timestamps.ts";

/** Recording and status are required; a row with any other field unreadable is still used. */
const StatusRow = z.object({
  recording_id: Id,
  status: z.string(),
  location_id: z.unknown().optional(),
  last_seen_utc: z.unknown().optional(),
  average_quality: z.unknown().optional(),
});
const Identified = z.object({ recording_id: Id });

/** "24-character hex shape" (contract: "Location"). */
const ID_LENGTH = 24;

const STATUSES: ReadonlySet<string> = new Set(recordingStatuses);

/** Throws ServiceError `bad_payload` where the reply is no array of rows. */
export function parseStatusRows(payload: unknown, report: ReportDeviation): StatusSnapshot {
  if (!Array.isArray(payload)) {
    report("bad_payload", () => payload);
    throw new ServiceError("bad_payload", "Route status/uptime got a reply that is not an array: see the log.");
  }
  const readings: Reading[] = [];
  const unreadable: string[] = [];
  let complete = true;
  for (const row of payload) {
    const reading = documentedReading(row) ?? otherReading(row, report);
    if (reading) {
      readings.push(reading);
      continue;
    }
    report("bad_row", () => row);
    const identified = Identified.safeParse(row);
    if (identified.success) unreadable.push(identified.data.recording_id);
    else complete = false;
  }
  return { readings, unreadable, complete };
}

/** A row as documented, with or without its optional fields; undefined for any other. */
function documentedReading(row: Record<string, unknown> | null): Reading | undefined {
  if (row === null) return undefined;
  const { recording_id, status } = row;
  const location_id = row.location_id ?? undefined;
  const last_seen_utc = row.last_seen_utc ?? undefined;
  const quality = row.average_quality ?? undefined;
  if (typeof recording_id !== "string" || recording_id.length !== ID_LENGTH) return undefined;
  if (status !== "online" && status !== "offline" && status !== "degraded") return undefined;
  if (location_id !== undefined && (typeof location_id !== "string" || location_id.length !== ID_LENGTH)) {
    return undefined;
  }
  if (quality !== undefined && (typeof quality !== "number" || !(quality >= 0 && quality <= 1))) {
    return undefined;
  }
  if (last_seen_utc !== undefined && typeof last_seen_utc !== "string") return undefined;
  const lastSeenAt = last_seen_utc === undefined ? undefined : parseUtc(last_seen_utc);
  if (Number.isNaN(lastSeenAt)) return undefined;
  return { recordingId: recording_id, locationId: location_id, status, lastSeenAt, averageQuality: quality };
}

function otherReading(row: unknown, report: ReportDeviation): Reading | undefined {
  const parsed = StatusRow.safeParse(row);
  if (!parsed.success) return undefined;
  const { recording_id, location_id, status, last_seen_utc, average_quality } = parsed.data;
  return {
    recordingId: recording_id,
    locationId: optional(location_id, asId, "location_id", report),
    status: knownStatus(status, report),
    lastSeenAt: optional(last_seen_utc, asInstant, "last_seen_utc", report),
    averageQuality: optional(average_quality, asRatio, "average_quality", report),
  };
}

/** An undocumented status is `unknown`, never offline. */
function knownStatus(status: string, report: ReportDeviation): RecordingStatus {
  if (STATUSES.has(status) && status !== "unknown") return status as RecordingStatus;
  report("unknown_status", () => status);
  return "unknown";
}

/** null is no data; any other unreadable value is reported and is no data either. */
function optional<T>(
  value: unknown,
  read: (value: unknown) => T | undefined,
  field: string,
  report: ReportDeviation,
): T | undefined {
  if (value === null || value === undefined) return undefined;
  const known = read(value);
  if (known === undefined) report("bad_value", () => ({ field, value }));
  return known;
}

function asId(value: unknown): string | undefined {
  return Id.safeParse(value).data;
}

function asInstant(value: unknown): number | undefined {
  const at = typeof value === "string" ? parseUtc(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

function asRatio(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= 1 ? value : undefined;
}
