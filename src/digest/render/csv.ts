/** All figures of a digest for spreadsheets. */
import { type CsvRow, csvLines } from "../../lib/csv.ts";
import { cut, stripControls } from "../../lib/text.ts";
import { meanRecovery, tallyOf } from "../compute/tally.ts";
import { shortfall } from "../compute/untrusted.ts";
import {
  type Digest,
  digestParts,
  type Interval,
  type LocationGroup,
  type RecordingDigest,
} from "../digest.ts";

const ROWS_PER_STEP = 500;

const HEAD = [
  "location",
  "location_id",
  "recording",
  "recording_id",
  "part",
  "uptime_ratio",
  "uptime_before_ratio",
  "lost_seconds",
  "outages",
  "longest_outage_seconds",
  "mean_recovery_seconds",
  "flapping_seconds",
  "down_since",
];

/** A line per recording, in chunks: ratios 0–1, times in seconds, instants in UTC, an empty cell without a figure. */
export function* recordingsCsv(digest: Digest): Generator<string, void> {
  const bounds = { from: digest.period.start, to: digest.period.end };
  let rows: CsvRow[] = [HEAD];
  for (const part of digestParts) {
    for (const group of digest.parts[part]) {
      for (const recording of group.recordings) {
        rows.push(recordingRow(group, recording, bounds));
        if (rows.length < ROWS_PER_STEP) continue;
        yield csvLines(rows);
        rows = [];
      }
    }
  }
  if (rows.length > 0) yield csvLines(rows);
}

const COUNTS_HEAD = [
  "location",
  "location_id",
  "date",
  "uptime_ratio",
  "entries",
  "usual_entries",
  "short_by",
];

/** A line per untrusted day; an empty cell where there is no figure. */
export function* countsCsv({ untrusted }: Digest): Generator<string, void> {
  yield csvLines([COUNTS_HEAD]);
  for (let from = 0; from < untrusted.length; from += ROWS_PER_STEP) {
    const page = untrusted.slice(from, from + ROWS_PER_STEP);
    yield csvLines(
      page.map((day) => [
        short(day.locationName),
        short(day.locationId),
        day.date,
        ratio(day.uptime),
        day.entries,
        day.usual,
        shortfall(day),
      ]),
    );
  }
}

function recordingRow(
  { locationName, locationId }: LocationGroup,
  recording: RecordingDigest,
  bounds: Interval,
): CsvRow {
  const { name, id, part, uptime, uptimeBefore, lostMs, outages, flapping, downSince } = recording;
  const known = part !== "unknown";
  const longest = outages.length > 0 ? Math.max(...outages.map((outage) => outage.lostMs)) : undefined;
  return [
    short(locationName),
    short(locationId),
    short(name),
    short(id),
    part,
    ratio(uptime),
    ratio(uptimeBefore),
    known ? seconds(lostMs) : undefined,
    known ? outages.length : undefined,
    seconds(longest),
    seconds(meanRecovery(tallyOf([], outages, bounds))),
    seconds(flapping?.lengthMs),
    downSince === undefined ? undefined : new Date(downSince).toISOString(),
  ];
}

/** The service does not limit the length of a name. */
const NAME_LENGTH = 200;

function short(name: string): string {
  return cut(stripControls(name), NAME_LENGTH);
}

function ratio(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Number(value.toFixed(6));
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms / 1000);
}
