/** Outages of a location's recordings, by the alerts about them. */
import type { ProblemKind, SubjectKind } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { clip, type Interval, subtract } from "../lib/intervals.ts";
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
