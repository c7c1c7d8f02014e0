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
  const rows = createStatusRows(report);
  for (const row of payload) rows.add(row);
  return rows.snapshot();
}

/** Collects the rows of a reply. */
export function createStatusRows(report: ReportDeviation) {
  const readings: Reading[] = [];
  const unreadable: string[] = [];
  let complete = true;
  return {
    /** Gives the reading of a row that is as documented. */
    add(row: unknown): Reading | undefined {
      const documented = documentedReading(row);
      const reading = documented ?? otherReading(row, report);
      if (reading) {
        readings.push(reading);
        return documented;
      }
      report("bad_row", () => row);
      const identified = Identified.safeParse(row);
      if (identified.success) unreadable.push(identified.data.recording_id);
      else complete = false;
      return undefined;
    },

    keep(reading: Reading): void {
      readings.push(reading);
    },

    snapshot: (): StatusSnapshot => ({ readings, unreadable, complete }),
  };
}

function documentedReading(row: unknown): Reading | undefined {
  if (row === null) return undefined;
  const { recording_id, status, ...nullable } = row as Record<string, unknown>;
  const location_id = nullable.location_id ?? undefined;
  const last_seen_utc = nullable.last_seen_utc ?? undefined;
  const quality = nullable.average_quality ?? undefined;
  if (typeof recording_id !== "string" || recording_id.length !== ID_LENGTH) return undefined;
  if (status !== "online" && status !== "offline" && status !== "degraded") return undefined;
  if (location_id !== undefined && (typeof location_id !== "string" || location_id.length !== ID_LENGTH)) {
    return undefined;
  }
  if (quality !== undefined && (typeof quality !== "number" || !(quality >= 0 && quality <= 1))) return undefined;
  if (last_seen_utc !== undefined && typeof last_seen_utc !== "string") return undefined;
  const lastSeenAt = last_seen_utc === undefined ? undefined : parseUtc(last_seen_utc);
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

const NOTHING = Buffer.alloc(0);

function isAt(some: Buffer, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < some.length; i++) if (bytes[at + i] !== some[i]) return false;
  return true;
}

/**
 * Gives `parseUtc` for the text at a place in bytes: of one in the same minute as the last only seconds are read. The text
 * is ASCII.
 */
export function createParseTimes(): (bytes: Buffer, from: number, to: number) => Instant {
  let [minute, zone, minuteAt] = [NOTHING, NOTHING, Number.NaN];
  return (bytes, from, to) => {
    const end = to - zone.length;
    const isNear = minute !== NOTHING && isAt(minute, bytes, from) && isAt(zone, bytes, end);
    const ms = isNear ? secondsMs(bytes, from + MINUTE_LENGTH, end) : undefined;
    if (ms !== undefined) return minuteAt + ms;
    const text = bytes.toString("latin1", from, to);
    const at = parseUtc(text);
    zone = Buffer.from(ISO.exec(text)?.[1] ?? "");
    const seconds = Number.isNaN(at) ? undefined : secondsMs(bytes, from + MINUTE_LENGTH, to - zone.length);
    // Of the hour 24 only its first instant exists.
    const isRepeated = seconds !== undefined && !text.startsWith("24", 11);
    minute = isRepeated ? Buffer.from(text.slice(0, MINUTE_LENGTH)) : NOTHING;
    minuteAt = at - (seconds ?? 0);
    return at;
  };
}

const COLON = 0x3a;
const POINT = 0x2e;

/** Of `12` or `12.345678` after a colon; undefined where it is anything else. */
function secondsMs(bytes: Uint8Array, from: number, end: number): number | undefined {
  const point = from + 2;
  if (end < point || end === point + 1 || end > point + 10 || bytes[from - 1] !== COLON) return undefined;
  let ms = 0;
  let scale = 10_000;
  for (let i = from; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (i === point ? byte !== POINT : byte < 48 || byte > 57) return undefined;
    if (i === point) continue;
    ms += (byte - 48) * scale;
    scale = Math.trunc(scale / 10);
  }
  return ms < 60_000 ? ms : undefined;
}
