/**
 * What each recording delivered in an hour, in segments of one minute, and its uptime history made of that: one bucket an
 * hour in the recording's time zone. People counts are made of the same segments, so both agree.
 */
import type { Instant } from "../lib/clock.ts";
import { fraction, keyOf, mix, type SimRecording } from "./fleet.ts";
import { type CalendarHour, HOUR_MS } from "./local-time.ts";

/** A row of the contract's "Uptime entry"; one field name is misspelled there, and so here. */
export interface UptimeEntry {
  readonly index: string;
  readonly withinSchedule: boolean;
  readonly segmentsExpected: number;
  readonly segmentsReceived: number;
  readonly avgUptimeOnSegment: number;
  readonly pcSegmentsRecieved: number;
  readonly overallUptime: number;
}

/** How much of a degraded segment is usable. */
const DEGRADED_SHARE = 0.5;

/** Buckets of these hours; one appears once its first segment is due (outside the schedule: once it begins). */
export function uptimeOf(
  recording: SimRecording,
  hours: readonly CalendarHour[],
  startedAt: Instant,
  now: Instant,
): UptimeEntry[] {
  const from = hours[0]?.startAt ?? now;
  const to = (hours.at(-1)?.startAt ?? now) + HOUR_MS;
  const outages = outagesOf(recording, from, to, startedAt);
  const degraded = spansWithStatus(recording, "degraded", from, to);
  const entries: UptimeEntry[] = [];
  for (const hour of hours) {
    if (hour.startAt > now) break;
    const { withinSchedule, expected, received } = deliveryIn(recording, hour, outages, now);
    if (withinSchedule && expected === 0) continue;
    const avgUptimeOnSegment = received === 0 ? 0 : segmentUptime(recording, hour, degraded, expected);
    const pcSegmentsRecieved = expected === 0 ? 0 : received / expected;
    entries.push({
      index: hour.index,
      withinSchedule,
      segmentsExpected: expected,
      segmentsReceived: received,
      avgUptimeOnSegment,
      pcSegmentsRecieved,
      overallUptime: avgUptimeOnSegment * pcSegmentsRecieved,
    });
  }
  return entries;
}

function segmentUptime(
  recording: SimRecording,
  hour: CalendarHour,
  degraded: readonly StatusSpan[],
  expected: number,
): number {
  const usual = 0.985 + 0.015 * fraction(keyOf(recording.id), hour.startAt / 60_000, 4);
  const share = segmentsTouched(hour.startAt, expected, degraded) / expected;
  return Math.round(usual * (1 - share * (1 - DEGRADED_SHARE)) * 10_000) / 10_000;
}

/** From and until, ms. */
export type StatusSpan = readonly [Instant, Instant];

const DAY_MS = 24 * HOUR_MS;
const SEGMENT_MS = 60_000;
export const SEGMENTS_PER_HOUR = HOUR_MS / SEGMENT_MS;
const LONGEST_OUTAGE_MS = 6 * HOUR_MS;
/** One outage in so many days. */
const RECORDING_ODDS = 40;
const LOCATION_ODDS = 200;
/** The day before the start is quiet, so that a new watcher's first news is what happens now. */
const QUIET_MS = DAY_MS;
const UPLOAD_FROM_HOUR = 8;
const UPLOAD_UNTIL_HOUR = 20;

/** Whether the recording uploads in this local hour: always, or from 08:00 to 20:00 under a schedule. */
export function isWithinSchedule(recording: SimRecording, hour: number): boolean {
  return !recording.useUploadingSchedule || (hour >= UPLOAD_FROM_HOUR && hour < UPLOAD_UNTIL_HOUR);
}

/** When an hour was within the schedule last before a local hour outside it: whole hours back to 20:00. */
export function hoursSinceSchedule(hour: number): number {
  return hour >= UPLOAD_UNTIL_HOUR ? hour - UPLOAD_UNTIL_HOUR : hour + 24 - UPLOAD_UNTIL_HOUR;
}

/** Times without delivery that touch the window, in order and not overlapping: the seeded past, then what happened. */
export function outagesOf(
  recording: SimRecording,
  from: Instant,
  to: Instant,
  startedAt: Instant,
): readonly StatusSpan[] {
  const pastEnd = startedAt - QUIET_MS;
  const found = [
    ...seededOutages(keyOf(recording.id), RECORDING_ODDS, from, Math.min(to, pastEnd), pastEnd),
    ...seededOutages(keyOf(recording.location.id), LOCATION_ODDS, from, Math.min(to, pastEnd), pastEnd),
    ...spansWithStatus(recording, "offline", from, to),
  ];
  return found.length < 2 ? found : merged(found);
}

function seededOutages(key: number, odds: number, from: Instant, to: Instant, pastEnd: Instant): StatusSpan[] {
  const found: StatusSpan[] = [];
  for (let day = Math.floor((from - LONGEST_OUTAGE_MS) / DAY_MS); day * DAY_MS < to; day++) {
    if (mix(key, day, 1) % odds !== 0) continue;
    const start = day * DAY_MS + (mix(key, day, 2) % DAY_MS);
    const end = start + 5 * SEGMENT_MS * 72 ** fraction(key, day, 3);
    if (start < to && end > from && end <= pastEnd) found.push([start, Math.floor(end)]);
  }
  return found;
}

/** Times the recording had this status since the start; the present one lasts until `to`. */
export function spansWithStatus(recording: SimRecording, status: string, from: Instant, to: Instant): StatusSpan[] {
  return recording.history.flatMap((change, i) => {
    const end = recording.history[i + 1]?.at ?? Number.POSITIVE_INFINITY;
    return change.status === status && change.at < to && end > from ? [[change.at, end] as const] : [];
  });
}

function merged(stretches: StatusSpan[]): StatusSpan[] {
  const ordered = stretches.sort((a, b) => a[0] - b[0]);
  const result: StatusSpan[] = [];
  for (const [start, end] of ordered) {
    const last = result.at(-1);
    if (last && start <= last[1]) result[result.length - 1] = [last[0], Math.max(last[1], end)];
    else result.push([start, end]);
  }
  return result;
}

export interface HourDelivery {
  readonly withinSchedule: boolean;
  /** Segments due by now: 60 for an hour that is over. */
  readonly expected: number;
  readonly received: number;
}

/** Segments of one hour as they stand at `now`. `outages` must be ordered and not overlap. */
export function deliveryIn(
  recording: SimRecording,
  hour: CalendarHour,
  outages: readonly StatusSpan[],
  now: Instant,
): HourDelivery {
  if (!isWithinSchedule(recording, hour.hour)) return { withinSchedule: false, expected: 0, received: 0 };
  const expected = Math.max(0, Math.min(SEGMENTS_PER_HOUR, Math.floor((now - hour.startAt) / SEGMENT_MS)));
  const received = expected - segmentsTouched(hour.startAt, expected, outages);
  return { withinSchedule: true, expected, received };
}

/** How many of the first `segments` of the hour are touched by a stretch. */
export function segmentsTouched(startAt: Instant, segments: number, stretches: readonly StatusSpan[]): number {
  let touched = 0;
  let next = 0;
  for (const [start, end] of stretches) {
    const first = Math.max(next, Math.floor((start - startAt) / SEGMENT_MS));
    const last = Math.min(segments, Math.ceil((end - startAt) / SEGMENT_MS));
    if (last <= first) continue;
    touched += last - first;
    next = last;
  }
  return touched;
}
