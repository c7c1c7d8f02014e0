/** A report as JSON. */
import { z } from "zod";
import { lossCauses } from "../../report/attribute.ts";
import type { Report, ReportRow } from "../../report/report.ts";
import { reportFigures, reportSummary } from "../../report/summary.ts";
import { availability, type LossTally, lostMs, unplannedAvailability } from "../../report/tally.ts";
import { isoTime } from "../query.ts";
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
const ReportGroupRow = z.strictObject({ id: z.string(), name: z.string(), ...lossShape }).readonly();
export type ReportGroupRow = z.infer<typeof ReportGroupRow>;

const periodShape = { from: timeSchema, to: timeSchema, label: z.string() };
const Figure = z.strictObject({ name: z.string(), value: z.string(), was: z.string() }).readonly();

const reportShape = {
  madeAt: timeSchema,
  period: z.strictObject({ ...periodShape, timezone: z.string() }).readonly(),
  by: z.string(),
  summary: z.string().describe("One sentence."),
  figures: z.array(Figure).readonly().describe("For people; `was`: of the period before, empty where it is not known."),
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
  const { now, period, before, total } = report;
  const spanOf = ({ from, to, label }: Report["period"]) => ({ from: isoTime(from), to: isoTime(to), label });
  return {
    madeAt: isoTime(now),
    period: { ...spanOf(period), timezone },
    by,
    summary: reportSummary(report),
    figures: reportFigures(report),
    total: lossOf(total),
    before: { ...spanOf(before.period), total: lossOf(before.total) },
  };
}

export function rowOf({ id, name, loss }: ReportRow): ReportGroupRow {
  return { id, name, ...lossOf(loss) };
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
