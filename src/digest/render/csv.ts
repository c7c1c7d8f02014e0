/** All figures of a digest for spreadsheets. */
import { chunksOf } from "../../lib/chunks.ts";
import { type CsvCell, csvLines } from "../../lib/csv.ts";
import type { Interval } from "../../lib/intervals.ts";
import { cut, stripControls } from "../../lib/text.ts";
import { meanRecovery, tallyOf } from "../compute/tally.ts";
import { shortfall } from "../compute/untrusted.ts";
import {
  type Digest,
  digestParts,
  type LensToClean,
  type LocatedVisits,
  type LocationGroup,
  type RecordingDigest,
  type UntrustedDay,
} from "../digest.ts";

const ROWS_PER_STEP = 500;

/**
 * The tables of a digest by name, in chunks: ratios 0–1, times in seconds, instants in UTC, an empty cell without a figure.
 * Besides a line per recording, one per untrusted day, per recording whose quality falls steadily, and per location with
 * visits that were not counted, where there are any.
 */
export function tablesOf({ parts, period, untrusted, lenses, visits }: Digest): Map<string, Generator<string, void>> {
  const groups = digestParts.flatMap((part) => parts[part]);
  const rows = groups.flatMap((group) => group.recordings.map((recording): RecordingRow => [recording, group]));
  const tables = [
    ["recordings", table(recordingColumns(period), rows), true],
    [
      "visitor-counts",
      table(
        countsColumns,
        untrusted.map((day) => [day]),
      ),
      untrusted.length > 0,
    ],
    [
      "lenses",
      table(
        lensColumns,
        lenses.map((lens) => [lens]),
      ),
      lenses.length > 0,
    ],
    [
      "visits-uncounted",
      table(
        visitsColumns,
        visits.map((one) => [one]),
      ),
      visits.length > 0,
    ],
  ] as const;
  return new Map(tables.flatMap(([name, lines, isThere]) => (isThere ? [[name, lines] as const] : [])));
}

function* table<Row extends readonly unknown[]>(columns: Columns<Row>, rows: readonly Row[]): Generator<string, void> {
  const cells = Object.values(columns);
  yield csvLines([Object.keys(columns)]);
  for (const page of chunksOf(rows, ROWS_PER_STEP))
    yield csvLines(page.map((row) => cells.map((cell) => cell(...row))));
}

type RecordingRow = [RecordingDigest, LocationGroup];
type Columns<Row extends readonly unknown[]> = Readonly<Record<string, (...row: Row) => CsvCell>>;

/** Downtime and outages are blank where nothing is known. */
function recordingColumns(bounds: Interval): Columns<RecordingRow> {
  return {
    location: (_, { locationName }) => short(locationName),
    location_id: (_, { locationId }) => short(locationId),
    recording: ({ name }) => short(name),
    recording_id: ({ id }) => short(id),
    part: ({ part }) => part,
    uptime_ratio: ({ uptime }) => ratio(uptime),
    uptime_before_ratio: ({ uptimeBefore }) => ratio(uptimeBefore),
    lost_seconds: ({ part, lostMs }) => (part === "unknown" ? undefined : seconds(lostMs)),
    planned_seconds: ({ part, plannedMs }) => (part === "unknown" ? undefined : seconds(plannedMs)),
    outages: ({ part, outages }) => (part === "unknown" ? undefined : outages.length),
    longest_outage_seconds: ({ outages }) =>
      outages.length > 0 ? seconds(Math.max(...outages.map(({ lostMs }) => lostMs))) : undefined,
    mean_recovery_seconds: ({ outages }) => seconds(meanRecovery(tallyOf([], outages, bounds))),
    flapping_seconds: ({ flapping }) => seconds(flapping?.lengthMs),
    down_since: ({ downSince }) => (downSince === undefined ? undefined : new Date(downSince).toISOString()),
  };
}

const lensColumns: Columns<[LensToClean]> = {
  location: ({ locationName }) => short(locationName),
  location_id: ({ locationId }) => short(locationId),
  recording: ({ recording }) => short(recording.name),
  recording_id: ({ recording }) => short(recording.id),
  quality_ratio: ({ quality }) => ratio(quality),
  lost_per_day_ratio: ({ perDay }) => ratio(perDay),
  below_threshold_from: ({ below }) => new Date(below).toISOString(),
};

const countsColumns: Columns<[UntrustedDay]> = {
  location: ({ locationName }) => short(locationName),
  location_id: ({ locationId }) => short(locationId),
  date: ({ date }) => date,
  uptime_ratio: ({ uptime }) => ratio(uptime),
  entries: ({ entries }) => entries,
  usual_entries: ({ usual }) => usual,
  short_by: shortfall,
};

const visitsColumns: Columns<[LocatedVisits]> = {
  location: ({ locationName }) => short(locationName),
  location_id: ({ locationId }) => short(locationId),
  visits_uncounted: ({ visits }) => Math.round(visits.estimate),
  visits_uncounted_low: ({ visits }) => Math.round(visits.low),
  visits_uncounted_high: ({ visits }) => Math.round(visits.high),
};

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
