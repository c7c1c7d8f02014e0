/** The reply of `status/uptime`. Plain rows are read by hand, zod (about 150 ns a row) reads all others. */
import { z } from "zod";
import { type Reading, type RecordingStatus, recordingStatuses, type StatusSnapshot } from "../health/recording.ts";
import type { Instant } from "../lib/clock.ts";
import type { ReportDeviation } from "./reporter.ts";
import { fieldOf, Id, ratioOf, undocumented } from "./rows.ts";

/** Recording and status are required; a row with any other field unreadable is still used. */
const StatusRow = z.looseObject({ recording_id: Id, status: z.string() });
const Identified = z.object({ recording_id: Id });
const Timestamp = z.string().transform(parseUtc).pipe(z.number());

/** "24-character hex shape" (contract: "Location"). */
const ID_LENGTH = 24;

const STATUSES: ReadonlySet<string> = new Set(recordingStatuses);

/** Throws ServiceError `bad_payload` where the reply is no array of rows. */
export function parseStatusRows(payload: unknown, report: ReportDeviation): StatusSnapshot {
  if (!Array.isArray(payload)) throw undocumented("Route status/uptime", payload, report);
  const readings: Reading[] = [];
  const unreadable: string[] = [];
  let complete = true;
  const parseTime = createParseTimes();
  for (const row of payload) {
    const reading = documentedReading(row, parseTime) ?? otherReading(row, report);
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

function documentedReading(
  row: Record<string, unknown> | null,
  parseTime: (text: string) => Instant,
): Reading | undefined {
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
  if (quality !== undefined && (typeof quality !== "number" || !(quality >= 0 && quality <= 1))) return undefined;
  if (last_seen_utc !== undefined && typeof last_seen_utc !== "string") return undefined;
  const lastSeenAt = last_seen_utc === undefined ? undefined : parseTime(last_seen_utc);
  if (Number.isNaN(lastSeenAt)) return undefined;
  return { recordingId: recording_id, locationId: location_id, status, lastSeenAt, averageQuality: quality };
}

function otherReading(row: unknown, report: ReportDeviation): Reading | undefined {
  const { data } = StatusRow.safeParse(row);
  if (!data) return undefined;
  return {
    recordingId: data.recording_id,
    locationId: fieldOf(data, "location_id", Id, report),
    status: knownStatus(data.status, report),
    lastSeenAt: fieldOf(data, "last_seen_utc", Timestamp, report),
    averageQuality: ratioOf(data, "average_quality", report),
  };
}

/** An undocumented status is `unknown`, never offline. */
function knownStatus(status: string, report: ReportDeviation): RecordingStatus {
  if (STATUSES.has(status) && status !== "unknown") return status as RecordingStatus;
  report("unknown_status", () => status);
  return "unknown";
}

const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i;

/** The instant, or NaN where the text is no timestamp. An offset, where one is given, is honoured. */
export function parseUtc(text: string): Instant {
  const match = ISO.exec(text.slice(0, 41));
  if (!match) return Number.NaN;
  return Date.parse(match[1] ? text : `${text}Z`);
}

const MINUTE_LENGTH = "2026-03-01T10:00:".length;

/** Gives `parseUtc` for times of few minutes: of one in the same minute as the last only seconds are read. */
export function createParseTimes(): (text: string) => Instant {
  let [minute, zone, minuteAt] = ["", "", Number.NaN];
  return (text) => {
    const isNear = minute !== "" && text.startsWith(minute) && text.endsWith(zone);
    const ms = isNear ? secondsMs(text, text.length - zone.length) : undefined;
    if (ms !== undefined) return minuteAt + ms;
    const at = parseUtc(text);
    zone = ISO.exec(text)?.[1] ?? "";
    const seconds = Number.isNaN(at) ? undefined : secondsMs(text, text.length - zone.length);
    // Of the hour 24 only its first instant exists.
    minute = seconds === undefined || text.startsWith("24", 11) ? "" : text.slice(0, MINUTE_LENGTH);
    minuteAt = at - (seconds ?? 0);
    return at;
  };
}

/** Of `12` or `12.345678`, from MINUTE_LENGTH to `end`; undefined where it is anything else. */
function secondsMs(text: string, end: number): number | undefined {
  const point = MINUTE_LENGTH + 2;
  if (end < point || end === point + 1 || end > point + 10 || text[MINUTE_LENGTH - 1] !== ":") return undefined;
  let ms = 0;
  let scale = 10_000;
  for (let i = MINUTE_LENGTH; i < end; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (i === point ? text[i] !== "." : digit < 0 || digit > 9) return undefined;
    if (i === point) continue;
    ms += digit * scale;
    scale = Math.trunc(scale / 10);
  }
  return ms < 60_000 ? ms : undefined;
}
