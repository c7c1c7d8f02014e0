/** Statuses from uptime buckets: offline where expected segments are missing, online where some came, else unknown. */
import type { Recording, UptimeBucket } from "../health/recording.ts";
import { settledBefore } from "../health/uptime.ts";
import type { Instant } from "../lib/clock.ts";
import { type ReplaySetup, type TimeSpan, tickBefore, tickFrom } from "./setup.ts";

/** The status at every sweep from `at` until the next change. */
export interface SeenStatus {
  readonly at: Instant;
  readonly status: "online" | "offline" | undefined;
  readonly outside: boolean;
  readonly since: Instant;
}

/** The sweeps of a span, and the buckets they are derived from. */
export interface SweepOptions extends Pick<ReplaySetup, "statusIntervalMs" | "uptimeIntervalMs"> {
  readonly span: TimeSpan;
  /** The length of a bucket, ms. */
  readonly lengthMs: number;
}

type Piece = Pick<SeenStatus, "status" | "outside"> & TimeSpan;

/** Changes in order of time, neighbours differ; the first is at the span's first sweep. `now` is the present. */
export function seenBySweeps(
  recording: Pick<Recording, "useUploadingSchedule">,
  buckets: readonly UptimeBucket[],
  { span, statusIntervalMs, lengthMs }: SweepOptions,
  now: Instant,
): SeenStatus[] {
  const changes: SeenStatus[] = [];
  let lastKnown: SeenStatus | undefined;
  for (const { from, to, status, outside } of piecesOf(recording, buckets, { span, lengthMs, now })) {
    const at = tickFrom(Math.max(from, span.from), statusIntervalMs);
    if (at > tickBefore(Math.min(to, span.to), statusIntervalMs)) continue;
    const before = changes.at(-1);
    if (before && before.status === status && before.outside === outside) continue;
    const since = lastKnown && lastKnown.status === status ? lastKnown.since : from;
    const seen = { at, status, outside, since };
    changes.push(seen);
    if (status !== undefined) lastKnown = seen;
  }
  return changes;
}

function* piecesOf(
  { useUploadingSchedule }: Pick<Recording, "useUploadingSchedule">,
  buckets: readonly UptimeBucket[],
  { span, lengthMs, now }: { span: TimeSpan; lengthMs: number; now: Instant },
): Generator<Piece> {
  let until = span.from;
  const gap = (to: Instant): Piece => ({ from: until, to, status: undefined, outside: false });
  for (const bucket of buckets) {
    const { startAt, withinSchedule } = bucket;
    const to = startAt + lengthMs;
    if (to <= until) continue;
    if (startAt >= span.to || startAt >= settledBefore(now, lengthMs)) break;
    if (startAt > until) yield gap(startAt);
    const outside = useUploadingSchedule && !withinSchedule;
    yield { from: startAt, to, status: outside ? undefined : statusIn(bucket), outside };
    until = to;
  }
  if (until < span.to) yield gap(span.to);
}

function statusIn({ segmentsExpected, segmentsReceived, pcSegmentsReceived }: UptimeBucket): SeenStatus["status"] {
  const received = segmentsReceived ?? pcSegmentsReceived;
  if (segmentsExpected === 0 || received === undefined) return undefined;
  return received === 0 ? "offline" : "online";
}
