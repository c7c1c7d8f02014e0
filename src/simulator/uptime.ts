/** Uptime history as `/v1/recording/:id/uptime` serves it: one bucket an hour in the recording's own time. */
import type { Instant } from "../lib/clock.ts";
import { deliveryIn, outagesOf, type Stretch, segmentsTouched, stretchesAs } from "./delivery.ts";
import { keyOf, type SimRecording } from "./fleet.ts";
import { HOUR_MS, type LocalHour } from "./local-time.ts";
import { fraction } from "./seed.ts";

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
  hours: readonly LocalHour[],
  startedAt: Instant,
  now: Instant,
): UptimeEntry[] {
  const from = hours[0]?.startAt ?? now;
  const to = (hours.at(-1)?.startAt ?? now) + HOUR_MS;
  const outages = outagesOf(recording, from, to, startedAt);
  const degraded = stretchesAs(recording, "degraded", from, to);
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
  hour: LocalHour,
  degraded: readonly Stretch[],
  expected: number,
): number {
  const usual = 0.985 + 0.015 * fraction(keyOf(recording.id), hour.startAt / 60_000, 4);
  const share = segmentsTouched(hour.startAt, expected, degraded) / expected;
  return Math.round(usual * (1 - share * (1 - DEGRADED_SHARE)) * 10_000) / 10_000;
}
