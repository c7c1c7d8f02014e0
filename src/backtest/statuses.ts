/**
 * Statuses derived from uptime buckets: offline where segments were expected and none arrived, online where some
 * arrived, unknown for all other time.
 */
import type { Recording, UptimeBucket } from "../health/recording.ts";
import type { Instant } from "../lib/clock.ts";
import { type TimeSpan, tickBefore, tickFrom } from "./setup.ts";

/** The status at every sweep from `at` until the next change. */
export interface SeenStatus {
  /** A sweep's instant. */
  readonly at: Instant;
  /** Undefined: unknown. */
  readonly status: "online" | "offline" | undefined;
  /** Outside the recording's uploading schedule. */
  readonly outside: boolean;
  /** The start of the status. */
  readonly since: Instant;
}

export interface StatusOptions {
  readonly span: TimeSpan;
  /** Between two sweeps, ms. */
  readonly intervalMs: number;
  /** The length of a bucket, ms. */
  readonly lengthMs: number;
  /** Buckets that begin before this are complete. */
  readonly settledBefore: Instant;
}

type Piece = Pick<SeenStatus, "status" | "outside"> & TimeSpan;

/** Changes in order of time, neighbours differ; the first is at the span's first sweep. */
export function seenBySweeps(
  recording: Pick<Recording, "useUploadingSchedule">,
  buckets: readonly UptimeBucket[],
  options: StatusOptions,
): SeenStatus[] {
  const { span, intervalMs } = options;
  const changes: SeenStatus[] = [];
  let lastKnown: SeenStatus | undefined;
  for (const piece of piecesOf(recording, buckets, options)) {
    const at = tickFrom(Math.max(piece.from, span.from), intervalMs);
    if (at > tickBefore(Math.min(piece.to, span.to), intervalMs)) continue;
    const before = changes.at(-1);
    if (before && before.status === piece.status && before.outside === piece.outside) continue;
    const { status, outside } = piece;
    const since = lastKnown?.status === status ? lastKnown?.since : undefined;
    const seen = { at, status, outside, since: since ?? piece.from };
    changes.push(seen);
    if (status !== undefined) lastKnown = seen;
  }
  return changes;
}

/** The whole span in pieces: buckets, and the gaps between them. */
function* piecesOf(
  { useUploadingSchedule }: Pick<Recording, "useUploadingSchedule">,
  buckets: readonly UptimeBucket[],
  { span, lengthMs, settledBefore }: StatusOptions,
): Generator<Piece> {
  let until = span.from;
  const gap = (to: Instant): Piece => ({ from: until, to, status: undefined, outside: false });
  for (const bucket of buckets) {
    const { startAt, withinSchedule } = bucket;
    const to = startAt + lengthMs;
    if (to <= until) continue;
    if (startAt >= span.to || startAt >= settledBefore) break;
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
