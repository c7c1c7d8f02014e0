/** A report: the lost time of groups of recordings in a period. */
import type { Matcher } from "../alerting/matcher.ts";
import type { Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import { compareText } from "../lib/text.ts";
import { addLoss, type LossTally, lostMs, noLoss } from "./tally.ts";

export const reportGroups = ["location", "organisation", "camera_server", "recording"] as const;
export type ReportGroup = (typeof reportGroups)[number];

export const reportPeriods = ["1d", "1w", "1mo"] as const;

/** The period asked for: the last whole period of this name, or the time between two instants. */
export interface ReportRequest {
  readonly period: (typeof reportPeriods)[number] | Interval;
  readonly timezone: string;
  readonly by: ReportGroup;
  readonly matchers: readonly Matcher[];
}

export interface ReportRow {
  readonly id: string;
  readonly name: string;
  readonly loss: LossTally;
}

export interface Report {
  readonly now: Instant;
  readonly period: Interval & { readonly label: string };
  readonly total: LossTally;
  /** Most lost time first, maintenance not counted. */
  readonly rows: readonly ReportRow[];
}

/** Rows by key, to which recordings are added. */
export function createLossRows<Row extends ReportRow>() {
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

/** Lost time that was not planned, ms. */
export function unplannedMs(loss: LossTally): number {
  return lostMs(loss) - loss.maintenance;
}
