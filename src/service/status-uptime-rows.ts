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

/** Nobody needs more of a status that is not understood. */
const SAID_CHARACTERS = 100;

const STATUSES: ReadonlySet<string> = new Set(recordingStatuses);

/** Throws ServiceError `bad_payload` where the reply is no array of rows. */
export function parseStatusRows(payload: unknown, report: ReportDeviation): StatusSnapshot {
  if (!Array.isArray(payload)) throw undocumented("Route status/uptime", payload, report);
  const rows = createStatusRows(report);
  return rows.snapshot(payload.map((row) => documentedReading(row) ?? rows.readOther(row)));
}

/** Reads rows of a reply that are not as documented, and notes those that cannot be read. */
export function createStatusRows(report: ReportDeviation) {
  const unreadable: string[] = [];
  let unidentified = 0;
  return {
    readOther(row: unknown): Reading | undefined {
      const reading = otherReading(row, report);
      if (reading) return reading;
      report("bad_row", () => row);
      const identified = Identified.safeParse(row);
      if (identified.success) unreadable.push(identified.data.recording_id);
      else unidentified++;
      return undefined;
    },

    /** The snapshot of all rows. The list itself is in it where each row has a reading. */
    snapshot(rows: readonly (Reading | undefined)[]): StatusSnapshot {
      const isWhole = unidentified + unreadable.length === 0;
      const readings = isWhole ? (rows as readonly Reading[]) : rows.filter((reading) => reading !== undefined);
      return { readings, unreadable, unidentified };
    },
  };
}

/** The reading of a row that is as documented. */
export function documentedReading(row: unknown): Reading | undefined {
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
    ...knownStatus(data.status, report),
    lastSeenAt: fieldOf(data, "last_seen_utc", Timestamp, report),
    averageQuality: ratioOf(data, "average_quality", report),
  };
}

/** The status in whatever case it is spelt. An undocumented one is `unknown`, never offline, and kept as it is. */
function knownStatus(status: string, report: ReportDeviation): Pick<Reading, "status" | "said"> {
  const word = status.trim().toLowerCase();
  if (STATUSES.has(word) && word !== "unknown") return { status: word as RecordingStatus };
  report("unknown_status", () => status);
  return { status: "unknown", said: status.slice(0, SAID_CHARACTERS) };
}

const ISO = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?$/i;

/** The instant, or NaN where the text is no timestamp. An offset, where one is given, is honoured. */
export function parseUtc(text: string): Instant {
  const match = ISO.exec(text.slice(0, 41));
  if (!match) return Number.NaN;
  return Date.parse(match[1] ? text : `${text}Z`);
}

const HOUR_LENGTH = "2026-03-01T10:".length;

const NOTHING = Buffer.alloc(0);

function isAt(some: Buffer, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < some.length; i++) if (bytes[at + i] !== some[i]) return false;
  return true;
}

/**
 * Gives `parseUtc` for the text at a place in bytes: of one in the same hour as the last only what follows is read. The
 * text is ASCII.
 */
export function createParseTimes(): (bytes: Buffer, from: number, to: number) => Instant {
  let [hour, zone, hourAt] = [NOTHING, NOTHING, Number.NaN];
  return (bytes, from, to) => {
    const end = to - zone.length;
    const isNear = hour !== NOTHING && isAt(hour, bytes, from) && isAt(zone, bytes, end);
    const ms = isNear ? sinceHourMs(bytes, from + HOUR_LENGTH, end) : undefined;
    if (ms !== undefined) return hourAt + ms;
    const text = bytes.toString("latin1", from, to);
    const at = parseUtc(text);
    zone = Buffer.from(ISO.exec(text)?.[1] ?? "");
    const since = Number.isNaN(at) ? undefined : sinceHourMs(bytes, from + HOUR_LENGTH, to - zone.length);
    // The hour 24 has only its first instant.
    const isRepeated = since !== undefined && !text.startsWith("24", 11);
    hour = isRepeated ? Buffer.from(text.slice(0, HOUR_LENGTH)) : NOTHING;
    hourAt = at - (since ?? 0);
    return at;
  };
}

const COLON = 0x3a;
const POINT = 0x2e;

/** The milliseconds of `34:12` or `34:12.345678` after a colon; undefined where it is anything else. */
function sinceHourMs(bytes: Uint8Array, from: number, end: number): number | undefined {
  const minutes = digitsAt(bytes, from);
  const seconds = digitsAt(bytes, from + 3);
  const point = from + 5;
  if (!(minutes < 60 && seconds < 60) || bytes[from - 1] !== COLON || bytes[from + 2] !== COLON) return undefined;
  if (end < point || end === point + 1 || end > point + 10 || (end > point && bytes[point] !== POINT)) return undefined;
  let ms = (60 * minutes + seconds) * 1000;
  let scale = 100;
  for (let i = point + 1; i < end; i++) {
    const digit = (bytes[i] ?? 0) - 48;
    if (!(digit >= 0 && digit <= 9)) return undefined;
    ms += digit * scale;
    scale = Math.trunc(scale / 10);
  }
  return ms;
}

/** Two digits as a number, NaN where they are none. */
function digitsAt(bytes: Uint8Array, at: number): number {
  const [tens, ones] = [(bytes[at] ?? 0) - 48, (bytes[at + 1] ?? 0) - 48];
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? 10 * tens + ones : Number.NaN;
}
