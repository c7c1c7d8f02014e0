/**
 * Notifications expected for one recording, and those that must not be sent: outside its schedule, while suppressed
 * by a silence or an acknowledgement, while it flaps. Pure.
 */
import type { Instant } from "../../src/lib/clock.ts";
import type { Timing } from "./audit.ts";
import type { FlapTime } from "./audit-flapping.ts";
import { TOLERANCE_MS } from "./match.ts";
import type { Notice } from "./messages.ts";
import { activeSpan, isActiveThroughout, type KnownSuppression } from "./suppressions.ts";
import { inside, isInside, type Span, seenMs, timeInside } from "./timeline.ts";

export interface RecordingCase {
  readonly integration: string;
  readonly subject: string;
  readonly offline: readonly Span[];
  /** Answers about its location that were certainly evaluated, oldest first. */
  readonly answers: readonly Instant[];
  readonly disturbed: readonly Span[];
  /** Spans of its uploading schedule; undefined: always. */
  readonly within?: readonly Span[] | undefined;
  /** Silences that match it, and acknowledgements of it. */
  readonly suppressions?: readonly KnownSuppression[];
  /** Its flapping as notified here. */
  readonly flaps?: readonly FlapTime[];
  readonly rule: Timing;
  readonly end: Instant;
}

/** Outages read for this much longer than needed are certain. */
const MARGIN_MS = 2_000;
const GAP_INTERVALS = 3;
/** From the decision to the acceptance of the message, also with a frozen replica. */
const DECIDING_MS = 6_000;
/** An alert that still fires this long after its suppression has to be notified. */
const FREE_MS = 2_000;
/** An alert that ended before it was notified may be suppressed when its notification is due. */
const AFTER_MS = 30_000;

/** Why an outage that was certainly read need not be notified. */
export type Excuse = "suppressed" | "flapping" | "outside_schedule";

export function createExpectations(one: RecordingCase) {
  const { offline, rule, within, end, suppressions = [], flaps = [] } = one;
  const heard = within ? one.answers.filter((at) => isInside(within, at)) : one.answers;
  const counted = within ? inside(offline, within) : offline;
  const seen = (span: Span) => seenMs(heard, span, GAP_INTERVALS * rule.intervalMs);
  const between = (from: Instant, to: Instant) => (within ? timeInside(within, from, to) : to - from);

  function excuse(span: Span): Excuse | undefined {
    if (flaps.some(({ from, to }) => span.to >= from && span.from <= to)) return "flapping";
    const last = { from: span.to - FREE_MS, to: span.to + AFTER_MS };
    if (within && between(last.from, last.to) < last.to - last.from) return "outside_schedule";
    const isSuppressed = suppressions.some((suppression) => {
      const { from, to } = activeSpan(suppression, offline);
      return from <= last.to && to >= last.from;
    });
    return isSuppressed ? "suppressed" : undefined;
  }

  return {
    seen,
    excuse,
    /** Certainly read for long enough, leaving schedules and suppressions aside. */
    wasLong: (span: Span) => seenMs(one.answers, span, GAP_INTERVALS * rule.intervalMs) >= rule.forMs + MARGIN_MS,
    mustBeNotified: (span: Span) => seen(span) >= rule.forMs + MARGIN_MS && excuse(span) === undefined,

    /** Whether it was offline within its schedule for the rule's `for`. */
    lastedEnough: ({ from }: Span, at: Instant) => timeInside(counted, from, at) >= rule.forMs - TOLERANCE_MS,

    /** Whether it was online for keep_firing_for, from a moment on. */
    wasBack: (from: Instant, at: Instant) =>
      between(from, at) - timeInside(counted, from, at) >= rule.keepFiringForMs - TOLERANCE_MS,

    /** Whether its recovery after this outage was certainly read for long enough, so that its end has to be notified. */
    mustEnd(outage: number): boolean {
      if (flaps.some(({ to }) => to >= end)) return false;
      if (!within) return (offline.at(-1)?.to ?? 0) < end;
      return offline.slice(outage).some(({ to }, i) => {
        const until = offline[outage + i + 1]?.from ?? end;
        return seen({ from: to, to: until }) >= rule.keepFiringForMs + MARGIN_MS;
      });
    },

    isSurelyBack: (from: Instant, to: Instant) => seen({ from, to }) >= rule.keepFiringForMs + MARGIN_MS,

    /** Why a firing alert must not be notified then. */
    suppressedBecause({ at, message }: Notice): string | undefined {
      const deciding = { from: at - DECIDING_MS, to: at };
      if (within && between(deciding.from, at) === 0) return "outside its schedule";
      if (flaps.some((flap) => message > flap.message && message < flap.steadyMessage)) return "while flapping";
      const suppression = suppressions.find((one) => isActiveThroughout(one, deciding, offline));
      return suppression && (suppression.kind === "silence" ? "while it was silenced" : "while it was acknowledged");
    },

    /** Whether it was notified as flapping and not yet as steady. */
    isFlapping: ({ message }: Notice) => flaps.some((flap) => message > flap.message && message < flap.steadyMessage),

    /** When the start could first be notified; undefined where it was flapping. */
    freeFrom({ from, to }: Span, at: Instant): Instant | undefined {
      if (flaps.some((flap) => to >= flap.from && from <= flap.to)) return undefined;
      const spans = suppressions
        .map((suppression) => activeSpan(suppression, offline))
        .filter((suppression) => suppression.from <= at);
      const began = within?.find((hours) => hours.to > from)?.from ?? from;
      return Math.max(
        from,
        began,
        ...spans
          .filter((suppression) => suppression.to >= from && suppression.to <= at)
          .map((suppression) => suppression.to),
      );
    },
  };
}

export type Expectations = ReturnType<typeof createExpectations>;
