/** From one reading to the state of a recording. */
import type { Instant } from "../lib/clock.ts";
import type { Reading } from "./recording.ts";
import type { RecordingState, StateHistory } from "./shard-state.ts";

/** How far ahead of ours the service's clock may be. */
const CLOCK_TOLERANCE_MS = 60_000;

/** A reading with a known status. */
export type GoodReading = Reading & { readonly status: NonNullable<RecordingState["status"]> };

export function isGood(reading: Reading): reading is GoodReading {
  return reading.status !== "unknown";
}

/** The recording after a good reading; its alerts are as they were. */
export function afterReading(
  previous: RecordingState | undefined,
  reading: GoodReading,
  locationId: string,
  now: Instant,
  history: StateHistory | undefined,
): RecordingState {
  const { status, lastSeenAt } = reading;
  return {
    id: previous?.id ?? reading.recordingId,
    locationId,
    status,
    readAt: now,
    since: sinceWhen(previous, reading, now),
    lastSeenAt,
    onlineSeenAt: status === "offline" ? previous?.onlineSeenAt : (lastSeenAt ?? previous?.onlineSeenAt),
    averageQuality: reading.averageQuality,
    presentAt: now,
    history,
    alerts: previous?.alerts,
  };
}

/** The recording after a row that could not be read, or with status `unknown`: it is present, nothing more. */
export function afterPresence(
  previous: RecordingState | undefined,
  id: string,
  locationId: string,
  now: Instant,
): RecordingState {
  if (previous) return { ...previous, locationId, presentAt: now };
  return {
    id,
    locationId,
    status: undefined,
    readAt: 0,
    since: now,
    lastSeenAt: undefined,
    onlineSeenAt: undefined,
    averageQuality: undefined,
    presentAt: now,
    history: undefined,
    alerts: undefined,
  };
}

/**
 * Since when it has the reading's status. A recording seen offline went offline at its `last_seen_utc`, unless that
 * contradicts an earlier reading (before the last online contact) or the clock (in the future).
 */
export function sinceWhen(
  previous: Pick<RecordingState, "status" | "since" | "onlineSeenAt"> | undefined,
  { status, lastSeenAt }: Pick<Reading, "status" | "lastSeenAt">,
  now: Instant,
): Instant {
  if (previous && previous.status === status) return previous.since;
  if (status !== "offline" || lastSeenAt === undefined || lastSeenAt <= 0) return now;
  if (lastSeenAt > now + CLOCK_TOLERANCE_MS) return now;
  if (previous?.onlineSeenAt !== undefined && lastSeenAt < previous.onlineSeenAt) return now;
  return Math.min(lastSeenAt, now);
}
