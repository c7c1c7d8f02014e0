/** A report: the lost time of groups of recordings in a period, and how it stands with objectives. */
import type { Matcher } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import type { Interval } from "../lib/intervals.ts";
import { compareText } from "../lib/text.ts";
import { addLoss, type LossTally, lostMs, noLoss } from "./tally.ts";

export const reportGroups = ["location", "organisation", "camera_server", "recording"] as const;
export type ReportGroup = (typeof reportGroups)[number];

/** An objective for the ratio of time that recordings record, as configured. */
export interface Slo {
  readonly name: string;
  /** 0–1, neither included. */
  readonly objective: number;
  readonly periodMs: number;
  readonly matchers: readonly Matcher[];
  /** One budget for each of them; undefined: one for all recordings. */
  readonly by?: Exclude<ReportGroup, "recording"> | undefined;
}

export const reportPeriods = ["1d", "1w", "1mo"] as const;

/** What is asked for: the last whole period of this name, or the time between two instants. */
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

/** `id` and `name` are of a group, or empty: over all its recordings. */
export interface SloRow extends ReportRow {
  readonly slo: Slo;
}

export interface Report {
  readonly now: Instant;
  readonly period: Interval & { readonly label: string };
  readonly total: LossTally;
  /** Most lost time first, maintenance not counted. */
  readonly rows: readonly ReportRow[];
  /** By SLO in the order of the configuration, the least error budget left first. */
  readonly slos: readonly SloRow[];
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

/** Of rows with the least budget left first, the first ones of each SLO. */
export function worstOfEach<Row>(rows: readonly Row[], most: number, sloOf: (row: Row) => string): Row[] {
  return [...Map.groupBy(rows, sloOf).values()].flatMap((own) => own.slice(0, most));
}

/** Lost time that was not planned, ms. */
export function unplannedMs(loss: LossTally): number {
  return lostMs(loss) - loss.maintenance;
}
