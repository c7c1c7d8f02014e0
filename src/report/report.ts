/** A report: the lost time of groups of recordings in a period. */
import type { Matcher } from "../alerting/matcher.ts";
import type { VisitsLost } from "../counts/visits-lost.ts";
import type { Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import { compareText } from "../lib/text.ts";
import { addLoss, type LossTally, noLoss, unplannedMs } from "./tally.ts";

/** Groups that every fleet has; labels of the directory are others. */
export const reportGroups = ["location", "organisation", "camera_server", "recording"] as const;

export const reportPeriods = ["1d", "1w", "1mo"] as const;

/** The period asked for: the last whole period of this name, or the time between two instants. */
export interface ReportRequest {
  readonly period: (typeof reportPeriods)[number] | Interval;
  readonly timezone: string;
  /** One of `reportGroups`, or a label of the directory. */
  readonly by: string;
  readonly matchers: readonly Matcher[];
}

export interface ReportRow {
  readonly id: string;
  readonly name: string;
  readonly loss: LossTally;
  /** The number of those that were about its recordings. */
  readonly incidents: number;
}

/** An incident of the period. */
export interface ReportIncident {
  readonly id: string;
  readonly title: string;
  readonly startsAt: Instant;
  /** Undefined while it is open. */
  readonly endsAt: Instant | undefined;
  readonly durationMs: number;
  /** Visits of the period that were not counted. */
  readonly visits: VisitsLost | undefined;
}

type ReportPeriod = Interval & { readonly label: string };

export interface Report {
  readonly now: Instant;
  readonly period: ReportPeriod;
  readonly total: LossTally;
  /** The incidents of the same recordings, worst first. */
  readonly incidents: readonly ReportIncident[];
  /** The period before, of the same recordings, and the number of its incidents; undefined where that was not watched. */
  readonly before: { readonly period: ReportPeriod; readonly total: LossTally; readonly incidents: number | undefined };
  /** Everything that a report of this fleet can be by. */
  readonly groups: readonly string[];
  /** Most lost time first, maintenance not counted. */
  readonly rows: readonly ReportRow[];
}

/** Rows by key, to which recordings are added. */
export function createLossRows<Row extends Omit<ReportRow, "incidents">>() {
  const rows = new Map<string, Row>();
  return {
    add(row: Row): void {
      const known = rows.get(row.id);
      if (known) addLoss(known.loss, row.loss);
      else rows.set(row.id, { ...row, loss: { ...row.loss } });
    },
    /** Most lost time first. */
    sorted: (): Row[] =>
      [...rows.values()].sort(
        (a, b) => unplannedMs(b.loss) - unplannedMs(a.loss) || compareText(a.name, b.name) || compareText(a.id, b.id),
      ),
    total: (): LossTally => [...rows.values()].reduce((sum, { loss }) => addLoss(sum, loss), noLoss()),
  };
}
