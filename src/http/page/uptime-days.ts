/** Uptime by days and hours, where stored. Pure. */
import { type Maintenance, windowsIn } from "../../alerting/maintenance.ts";
import { matchesAll } from "../../alerting/matcher.ts";
import type { UptimeBucket } from "../../health/recording.ts";
import type { recordingLabels } from "../../health/recording-evaluator.ts";
import { bucketLengthMs, ratioBetween, SETTLING_MS } from "../../health/uptime.ts";
import type { Instant } from "../../lib/clock.ts";
import { lengthIn } from "../../lib/intervals.ts";
import { own } from "../../lib/own.ts";
import { inZone } from "../../lib/when.ts";
import type { UptimeKept } from "../../poll/uptime-reader.ts";

export interface UptimeDay {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly from: Instant;
  /** 0–1. */
  readonly ratio: number | undefined;
  /** Expected segments; 0 where not known. */
  readonly weight: number;
  /** Inside maintenance windows, ms. */
  readonly plannedMs?: number;
  /** Oldest first; not `expected` outside the uploading schedule. */
  readonly hours: readonly { readonly at: Instant; readonly ratio: number | undefined; readonly expected: boolean }[];
}

/** The stored uptime, with earlier hours from the service. */
export function withRecalled(
  kept: UptimeKept | undefined,
  recalled: readonly UptimeBucket[],
  timezone: string,
): UptimeKept {
  const { buckets, ...rest } = kept ?? { buckets: [], days: {}, timezone };
  const begun = buckets[0]?.startAt ?? Number.POSITIVE_INFINITY;
  return { ...rest, buckets: [...recalled.filter(({ startAt }) => startAt < begun), ...buckets] };
}

/** The last `count` days, today the last of them. */
export function uptimeDays(kept: UptimeKept | undefined, now: Instant, count: number, zone: string): UptimeDay[] {
  const { buckets = [], days = {}, timezone = zone } = kept ?? {};
  const settledAt = now - bucketLengthMs(buckets) - SETTLING_MS;
  const settled = buckets.filter(({ startAt }) => startAt <= settledAt);
  const today = inZone(now, timezone).startOf("day");
  return Array.from({ length: count }, (_, i) => {
    const start = today.minus({ days: count - 1 - i });
    const [from, to] = [start.toMillis(), start.plus({ days: 1 }).toMillis()];
    const day = start.toFormat("yyyy-MM-dd");
    const within = settled.filter(({ startAt }) => startAt >= from && startAt < to);
    const known = own(days, day);
    return {
      day,
      from,
      ratio: known?.ratio ?? ratioBetween(within, { from, to }),
      weight: known?.segmentsExpected ?? expectedIn(within),
      hours: within.map(({ startAt, withinSchedule, overallUptime }) => ({
        at: startAt,
        ratio: withinSchedule ? overallUptime : undefined,
        expected: withinSchedule,
      })),
    };
  });
}

type SubjectLabels = ReturnType<typeof recordingLabels>;

/** With the time until `now` in windows of any of the subjects, by the labels that their alerts carry. */
export function withPlanned(days: UptimeDay[], now: Instant, of: SubjectLabels[], all: readonly Maintenance[] = []) {
  const bounds = { from: days[0]?.from ?? now, to: now };
  const covering = all.filter(({ matchers }) => of.some((labels) => matchesAll(matchers, labels)));
  const planned = covering.flatMap((one) => windowsIn(one, bounds));
  const endOf = (i: number) => days[i + 1]?.from ?? now;
  return days.map((day, i) => ({ ...day, plannedMs: lengthIn(planned, { from: day.from, to: endOf(i) }) }));
}

/** The days of several recordings as one, weighted by expected segments; without hours. */
export function uptimeOfAll(all: readonly (readonly UptimeDay[])[]): UptimeDay[] {
  const [first = []] = all;
  return first.map(({ day, from }, i) => {
    const same = all.flatMap((days) => days[i] ?? []);
    const weight = sum(same.map((one) => (one.ratio === undefined ? 0 : one.weight)));
    return { day, from, ratio: uptimeOver(same), weight, hours: [] };
  });
}

/** The mean of the known days, weighted by expected segments; undefined where none is known. */
export function uptimeOver(days: readonly UptimeDay[]): number | undefined {
  const known = days.flatMap(({ ratio, weight }) => (ratio === undefined ? [] : [{ ratio, weight }]));
  if (known.length === 0) return undefined;
  const weight = sum(known.map((one) => one.weight));
  if (weight === 0) return sum(known.map(({ ratio }) => ratio)) / known.length;
  return sum(known.map((one) => one.ratio * one.weight)) / weight;
}

/** Hours without a figure do not count. */
function expectedIn(buckets: readonly UptimeBucket[]): number {
  const counting = buckets.filter(({ withinSchedule, overallUptime }) => withinSchedule && overallUptime !== undefined);
  return sum(counting.map(({ segmentsExpected = 0 }) => segmentsExpected));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
