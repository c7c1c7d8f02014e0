/** All figures of a digest for spreadsheets. */
import { type CsvColumns, csvTable } from "../../lib/csv.ts";
import type { Interval } from "../../lib/intervals.ts";
import { cut, stripControls } from "../../lib/text.ts";
import { partsByNeed } from "../compute/listed.ts";
import { meanRecovery, tallyOf } from "../compute/tally.ts";
import { shortfall } from "../compute/untrusted.ts";
import type { Digest, Located, RecordingDigest, UntrustedDay } from "../digest.ts";
import type { CutTable } from "./view.ts";

export interface Table extends CutTable {
  readonly name: string;
  /** The CSV of the first `most` rows, in chunks. */
  csv(most?: number): Generator<string, void>;
}

/**
 * The tables of a digest: ratios 0–1, times in seconds, instants in UTC, an empty cell without a figure. Besides a line per
 * recording that is listed, the worst first, one per untrusted day, where there are any.
 */
export function tablesOf({ parts, period, untrusted, totals }: Digest): Table[] {
  const groups = partsByNeed.flatMap((part) => parts[part]);
  const listed = groups.flatMap(({ recordings, locationId, locationName }) =>
    recordings.map((recording) => ({ ...recording, locationId, locationName })),
  );
  const table = <Row>(columns: CsvColumns<Row>, rows: readonly Row[]) => {
    return { rows: rows.length, total: rows.length, csv: (most?: number) => csvTable(columns, rows.slice(0, most)) };
  };
  const recordings = { ...table(recordingColumns(period), listed), total: totals.recordings };
  const tables: Table[] = [{ name: "recordings", noun: "recording", ...recordings }];
  if (untrusted.length > 0) tables.push({ name: "visitor-counts", noun: "day", ...table(countsColumns, untrusted) });
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
