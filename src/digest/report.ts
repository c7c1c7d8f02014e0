/** Reports from the store; the last few are kept for a minute, as their pages are read one by one. */
import { DateTime } from "luxon";
import type { Clock, Instant } from "../lib/clock.ts";
import { createLocalHours } from "../lib/local-hours.ts";
import { createLossRows, type Report, type ReportRequest, type ReportRow } from "../report/report.ts";
import { createScheduleTimes } from "./compute/calendar.ts";
import { AROUND_MS, createFacts, isChosen, lossIn } from "./compute/recording.ts";
import { createSloRows, reportGroupOf } from "./compute/slo-rows.ts";
import type { DigestPeriod, DigestRecording } from "./digest.ts";
import { addFleet, type FiguresSource, readScope, readStates } from "./figures.ts";
import { digestPeriod } from "./period.ts";

const KEPT_MS = 60_000;
const MOST_KEPT = 4;

/** Gives `report(request)`. The same request within a minute has the same answer, and they are made one at a time. */
export function createReports(source: FiguresSource & { readonly clock: Clock }) {
  const kept = new Map<string, { readonly at: Instant; readonly report: Promise<Report> }>();
  let last: Promise<unknown> = Promise.resolve();
  return (request: ReportRequest): Promise<Report> => {
    const now = source.clock.now();
    const key = JSON.stringify(request);
    const known = kept.get(key);
    if (known && now >= known.at && now - known.at < KEPT_MS) return known.report;
    const report = last.then(() => computeReport(source, request, now));
    last = report.catch(() => kept.delete(key));
    kept.delete(key);
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value ?? "");
    kept.set(key, { at: now, report });
    return report;
  };
}

/** The report of a period, whose times are in the request's zone. */
async function computeReport(
  source: FiguresSource,
  { period: asked, timezone, by, matchers }: ReportRequest,
  now: Instant,
): Promise<Report> {
  const period =
    typeof asked === "string" ? digestPeriod(asked, now, timezone) : { ...asked, label: labelOf(asked, timezone) };
  const fleet = await readStates(source);
  const scope = await readScope(source, { period, timezone, matchers: [...matchers], untrustedBelow: 0 }, fleet);
  const factsOf = createFacts(scope, createScheduleTimes(createLocalHours()));
  const rows = createLossRows<ReportRow>();
  const slos = createSloRows(source.config.slos ?? []);
  const wants = (subject: DigestRecording) => isChosen(matchers, subject);
  const add = (subject: DigestRecording, figures: Parameters<typeof factsOf>[1]) => {
    const loss = lossIn(factsOf(subject, figures));
    rows.add({ ...reportGroupOf(subject, by), loss });
    slos.add(subject, loss);
  };
  await addFleet(source, fleet, { wants, add }, period.from - AROUND_MS);
  return { now: fleet.now, period, total: rows.total(), rows: rows.sorted(), slos: slos.sorted() };
}

/** `2026-11-01 00:00 to 2026-11-03 12:00`. */
function labelOf({ from, to }: Pick<DigestPeriod, "from" | "to">, zone: string): string {
  const [first, last] = [from, to].map((at) => DateTime.fromMillis(at, { zone }).toFormat("yyyy-MM-dd HH:mm"));
  return `${first} to ${last}`;
}
