/** Uptime of a location day by day, added up recording by recording in a kilobyte. */
import type { RecordingFigures } from "../digest.ts";
import type { DigestCalendar } from "./calendar.ts";
import type { ScheduleTimes } from "./schedule-times.ts";

/** By index in the calendar's dates. */
export interface LocationDays {
  readonly weighted: Float64Array;
  readonly weight: Float64Array;
  /** How many recordings had that day in their schedule, as far as is known. */
  readonly expected: Uint32Array;
}

export function emptyDays({ dates: { length } }: DigestCalendar): LocationDays {
  return { weighted: new Float64Array(length), weight: new Float64Array(length), expected: new Uint32Array(length) };
}

/** Where no segment was expected anywhere, days count alike; beside a real weight it is nothing. */
const TINY_WEIGHT = 1e-9;

/** Adds one recording's buckets; `zone` decides its days. */
export function addDays(
  days: LocationDays,
  { buckets, scheduleHours }: RecordingFigures,
  zone: string,
  calendar: DigestCalendar,
  schedules: ScheduleTimes,
): void {
  const { length } = calendar.dates;
  const open = new Uint8Array(length);
  const reported = new Uint8Array(length);
  let first = length;
  for (const { startAt, withinSchedule, overallUptime, segmentsExpected } of buckets) {
    const at = calendar.indexAt(startAt, zone);
    if (at === undefined) continue;
    reported[at] = 1;
    first = Math.min(first, at);
    if (!withinSchedule) continue;
    open[at] = 1;
    if (overallUptime === undefined) continue;
    const weight = segmentsExpected || TINY_WEIGHT;
    days.weighted[at] = (days.weighted[at] ?? 0) + overallUptime * weight;
    days.weight[at] = (days.weight[at] ?? 0) + weight;
  }
  for (let at = first; at < length; at += 1) {
    const weekday = calendar.weekdays[at] ?? 0;
    const isExpected = reported[at] ? open[at] : !schedules.isClosedOn(scheduleHours, weekday);
    if (isExpected) days.expected[at] = (days.expected[at] ?? 0) + 1;
  }
}

/** Ratio 0–1; undefined without a figure. */
export function dayUptime({ weighted, weight }: LocationDays, at: number): number | undefined {
  const sum = weight[at] ?? 0;
  return sum > 0 ? (weighted[at] ?? 0) / sum : undefined;
}
