/**
 * Statuses as history lets one guess them: a bucket in which segments were expected and none came is time offline,
 * one in which some came is time online. Of all other time nothing is known.
 */
import type { Recording, UptimeBucket } from "../health/recording.ts";
import type { Instant } from "../lib/clock.ts";
import { type Span, tickBefore, tickFrom } from "./setup.ts";

/** What every sweep from `at` on would have seen, until the next one. */
export interface Seen {
  /** A sweep's instant. */
  readonly at: Instant;
  /** Undefined: nobody can tell. */
  readonly status: "online" | "offline" | undefined;
  /** Outside the recording's uploading schedule. */
  readonly outside: boolean;
  /** Since when it has the status. */
  readonly since: Instant;
}

export interface StatusOptions {
  readonly span: Span;
  /** Between two sweeps, ms. */
  readonly intervalMs: number;
  /** How long a bucket is, ms. */
  readonly lengthMs: number;
  /** Buckets that begin before this are finished. */
  readonly settledBefore: Instant;
}

type Piece = Pick<Seen, "status" | "outside"> & Span;

/** Changes in order of time, neighbours differ; the first is at the span's first sweep. */
export function seenBySweeps(
  recording: Pick<Recording, "useUploadingSchedule">,
  buckets: readonly UptimeBucket[],
  options: StatusOptions,
): Seen[] {
  const { span, intervalMs } = options;
  const changes: Seen[] = [];
  let lastKnown: Seen | undefined;
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

function statusIn({ segmentsExpected, segmentsReceived, pcSegmentsReceived }: UptimeBucket): Seen["status"] {
  const came = segmentsReceived ?? pcSegmentsReceived;
  if (segmentsExpected === 0 || came === undefined) return undefined;
  return came === 0 ? "offline" : "online";
}
