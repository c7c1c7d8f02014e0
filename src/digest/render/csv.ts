/** All figures of a digest for spreadsheets. */
import { type CsvCell, csvLines } from "../../lib/csv.ts";
import { cut, stripControls } from "../../lib/text.ts";
import { meanRecovery, tallyOf } from "../compute/tally.ts";
import { shortfall } from "../compute/untrusted.ts";
import {
  type Digest,
  digestParts,
  type Interval,
  type LocationGroup,
  type RecordingDigest,
  type UntrustedDay,
} from "../digest.ts";

const ROWS_PER_STEP = 500;

/** A line per recording, in chunks: ratios 0–1, times in seconds, instants in UTC, an empty cell without a figure. */
export function* recordingsCsv(digest: Digest): Generator<string, void> {
  const columns = recordingColumns(digest.period);
  const cells = Object.values(columns);
  let rows: CsvCell[][] = [Object.keys(columns)];
  for (const part of digestParts) {
    for (const group of digest.parts[part]) {
      for (const recording of group.recordings) {
        rows.push(cells.map((cell) => cell(recording, group)));
        if (rows.length < ROWS_PER_STEP) continue;
        yield csvLines(rows);
        rows = [];
      }
    }
  }
  if (rows.length > 0) yield csvLines(rows);
}

type Columns<Row extends unknown[]> = Readonly<Record<string, (...row: Row) => CsvCell>>;

/** Downtime and outages are blank where nothing is known. */
function recordingColumns(bounds: Interval): Columns<[RecordingDigest, LocationGroup]> {
  return {
    location: (_, { locationName }) => short(locationName),
    location_id: (_, { locationId }) => short(locationId),
    recording: ({ name }) => short(name),
    recording_id: ({ id }) => short(id),
    part: ({ part }) => part,
    uptime_ratio: ({ uptime }) => ratio(uptime),
    uptime_before_ratio: ({ uptimeBefore }) => ratio(uptimeBefore),
    lost_seconds: ({ part, lostMs }) => (part === "unknown" ? undefined : seconds(lostMs)),
    outages: ({ part, outages }) => (part === "unknown" ? undefined : outages.length),
    longest_outage_seconds: ({ outages }) =>
      outages.length > 0 ? seconds(Math.max(...outages.map(({ lostMs }) => lostMs))) : undefined,
    mean_recovery_seconds: ({ outages }) => seconds(meanRecovery(tallyOf([], outages, bounds))),
    flapping_seconds: ({ flapping }) => seconds(flapping?.lengthMs),
    down_since: ({ downSince }) => (downSince === undefined ? undefined : new Date(downSince).toISOString()),
  };
}

const countsColumns: Columns<[UntrustedDay]> = {
  location: ({ locationName }) => short(locationName),
  location_id: ({ locationId }) => short(locationId),
  date: ({ date }) => date,
  uptime_ratio: ({ uptime }) => ratio(uptime),
  entries: ({ entries }) => entries,
  usual_entries: ({ usual }) => usual,
  short_by: shortfall,
};

/** A line per untrusted day; an empty cell where there is no figure. */
export function* countsCsv({ untrusted }: Digest): Generator<string, void> {
  yield csvLines([Object.keys(countsColumns)]);
  for (let from = 0; from < untrusted.length; from += ROWS_PER_STEP) {
    const page = untrusted.slice(from, from + ROWS_PER_STEP);
    yield csvLines(page.map((day) => Object.values(countsColumns).map((cell) => cell(day))));
  }
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
