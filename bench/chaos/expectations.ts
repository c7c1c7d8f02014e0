/**
 * What is owed about one recording, and what is not to be said of it: outside its uploading schedule, while a silence
 * or an acknowledgement holds it, while it flaps. Pure.
 */
import type { Instant } from "../../src/lib/clock.ts";
import type { Timing } from "./audit.ts";
import type { FlapTime } from "./audit-flapping.ts";
import { TOLERANCE_MS } from "./match.ts";
import type { Telling } from "./messages.ts";
import { type Held, heldFrom, isHeldThroughout } from "./suppressions.ts";
import { inside, isInside, type Span, seenMs, timeInside } from "./timeline.ts";

export interface RecordingCase {
  readonly integration: string;
  readonly subject: string;
  readonly dark: readonly Span[];
  /** Answers about its place that must have counted, oldest first. */
  readonly answers: readonly Instant[];
  readonly disturbed: readonly Span[];
  /** The times of its uploading schedule; undefined: always. */
  readonly within?: readonly Span[] | undefined;
  /** Silences that match it, and acknowledgements of it. */
  readonly held?: readonly Held[];
  /** When it was told to flap here. */
  readonly flaps?: readonly FlapTime[];
  readonly rule: Timing;
  readonly end: Instant;
}

/** Answers surely seen for this much longer than needed leave no doubt. */
const MARGIN_MS = 2_000;
const GAP_INTERVALS = 3;
/** From the decision what to say until the acceptance of the message, whoever is frozen meanwhile. */
const HUSH_MS = 6_000;
/** What burns on for this long once nothing holds it has to be told. */
const FREE_MS = 2_000;
/** What ended untold may be held still when somebody comes to tell it. */
const AFTER_MS = 30_000;

/** Why an outage that was surely seen need not be told. */
export type Excuse = "held" | "flapping" | "outside_schedule";

export function createDuties(one: RecordingCase) {
  const { dark, rule, within, end, held = [], flaps = [] } = one;
  const heard = within ? one.answers.filter((at) => isInside(within, at)) : one.answers;
  const counted = within ? inside(dark, within) : dark;
  const seen = (span: Span) => seenMs(heard, span, GAP_INTERVALS * rule.intervalMs);
  const between = (from: Instant, to: Instant) => (within ? timeInside(within, from, to) : to - from);

  function excuse(span: Span): Excuse | undefined {
    if (flaps.some(({ from, to }) => span.to >= from && span.from <= to)) return "flapping";
    const last = { from: span.to - FREE_MS, to: span.to + AFTER_MS };
    if (within && between(last.from, last.to) < last.to - last.from) return "outside_schedule";
    const isHeld = held.some((hold) => {
      const { from, to } = heldFrom(hold, dark);
      return from <= last.to && to >= last.from;
    });
    return isHeld ? "held" : undefined;
  }

  return {
    seen,
    excuse,
    /** Surely seen for long enough, were it not for its schedule or what held it. */
    wasLong: (span: Span) =>
      seenMs(one.answers, span, GAP_INTERVALS * rule.intervalMs) >= rule.forMs + MARGIN_MS,
    mustBeTold: (span: Span) => seen(span) >= rule.forMs + MARGIN_MS && excuse(span) === undefined,

    /** Whether it had been dark, within its schedule, for as long as the rule asks, unseen moments left out. */
    lastedEnough: ({ from }: Span, at: Instant) => timeInside(counted, from, at) >= rule.forMs - TOLERANCE_MS,

    /** Whether it had been back for long enough, from a moment on. */
    wasBack: (from: Instant, at: Instant) =>
      between(from, at) - timeInside(counted, from, at) >= rule.keepFiringForMs - TOLERANCE_MS,

    /** Whether it was surely seen to be back for long enough after this dark time, so that the end has to be told. */
    mustEnd(outage: number): boolean {
      if (flaps.some(({ to }) => to >= end)) return false;
      if (!within) return (dark.at(-1)?.to ?? 0) < end;
      return dark.slice(outage).some(({ to }, i) => {
        const until = dark[outage + i + 1]?.from ?? end;
        return seen({ from: to, to: until }) >= rule.keepFiringForMs + MARGIN_MS;
      });
    },

    isSurelyBack: (from: Instant, to: Instant) => seen({ from, to }) >= rule.keepFiringForMs + MARGIN_MS,

    /** Why nothing was to be said then of what fires. */
    hushed({ at, message }: Telling): string | undefined {
      const deciding = { from: at - HUSH_MS, to: at };
      if (within && between(deciding.from, at) === 0) return "outside its schedule";
      if (flaps.some((flap) => message > flap.message && message < flap.steadyMessage))
        return "while it was told to be flapping";
      const hold = held.find((one) => isHeldThroughout(one, deciding, dark));
      return hold && (hold.kind === "silence" ? "while it was silenced" : "while it was acknowledged");
    },

    /** What was told to flap goes on until it is steady. */
    isFlapping: ({ message }: Telling) =>
      flaps.some((flap) => message > flap.message && message < flap.steadyMessage),

    /** When a beginning was first free to be told; undefined where it was flapping. */
    freeFrom({ from, to }: Span, at: Instant): Instant | undefined {
      if (flaps.some((flap) => to >= flap.from && from <= flap.to)) return undefined;
      const holds = held.map((hold) => heldFrom(hold, dark)).filter((hold) => hold.from <= at);
      const began = within?.find((hours) => hours.to > from)?.from ?? from;
      return Math.max(
        from,
        began,
        ...holds.filter((hold) => hold.to >= from && hold.to <= at).map((hold) => hold.to),
      );
    },
  };
}

export type Duties = ReturnType<typeof createDuties>;
