/** The segments of one minute that each recording delivered in an hour, and the uptime history made of it. */
import { DAY_MS, HOUR_MS, type Instant } from "../lib/clock.ts";
import { fraction, keyOf, mix, type SimRecording } from "./fleet.ts";
import type { CalendarHour } from "./local-time.ts";
import { isClosed } from "./traits.ts";

/** The usable share of a degraded segment. */
const DEGRADED_SHARE = 0.5;

export type UptimeEntry = ReturnType<typeof uptimeOf>[number];

/**
 * Buckets of these hours as the contract's "Uptime entry"; one field name is misspelled there, and so here. One appears
 * once its first segment is due (outside the schedule: once it begins).
 */
export function uptimeOf(recording: SimRecording, hours: readonly CalendarHour[], startedAt: Instant, now: Instant) {
  const outages = outagesOf(recording, hours, startedAt);
  const degraded = spansWithStatus(recording, "degraded");
  const begun = hours.filter(({ startAt }) => startAt <= now);
  return begun.flatMap((hour) => {
    const delivery = deliveryIn(recording, hour, outages, now);
    const { withinSchedule, expected: segmentsExpected, received: segmentsReceived } = delivery;
    if (withinSchedule && segmentsExpected === 0) return [];
    const avgUptimeOnSegment = segmentsReceived && segmentUptime(recording, hour, degraded, segmentsExpected);
    const pcSegmentsRecieved = segmentsExpected && segmentsReceived / segmentsExpected;
    const overallUptime = avgUptimeOnSegment * pcSegmentsRecieved;
    const segments = { segmentsExpected, segmentsReceived, avgUptimeOnSegment, pcSegmentsRecieved };
    return [{ index: hour.index, withinSchedule, ...segments, overallUptime }];
  });
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
type StatusSpan = readonly [Instant, Instant];

const SEGMENT_MS = 60_000;
const SEGMENTS_PER_HOUR = HOUR_MS / SEGMENT_MS;
const LONGEST_OUTAGE_MS = 6 * HOUR_MS;
/** One outage in so many days. */
const RECORDING_ODDS = 40;
const LOCATION_ODDS = 200;
/** The day before the start is quiet, so that a new watcher's first news is what happens now. */
const QUIET_MS = DAY_MS;
const UPLOAD_FROM_HOUR = 8;
const UPLOAD_UNTIL_HOUR = 20;

/** True where the recording uploads in this local hour: always, or from 08:00 to 20:00 of open days under a schedule. */
export function isWithinSchedule(recording: SimRecording, hour: Omit<CalendarHour, "index">): boolean {
  if (!recording.useUploadingSchedule) return true;
  if (isClosed(recording.location.closedDays, hour)) return false;
  return hour.hour >= UPLOAD_FROM_HOUR && hour.hour < UPLOAD_UNTIL_HOUR;
}

/** Times without delivery that touch the hours, in order of their start: the seeded past, then what happened. */
export function outagesOf(
  recording: SimRecording,
  hours: readonly CalendarHour[],
  startedAt: Instant,
): readonly StatusSpan[] {
  const from = hours[0]?.startAt ?? startedAt;
  const to = (hours.at(-1)?.startAt ?? from) + HOUR_MS;
  const pastEnd = startedAt - QUIET_MS;
  return [
    ...seededOutages(keyOf(recording.id), RECORDING_ODDS, from, to, pastEnd),
    ...seededOutages(keyOf(recording.location.id), LOCATION_ODDS, from, to, pastEnd),
    ...spansWithStatus(recording, "offline"),
    ...spansWithStatus(recording, "silent"),
  ]
    .filter(([start, end]) => start < to && end > from)
    .sort((a, b) => a[0] - b[0]);
}

function seededOutages(key: number, odds: number, from: Instant, to: Instant, pastEnd: Instant): StatusSpan[] {
  const found: StatusSpan[] = [];
  for (let day = Math.floor((from - LONGEST_OUTAGE_MS) / DAY_MS); day * DAY_MS < to; day++) {
    if (mix(key, day, 1) % odds !== 0) continue;
    const start = day * DAY_MS + (mix(key, day, 2) % DAY_MS);
    const end = start + 5 * SEGMENT_MS * 72 ** fraction(key, day, 3);
    if (end <= pastEnd) found.push([start, Math.floor(end)]);
  }
  return found;
}

/** Times the recording had this status since the start; the present one has no end. */
function spansWithStatus({ history }: SimRecording, status: string): StatusSpan[] {
  return history.flatMap((change, i) =>
    change.status === status ? [[change.at, history[i + 1]?.at ?? Number.POSITIVE_INFINITY] as const] : [],
  );
}

/** Segments of one hour as they stand at `now`; `expected` are those due by then, 60 for an hour that is over. */
export function deliveryIn(recording: SimRecording, hour: CalendarHour, outages: readonly StatusSpan[], now: Instant) {
  if (!isWithinSchedule(recording, hour)) return { withinSchedule: false, expected: 0, received: 0 };
  const expected = Math.max(0, Math.min(SEGMENTS_PER_HOUR, Math.floor((now - hour.startAt) / SEGMENT_MS)));
  const received = expected - segmentsTouched(hour.startAt, expected, outages);
  return { withinSchedule: true, expected, received };
}

/** The number of the first `segments` of the hour that are touched. The stretches must be in order of their start. */
function segmentsTouched(startAt: Instant, segments: number, stretches: readonly StatusSpan[]): number {
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
