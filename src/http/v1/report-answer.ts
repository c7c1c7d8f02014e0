/** A report as JSON. */
import { z } from "zod";
import { lossCauses } from "../../report/attribute.ts";
import type { Report, ReportRow } from "../../report/report.ts";
import { causeNotes, reportFigures, reportSummary } from "../../report/summary.ts";
import { availability, type LossTally, lostMs, unplannedAvailability } from "../../report/tally.ts";
import { isoTime } from "../query.ts";
import { ApiVisits } from "./episodes.ts";
import { pageSchema, timeSchema } from "./operation.ts";

const ratio = z.number().nullable();
const seconds = z.number().min(0).describe("Exact to the millisecond.");
const lossShape = {
  recordings: z.int().min(0),
  expectedSeconds: seconds,
  knownSeconds: seconds.describe("Of the expected time, that of which it is known whether it was recorded."),
  lostSeconds: seconds.describe("All causes together."),
  causes: z.record(z.enum(lossCauses), z.number().min(0)),
  availability: ratio.describe("Of the known time, what was recorded; null where nothing is known."),
  unplannedAvailability: ratio.describe("The same without maintenance."),
};
const Loss = z.strictObject(lossShape).readonly();
const ReportGroupRow = z
  .strictObject({ id: z.string(), name: z.string(), incidents: z.int().min(0), ...lossShape })
  .readonly();
export type ReportGroupRow = z.infer<typeof ReportGroupRow>;

const periodShape = { from: timeSchema, to: timeSchema, label: z.string() };
const Figure = z.strictObject({ name: z.string(), value: z.string(), was: z.string() }).readonly();

const ReportIncident = z
  .strictObject({
    id: z.string(),
    title: z.string(),
    startsAt: timeSchema,
    endsAt: timeSchema.nullable(),
    durationSeconds: seconds.describe("In which it was an outage, or had alerts; until now while it lasts."),
    uncounted: ApiVisits.describe(
      "Visits of the period that were not counted, each at one incident; null where none is known.",
    ),
  })
  .readonly();
export type ReportIncident = z.infer<typeof ReportIncident>;

/** Rows that are shown at first. */
export const WORST = 10;

const reportShape = {
  madeAt: timeSchema,
  period: z.strictObject({ ...periodShape, timezone: z.string() }).readonly(),
  by: z.string(),
  summary: z.string().describe("One sentence."),
  figures: z.array(Figure).readonly().describe("For people; `was`: of the period before, empty where it is not known."),
  notes: z.array(z.string()).readonly().describe("Sentences that explain causes."),
  incidents: z.array(ReportIncident).readonly().describe(`The ${WORST} worst.`),
  total: Loss,
  before: z
    .strictObject({ ...periodShape, total: Loss })
    .readonly()
    .describe("The period before, of the same recordings."),
};
export const ReportPage = pageSchema(ReportGroupRow, reportShape);
export type ReportPage = z.infer<typeof ReportPage>;

/** The report without its rows. */
export function answerOf(report: Report, { timezone, by }: { readonly timezone: string; readonly by: string }) {
  const { now, period, before, total, incidents } = report;
  const spanOf = ({ from, to, label }: Report["period"]) => ({ from: isoTime(from), to: isoTime(to), label });
  return {
    madeAt: isoTime(now),
    period: { ...spanOf(period), timezone },
    by,
    summary: reportSummary(report),
    figures: reportFigures(report),
    notes: causeNotes(total),
    incidents: incidents.slice(0, WORST).map(({ id, title, startsAt, endsAt, durationMs, visits = null }) => {
      const times = { startsAt: isoTime(startsAt), endsAt: isoTime(endsAt), durationSeconds: durationMs / 1000 };
      return { id, title, ...times, uncounted: visits };
    }),
    total: lossOf(total),
    before: { ...spanOf(before.period), total: lossOf(before.total) },
  };
}

export function rowOf({ id, name, incidents, loss }: ReportRow): ReportGroupRow {
  return { id, name, incidents, ...lossOf(loss) };
}

function lossOf(loss: LossTally): z.infer<typeof Loss> {
  return {
    recordings: loss.recordings,
    expectedSeconds: loss.expectedMs / 1000,
    knownSeconds: loss.knownMs / 1000,
    lostSeconds: lostMs(loss) / 1000,
    causes: Object.fromEntries(lossCauses.map((cause) => [cause, loss[cause] / 1000])) as Record<
      (typeof lossCauses)[number],
      number
    >,
    availability: availability(loss) ?? null,
    unplannedAvailability: unplannedAvailability(loss) ?? null,
  };
}
