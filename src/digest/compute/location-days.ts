/** Uptime of a location day by day, added up recording by recording in a kilobyte. */

import type { RecordingFigures } from "../digest.ts";
import type { Calendar } from "./calendar.ts";
import type { ScheduleTimes } from "./schedule-times.ts";

/** By place in the calendar's dates. */
export interface LocationDays {
  readonly weighted: Float64Array;
  readonly weight: Float64Array;
  /** How many recordings were meant to upload that day, as far as is known. */
  readonly expected: Uint32Array;
}

export function emptyDays({ dates }: Calendar): LocationDays {
  return {
    weighted: new Float64Array(dates.length),
    weight: new Float64Array(dates.length),
    expected: new Uint32Array(dates.length),
  };
}

/** Where no segment was expected anywhere, days count alike; beside a real weight it is nothing. */
const HARDLY_ANY = 1e-9;

/** Adds one recording's buckets; `zone` is where its days are. */
export function addDays(
  days: LocationDays,
  { buckets, scheduleHours }: RecordingFigures,
  zone: string,
  calendar: Calendar,
  schedules: ScheduleTimes,
): void {
  const { length } = calendar.dates;
  const open = new Uint8Array(length);
  const notified = new Uint8Array(length);
  let first = length;
  for (const { startAt, withinSchedule, overallUptime, segmentsExpected } of buckets) {
    const at = calendar.indexAt(startAt, zone);
    if (at === undefined) continue;
    notified[at] = 1;
    first = Math.min(first, at);
    if (!withinSchedule) continue;
    open[at] = 1;
    if (overallUptime === undefined) continue;
    const weight = segmentsExpected || HARDLY_ANY;
    days.weighted[at] = (days.weighted[at] ?? 0) + overallUptime * weight;
    days.weight[at] = (days.weight[at] ?? 0) + weight;
  }
  for (let at = first; at < length; at += 1) {
    const isMeant = notified[at]
      ? open[at]
      : !schedules.isClosedOn(scheduleHours, calendar.weekdays[at] ?? 0);
    if (isMeant) days.expected[at] = (days.expected[at] ?? 0) + 1;
  }
}

/** Ratio 0–1; undefined without a figure. */
export function dayUptime({ weighted, weight }: LocationDays, at: number): number | undefined {
  const sum = weight[at] ?? 0;
  return sum > 0 ? (weighted[at] ?? 0) / sum : undefined;
}
