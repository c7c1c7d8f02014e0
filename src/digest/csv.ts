/** The digest's figures for spreadsheets: everything, also what the mail had no room for. */
import { type CsvRow, csvLines } from "../lib/csv.ts";
import { type Digest, digestParts, type LocationGroup, type RecordingDigest } from "./digest.ts";

const ROWS_PER_STEP = 500;

const HEAD = [
  "location",
  "location_id",
  "recording",
  "recording_id",
  "part",
  "uptime_ratio",
  "lost_seconds",
  "outages",
  "longest_outage_seconds",
  "down_since",
];

/** A line per recording, in pieces; ratios 0–1, times in seconds, instants in UTC, an empty cell where there is no figure. */
export function* recordingsCsv(digest: Digest): Generator<string, void> {
  let rows: CsvRow[] = [HEAD];
  for (const part of digestParts) {
    for (const group of digest.parts[part]) {
      for (const recording of group.recordings) {
        rows.push(recordingRow(group, recording));
        if (rows.length < ROWS_PER_STEP) continue;
        yield csvLines(rows);
        rows = [];
      }
    }
  }
  if (rows.length > 0) yield csvLines(rows);
}

function recordingRow(group: LocationGroup, recording: RecordingDigest): CsvRow {
  const { name, id, part, uptime, lostMs, outages, downSince } = recording;
  const known = part !== "unknown";
  const longest = Math.max(...outages.map((outage) => outage.lostMs));
  return [
    group.locationName,
    group.locationId,
    name,
    id,
    part,
    uptime === undefined ? undefined : Number(uptime.toFixed(6)),
    known ? seconds(lostMs) : undefined,
    known ? outages.length : undefined,
    outages.length > 0 ? seconds(longest) : undefined,
    downSince === undefined ? undefined : new Date(downSince).toISOString(),
  ];
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
