/** Outages of a location's recordings, by the alerts about them. */
import type { ProblemKind, SubjectKind } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { clip, type Interval, subtract, total } from "../lib/intervals.ts";
import { type CountedHours, type NothingLost, type VisitsLost, visitsLost } from "./visits-lost.ts";

/** One episode of an alert; without an `endsAt` it fires. */
export interface OutageAlert {
  readonly subject: { readonly kind: SubjectKind; readonly id: string };
  readonly problem?: ProblemKind | undefined;
  readonly startsAt: Instant;
  readonly endsAt?: Instant | undefined;
}

/** Nothing is recorded. */
const SILENT: ReadonlySet<string | undefined> = new Set<ProblemKind>(["offline", "missing", "not_uploading"]);
const COSTLY = new Set([...SILENT, ...(["location_offline", "counts_low"] satisfies ProblemKind[])]);

/** True where visits may not be counted while it fires. */
export function costsVisits({ problem, subject: { kind } }: OutageAlert): boolean {
  return COSTLY.has(problem) && (kind === "recording" || kind === "location");
}

/** A longer outage has become usual. */
const BRIEF_MS = 3 * 86_400_000;

/**
 * Visits of the whole location that were not counted while an alert fired, whatever else was down there. `others` are
 * alerts of the same location in the last eight weeks, `recordings` how many it has.
 */
export function visitsLostDuring(
  alert: OutageAlert,
  others: readonly OutageAlert[],
  recordings: number,
  counts: CountedHours,
  now: Instant,
): VisitsLost | NothingLost {
  const costly = [alert, ...others].filter(costsVisits);
  const spanOf = ({ startsAt, endsAt = now }: OutageAlert): Interval => ({ from: startsAt, to: Math.min(endsAt, now) });
  const bounds = spanOf(alert);
  const own = Map.groupBy(
    costly.filter(({ subject, problem }) => subject.kind === "recording" && SILENT.has(problem)),
    ({ subject }) => subject.id,
  );
  const up = [...own.values()].flatMap((rows) => subtract([bounds], rows.map(spanOf)));
  // The cost of a short outage of all is only a part of what an alert on counts is about.
  const isWhole = alert.problem !== "counts_low" && own.size > 0 && own.size >= recordings;
  const all = isWhole ? subtract([bounds], up) : [];
  const spans = costly.map(spanOf);
  const brief = spans.filter(({ from, to }) => to - from <= BRIEF_MS);
  return visitsLost(counts, { all, some: clip(spans, bounds) }, brief);
}

/** An alert, and the visits that were not counted while it fired. */
interface CostedAlert extends Pick<OutageAlert, "startsAt" | "endsAt"> {
  readonly uncounted?: VisitsLost | undefined;
}

/**
 * The sum of alerts of one location inside `bounds`, each visit once: the largest count first, others for the share of
 * their time that is left. Those that fire end with `bounds`. Undefined where nothing is known.
 */
export function visitsInAll(alerts: readonly CostedAlert[], bounds: Interval): VisitsLost | undefined {
  const spans = alerts.flatMap(({ startsAt: from, endsAt: to = bounds.to, uncounted }) =>
    uncounted && to > from ? [{ from, to, uncounted }] : [],
  );
  const counted: Interval[] = [];
  const parts: VisitsLost[] = [];
  for (const { from, to, uncounted } of spans.sort((a, b) => b.uncounted.estimate - a.uncounted.estimate)) {
    const share = total(subtract(clip([{ from, to }], bounds), counted)) / (to - from);
    counted.push({ from, to });
    if (share > 0) parts.push(timesShare(uncounted, share));
  }
  return sumOfVisits(parts);
}

function timesShare({ estimate, low, high }: VisitsLost, share: number): VisitsLost {
  return { estimate: estimate * share, low: low * share, high: high * share };
}

/** The correlation of the errors of two outages: weather, season and holidays are shared. On the safe side of what `bench/detect` shows. */
const CORRELATION = 0.1;

/** Their errors add up as those of estimates that are a little alike. Undefined of none. */
export function sumOfVisits(all: readonly VisitsLost[]): VisitsLost | undefined {
  if (all.length === 0) return undefined;
  const estimate = sumOf(all.map((one) => one.estimate));
  const below = widthOf(all.map(({ estimate: own, low }) => own - low));
  const above = widthOf(all.map(({ estimate: own, high }) => high - own));
  return { estimate, low: Math.max(0, estimate - below), high: estimate + above };
}

function widthOf(widths: readonly number[]): number {
  const squares = sumOf(widths.map((width) => width ** 2));
  return Math.sqrt((1 - CORRELATION) * squares + CORRELATION * sumOf(widths) ** 2);
}

const sumOf = (figures: readonly number[]) => figures.reduce((sum, one) => sum + one, 0);
