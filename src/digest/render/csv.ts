/** All figures of a digest for spreadsheets. */
import { type CsvColumns, csvTable } from "../../lib/csv.ts";
import type { Interval } from "../../lib/intervals.ts";
import { cut, stripControls } from "../../lib/text.ts";
import { meanRecovery, tallyOf } from "../compute/tally.ts";
import { shortfall } from "../compute/untrusted.ts";
import { type Digest, digestParts, type Located, type RecordingDigest, type UntrustedDay } from "../digest.ts";

/**
 * The tables of a digest by name, in chunks: ratios 0–1, times in seconds, instants in UTC, an empty cell without a figure.
 * Besides a line per recording, one per untrusted day, where there are any.
 */
export function tablesOf({ parts, period, untrusted }: Digest): Map<string, Generator<string, void>> {
  const groups = digestParts.flatMap((part) => parts[part]);
  const rows = groups.flatMap(({ recordings, locationId, locationName }) =>
    recordings.map((recording) => ({ ...recording, locationId, locationName })),
  );
  const tables = new Map([["recordings", csvTable(recordingColumns(period), rows)]]);
  if (untrusted.length > 0) tables.set("visitor-counts", csvTable(countsColumns, untrusted));
  return tables;
}

const placeColumns: CsvColumns<Located> = {
  location: ({ locationName }) => short(locationName),
  location_id: ({ locationId }) => short(locationId),
};

/** Downtime and outages are blank where nothing is known. */
function recordingColumns(bounds: Interval): CsvColumns<RecordingDigest & Located> {
  return {
    ...placeColumns,
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

const countsColumns: CsvColumns<UntrustedDay> = {
  ...placeColumns,
  date: ({ date }) => date,
  uptime_ratio: ({ uptime }) => ratio(uptime),
  entries: ({ entries }) => entries,
  usual_entries: ({ usual }) => usual,
  short_by: shortfall,
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
