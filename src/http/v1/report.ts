/** `GET /api/v1/report`: the lost time of a period by cause. */

import { z } from "zod";
import { parseMatchers } from "../../alerting/matcher.ts";
import { requestBudget } from "../../alerting/pattern.ts";
import { DAY_MS, MINUTE_MS } from "../../lib/clock.ts";
import { withDeadline } from "../../lib/closer.ts";
import { PAST_EXAMPLES, parsePast } from "../../lib/moment.ts";
import { type ReportRequest, type ReportRow, reportGroups, reportPeriods } from "../../report/report.ts";
import { unplannedMs } from "../../report/tally.ts";
import type { HttpDeps } from "../deps.ts";
import { HttpError } from "../errors.ts";
import { limitsOf } from "../limits.ts";
import { listingOf, pageParameters } from "../paging.ts";
import { parsedBy } from "../query.ts";
import { timezoneParameter, withZone } from "./handover.ts";
import { operation } from "./operation.ts";
import { answerOf, ReportPage, rowOf } from "./report-answer.ts";

/** Episodes are stored for 90 days. */
const MOST_DAYS = 92;

const past = z.string({ error: "expected one day or time" }).max(64, "expected at most 64 characters");

export const ReportQuery = z.object({
  period: z.enum(reportPeriods, { error: "expected 1d, 1w or 1mo" }).default("1mo").describe("The last whole one."),
  from: past.optional().describe(`Instead of a period: ${PAST_EXAMPLES}.`),
  to: past.optional().describe("With `from`: the end; a day is included."),
  timezone: timezoneParameter.describe("Of the period's days."),
  by: z
    .string({ error: "expected one group" })
    .max(256, "expected at most 256 characters")
    .default("location")
    .describe(`${reportGroups.join(", ")} or a label of the directory.`),
  matchers: z
    .string({ error: "expected one text of matchers" })
    .max(2_000, "expected at most 2000 characters")
    .default("")
    .transform(parsedBy((text: string) => parseMatchers(text, requestBudget())))
    .meta({ type: "string", description: 'Of the recordings, by their labels: `organisation="acme"`.' }),
});
export type AskedReport = z.infer<typeof ReportQuery> & { readonly timezone: string };

export const getReport = operation({
  id: "getReport",
  method: "get",
  path: "/api/v1/report",
  lane: "reports",
  summary: "Lost time of a period by cause, most first; of the last month without parameters.",
  query: z.strictObject({ ...ReportQuery.shape, ...pageParameters }),
  answer: ReportPage,
  async handle(deps, { query: asked }) {
    const query = withZone(asked, deps.config().display?.timezone);
    const report = await reportInTime(deps, query);
    const rowKey = ({ id, loss }: ReportRow) => {
      return `${String(Number.MAX_SAFE_INTEGER - unplannedMs(loss)).padStart(16, "0")} ${id}`;
    };
    const { items, nextCursor } = listingOf(report.rows, query, rowKey);
    return { ...answerOf(report, query), items: items.map(rowOf), nextCursor };
  },
});

/** Throws HttpError. What is late is made all the same, and kept for the next request. */
export async function reportInTime(deps: Pick<HttpDeps, "report" | "clock" | "limits">, query: AskedReport) {
  const refused = (why: string) => new HttpError("busy", `${why}: ask again in a few seconds.`);
  const report = deps.report(requestOf(query, deps.clock.now()));
  if (!report) throw refused("Other reports are being made");
  const mostMs = limitsOf(deps).answerMs * 0.9;
  const made = await withDeadline(report, mostMs, () => refused("The report of so many recordings takes longer"));
  if (made.groups.includes(query.by)) return made;
  throw new HttpError("bad_query", `by: expected one of ${made.groups.join(", ")}.`);
}

/** The report that is asked for, until the last full minute at most, so that its pages are of one report. Throws HttpError `bad_query`. */
function requestOf({ period, from, to, timezone, by, matchers }: AskedReport, now: number): ReportRequest {
  if (!from && !to) return { period, timezone, by, matchers };
  if (!from) throw new HttpError("bad_query", "from: expected a time beside `to`.");
  const present = now - (now % MINUTE_MS);
  const past = (name: string, text: string) => {
    const span = parsePast(text, present, timezone);
    if (!span) throw new HttpError("bad_query", `${name}: expected a day or time such as ${PAST_EXAMPLES}.`);
    return span;
  };
  const { start } = past("from", from);
  const until = to ? Math.min(past("to", to).end, present) : present;
  if (start >= until) throw new HttpError("bad_query", "from: expected a time before `to`, and before now.");
  if (until - start > MOST_DAYS * DAY_MS) throw new HttpError("bad_query", `from: expected at most ${MOST_DAYS} days.`);
  return { period: { from: start, to: until }, timezone, by, matchers };
}
