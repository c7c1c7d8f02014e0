/**
 * What each recording delivered in an hour: segments of one minute. A segment counts as received when the
 * recording delivered for the whole of it. Uptime and people counts are both made of this, so they agree.
 */
import type { Instant } from "../lib/clock.ts";
import { keyOf, type SimRecording } from "./fleet.ts";
import { HOUR_MS, type LocalHour } from "./local-time.ts";
import { fraction, mix } from "./seed.ts";

/** From and until, ms. */
export type Stretch = readonly [Instant, Instant];

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
): readonly Stretch[] {
  const pastEnd = startedAt - QUIET_MS;
  const found = [
    ...seededOutages(keyOf(recording.id), RECORDING_ODDS, from, Math.min(to, pastEnd), pastEnd),
    ...seededOutages(keyOf(recording.location.id), LOCATION_ODDS, from, Math.min(to, pastEnd), pastEnd),
    ...stretchesAs(recording, "offline", from, to),
  ];
  return found.length < 2 ? found : merged(found);
}

function seededOutages(key: number, odds: number, from: Instant, to: Instant, pastEnd: Instant): Stretch[] {
  const found: Stretch[] = [];
  for (let day = Math.floor((from - LONGEST_OUTAGE_MS) / DAY_MS); day * DAY_MS < to; day++) {
    if (mix(key, day, 1) % odds !== 0) continue;
    const start = day * DAY_MS + (mix(key, day, 2) % DAY_MS);
    const end = start + 5 * SEGMENT_MS * 72 ** fraction(key, day, 3);
    if (start < to && end > from && end <= pastEnd) found.push([start, Math.floor(end)]);
  }
  return found;
}

/** Times the recording had this status since the start; the present one lasts until `to`. */
export function stretchesAs(recording: SimRecording, status: string, from: Instant, to: Instant): Stretch[] {
  return recording.history.flatMap((change, i) => {
    const end = recording.history[i + 1]?.at ?? Number.POSITIVE_INFINITY;
    return change.status === status && change.at < to && end > from ? [[change.at, end] as const] : [];
  });
}

function merged(stretches: Stretch[]): Stretch[] {
  const ordered = stretches.sort((a, b) => a[0] - b[0]);
  const result: Stretch[] = [];
  for (const [start, end] of ordered) {
    const last = result.at(-1);
    if (last && start <= last[1]) result[result.length - 1] = [last[0], Math.max(last[1], end)];
    else result.push([start, end]);
  }
  return result;
}

export interface Delivery {
  readonly withinSchedule: boolean;
  /** Segments due by now: 60 for an hour that is over. */
  readonly expected: number;
  readonly received: number;
}

/** Segments of one hour as they stand at `now`. `outages` must be ordered and not overlap. */
export function deliveryIn(
  recording: SimRecording,
  hour: LocalHour,
  outages: readonly Stretch[],
  now: Instant,
): Delivery {
  if (!isWithinSchedule(recording, hour.hour)) return { withinSchedule: false, expected: 0, received: 0 };
  const expected = Math.max(0, Math.min(SEGMENTS_PER_HOUR, Math.floor((now - hour.startAt) / SEGMENT_MS)));
  const received = expected - segmentsTouched(hour.startAt, expected, outages);
  return { withinSchedule: true, expected, received };
}

/** How many of the first `segments` of the hour are touched by a stretch. */
export function segmentsTouched(startAt: Instant, segments: number, stretches: readonly Stretch[]): number {
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
