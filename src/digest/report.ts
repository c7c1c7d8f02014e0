/** Reports from the store; the last few are kept for a minute, as their pages are read one by one. */

import { DateTime } from "luxon";
import { groupNameIn } from "../health/directory.ts";
import type { Inventory } from "../health/shard-state.ts";
import type { Clock, Instant } from "../lib/clock.ts";
import { nameWithin } from "../lib/format.ts";
import type { Interval } from "../lib/intervals.ts";
import { createLocalHours } from "../lib/local-hours.ts";
import {
  createLossRows,
  type Report,
  type ReportRequest,
  type ReportRow,
  reportGroups,
  reportPeriods,
} from "../report/report.ts";
import { addLoss, noLoss } from "../report/tally.ts";
import { createScheduleTimes } from "./compute/calendar.ts";
import { createIncidents } from "./compute/incidents.ts";
import { AROUND_MS, createFacts, createLossIn, isChosen } from "./compute/recording.ts";
import type { DigestPeriod, DigestRecording } from "./digest.ts";
import { addFleet, type FiguresSource, readScope, readStates } from "./figures.ts";
import { digestPeriod } from "./period.ts";

const KEPT_MS = 60_000;
const MOST_KEPT = 4;

/**
 * Gives `report(request)`: the same request has the same answer until a minute after it was made. They are made one at a
 * time; undefined where too many wait already.
 */
export function createReports(source: FiguresSource & { readonly clock: Clock }) {
  const kept = new Map<string, { madeAt: Instant | undefined; readonly report: Promise<Report> }>();
  let last: Promise<unknown> = Promise.resolve();
  return (request: ReportRequest): Promise<Report> | undefined => {
    const now = source.clock.now();
    for (const [key, { madeAt = now }] of kept) if (madeAt > now || now - madeAt >= KEPT_MS) kept.delete(key);
    const key = JSON.stringify(request);
    const known = kept.get(key);
    if (known) return known.report;
    if (kept.size >= MOST_KEPT) {
      const oldest = kept.entries().find(([, { madeAt }]) => madeAt !== undefined);
      if (!oldest) return undefined;
      kept.delete(oldest[0]);
    }
    const report = last.then(() => computeReport(source, request, source.clock.now()));
    const made = { madeAt: undefined as Instant | undefined, report };
    kept.set(key, made);
    last = report.then(
      () => (made.madeAt = source.clock.now()),
      () => kept.delete(key),
    );
    return report;
  };
}

/** The report of a period, whose times are in the request's zone. */
async function computeReport(
  source: FiguresSource,
  { period: asked, timezone, by, matchers }: ReportRequest,
  now: Instant,
): Promise<Report> {
  const [period, before] = periodsOf(asked, timezone, now);
  const fleet = await readStates(source);
  const scope = await readScope(source, { period, before, timezone, matchers: [...matchers] }, fleet);
  const factsOf = createFacts(scope, createScheduleTimes(createLocalHours()));
  const lossIn = createLossIn(scope);
  const rows = createLossRows<Omit<ReportRow, "incidents">>();
  const totalBefore = noLoss();
  const incidents = createIncidents(scope);
  const groupsOf = new Map<string, Set<string>>();
  const wants = (subject: DigestRecording) => isChosen(matchers, subject);
  const add = (subject: DigestRecording, figures: Parameters<typeof factsOf>[1]) => {
    const group = reportGroupOf(subject, by, fleet.inventory);
    for (const key of incidents.add(subject)) groupsOf.set(key, (groupsOf.get(key) ?? new Set()).add(group.id));
    const lost = lossIn(factsOf(subject, figures));
    rows.add({ ...group, loss: lost.loss });
    addLoss(totalBefore, lost.before);
  };
  await addFleet(source, fleet, { wants, add }, before.from - AROUND_MS, period.to + AROUND_MS);
  const groups = [...reportGroups, ...(fleet.inventory.shopLabels?.() ?? [])];
  const found = incidents.inside(period);
  const touched = found.flatMap(({ keys }) => [...new Set([...keys].flatMap((key) => [...(groupsOf.get(key) ?? [])]))]);
  const counts = Map.groupBy(touched, (id) => id);
  const incidentsBefore = scope.before?.isWatched ? incidents.inside(before).length : undefined;
  const made = { now: fleet.now, period, before: { period: before, total: totalBefore, incidents: incidentsBefore } };
  const sorted = rows.sorted().map((row) => ({ ...row, incidents: counts.get(row.id)?.length ?? 0 }));
  return { ...made, total: rows.total(), incidents: found, rows: sorted, groups };
}

/** The period that is asked for and the one before: of a span that is a whole day, week or month, the day, week or month before. */
function periodsOf(asked: ReportRequest["period"], zone: string, now: Instant): [DigestPeriod, DigestPeriod] {
  for (const name of typeof asked === "string" ? [asked] : reportPeriods) {
    const period = digestPeriod(name, typeof asked === "string" ? now : asked.to, zone);
    if (typeof asked === "string" || (period.from === asked.from && period.to === asked.to))
      return [period, digestPeriod(name, period.from, zone)];
  }
  const { from, to } = asked as Interval;
  const spanOf = (span: Interval) => ({ ...span, label: labelOf(span, zone) });
  return [spanOf({ from, to }), spanOf({ from: 2 * from - to, to: from })];
}

/** `2026-11-01 00:00 to 2026-11-03 12:00`. */
function labelOf({ from, to }: Interval, zone: string): string {
  const [first, last] = [from, to].map((at) => DateTime.fromMillis(at, { zone }).toFormat("yyyy-MM-dd HH:mm"));
  return `${first} to ${last}`;
}

/** The group of a report that a recording is in. */
function reportGroupOf(
  { recording, locationName, shop }: DigestRecording,
  by: string,
  inventory: Inventory,
): Pick<ReportRow, "id" | "name"> {
  const { id, name, locationId, organisation, cameraServer } = recording;
  if (by === "location") return { id: locationId, name: locationName };
  if (by === "recording") return { id, name: `${locationName} · ${nameWithin(name, locationName)}` };
  const own = new Map([
    ...Object.entries(shop?.labels ?? {}),
    ["organisation", organisation],
    ["camera_server", cameraServer],
  ]);
  const value = own.get(by) ?? "";
  return { id: value, name: value === "" ? `no ${by.replaceAll("_", " ")}` : groupNameIn(inventory, value) };
}
