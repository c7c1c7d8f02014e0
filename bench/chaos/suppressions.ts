/** Silences and acknowledgements as far as is known when they held: who asked knows only when it was answered. Pure. */
import type { Instant } from "../../src/lib/clock.ts";
import type { Span } from "./timeline.ts";

export interface Held {
  readonly kind: "silence" | "ack";
  readonly recordingIds: readonly string[];
  /** When it was asked for first, and when it was surely in force. */
  readonly maybeFrom: Instant;
  readonly surelyFrom: Instant;
  /** Of a silence: until when surely, and when surely no more. An acknowledgement ends with its alert. */
  readonly surelyUntil: Instant;
  readonly maybeUntil: Instant;
}

/** An alert that is acknowledged ends so long after its dark time at most, where nothing fails. */
const ENDED_MS = 10_000;

/** When it may have held. */
export function heldFrom({ kind, maybeFrom, maybeUntil }: Held, dark: readonly Span[]): Span {
  return {
    from: maybeFrom,
    to: kind === "silence" ? maybeUntil : (darkAt(dark, maybeFrom)?.to ?? maybeFrom) + ENDED_MS,
  };
}

/** Whether it surely held all the time. */
export function isHeldThroughout(held: Held, { from, to }: Span, dark: readonly Span[]): boolean {
  const until = held.kind === "silence" ? held.surelyUntil : (darkAt(dark, held.maybeFrom)?.to ?? 0);
  return held.surelyFrom <= from && until >= to;
}

function darkAt(dark: readonly Span[], at: Instant): Span | undefined {
  return dark.find((span) => span.from <= at && span.to >= at);
}
