/** Silences and acknowledgements, active at least and at most when: a client knows only the time of the answer. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Span } from "./timeline.ts";

export interface KnownSuppression {
  readonly kind: "silence" | "ack";
  readonly recordingIds: readonly string[];
  /** When it was first requested, and when it was certainly active. */
  readonly maybeFrom: Instant;
  readonly surelyFrom: Instant;
  /** Of a silence: certainly active until, possibly active until. An acknowledgement ends with its alert. */
  readonly surelyUntil: Instant;
  readonly maybeUntil: Instant;
}

/** An acknowledged alert ends at most this long after its outage. */
const ENDED_MS = 10_000;

/** When it was possibly active. */
export function activeSpan({ kind, maybeFrom, maybeUntil }: KnownSuppression, offline: readonly Span[]): Span {
  return {
    from: maybeFrom,
    to: kind === "silence" ? maybeUntil : (outageAt(offline, maybeFrom)?.to ?? maybeFrom) + ENDED_MS,
  };
}

/** Whether it was certainly active throughout. */
export function isActiveThroughout(
  suppressions: KnownSuppression,
  { from, to }: Span,
  offline: readonly Span[],
): boolean {
  const until =
    suppressions.kind === "silence" ? suppressions.surelyUntil : (outageAt(offline, suppressions.maybeFrom)?.to ?? 0);
  return suppressions.surelyFrom <= from && until >= to;
}

function outageAt(offline: readonly Span[], at: Instant): Span | undefined {
  return offline.find((span) => span.from <= at && span.to >= at);
}
