/** Hours and days of uptime as short texts: three days of hours take about 200 bytes. Ratios are rounded to 4 decimals. */
import type { UptimeBucket } from "../health/recording.ts";
import { DAY_MS, HOUR_MS, type Instant } from "../lib/clock.ts";
import { utcDay } from "../lib/when.ts";
import { packSeries, unpackSeries } from "./pack-series.ts";

/** A past day: its ratio 0–1 and the segments that were expected, for weighing. */
export type DayUptime = { readonly ratio: number; readonly segmentsExpected: number };

/** Segments expected, marked outside of the schedule; segments received; and what the ratio lacks of 1, in parts. */
export type HourColumns = readonly [expected: string, received: string, lost: string];
/** A day begins at 0:00 UTC of its date. */
export type DayColumns = readonly [expected: string, lost: string];

const PARTS = 10_000;

/** Buckets oldest first, of whole minutes. */
export function packBuckets(buckets: readonly UptimeBucket[]): HourColumns {
  const starts = buckets.map(({ startAt }) => startAt);
  const series = { starts, stepMs: shortestStep(starts) };
  const marks = buckets.map(({ withinSchedule }) => !withinSchedule);
  return [
    packSeries({ ...series, marks, values: buckets.map(({ segmentsExpected }) => segmentsExpected) }),
    packSeries({ ...series, values: buckets.map(({ segmentsReceived }) => segmentsReceived) }),
    packSeries({ ...series, values: buckets.map(({ overallUptime }) => lostOf(overallUptime)) }),
  ];
}

/** Gives what `packBuckets` was given, with the figures that are kept. */
export function unpackBuckets([expected, received, lost]: HourColumns): UptimeBucket[] {
  const [came, lacks] = [valuesOf(received), valuesOf(lost)];
  const buckets: UptimeBucket[] = [];
  unpackSeries(expected, (startAt, count, isOutside) => {
    const i = buckets.length;
    buckets.push({
      startAt,
      withinSchedule: !isOutside,
      segmentsExpected: count,
      segmentsReceived: came[i],
      avgUptimeOnSegment: undefined,
      pcSegmentsReceived: undefined,
      overallUptime: ratioOf(lacks[i]),
    });
  });
  return buckets;
}

/** By date, `YYYY-MM-DD`. */
export function packDays(days: Readonly<Record<string, DayUptime>>): DayColumns {
  const dates = Object.keys(days).sort();
  const series = { starts: dates.map((date) => Date.parse(date)), stepMs: DAY_MS };
  return [
    packSeries({ ...series, values: dates.map((date) => days[date]?.segmentsExpected) }),
    packSeries({ ...series, values: dates.map((date) => lostOf(days[date]?.ratio)) }),
  ];
}

/** Gives what `packDays` was given. */
export function unpackDays([expected, lost]: DayColumns): Record<string, DayUptime> {
  const lacks = valuesOf(lost);
  const days: Record<string, DayUptime> = {};
  let i = 0;
  unpackSeries(expected, (at, count) => {
    const ratio = ratioOf(lacks[i++]);
    if (ratio !== undefined) days[utcDay(at)] = { ratio, segmentsExpected: count ?? 0 };
  });
  return days;
}

/** The shortest step between two starts, at most an hour, ms. */
function shortestStep(starts: readonly Instant[]): number {
  let shortest = HOUR_MS;
  for (let i = 1; i < starts.length; i++) {
    const step = (starts[i] as Instant) - (starts[i - 1] as Instant);
    if (step > 0 && step < shortest) shortest = step;
  }
  return shortest;
}

function lostOf(ratio: number | undefined): number | undefined {
  return ratio === undefined ? undefined : PARTS - Math.round(Math.min(1, ratio) * PARTS);
}

function ratioOf(lost: number | undefined): number | undefined {
  return lost === undefined ? undefined : Math.max(0, PARTS - lost) / PARTS;
}

function valuesOf(column: string): (number | undefined)[] {
  const values: (number | undefined)[] = [];
  unpackSeries(column, (_, value) => values.push(value));
  return values;
}
