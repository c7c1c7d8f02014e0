/**
 * One rule at one subject, moved by evidence: inactive → pending → firing → inactive. Time adds up between two pieces
 * of evidence, and only when they are close enough to assume nothing about the time between.
 */
import type { Instant } from "../lib/clock.ts";
import type { AlertFacts, Labels } from "./alert.ts";
import type { Described } from "./directory.ts";

export type AlertStates = Readonly<Record<string, AlertState>>;

/** One rule at one subject, while its condition is met or was a moment ago. Inactive is absence. */
export interface AlertState {
  readonly state: "pending" | "firing";
  /** Since when the problem is there, for display and durations. */
  readonly startsAt: Instant;
  /** pending: time the condition has been met, ms. firing: time it has not been, ms (against `keep_firing_for`). */
  readonly elapsedMs: number;
  /**
   * The last evidence for or against it: time is added up from here. It does not move while the condition of
   * a firing alert is met.
   */
  readonly evidenceAt: Instant;
  /** The time at which it began to fire; 0 while pending. */
  readonly firedAt: Instant;
  /** firing: since when its condition is not met; undefined while it is. */
  readonly clearingSince?: Instant | undefined;
  /** Since when its rule does not apply, as its subject is outside its schedule. */
  readonly pausedAt?: Instant | undefined;
  /** For how long sweeps have said nothing for or against it, pauses not counted, ms. */
  readonly unknownMs?: number | undefined;
  /** The condition that was last met, where that is known: the rule may have been changed since. */
  readonly met?: string | undefined;
  /** Frozen from pending until resolved. */
  readonly labels: Labels;
  readonly shops?: Described["shops"];
  readonly annotations: Labels;
  readonly facts: AlertFacts;
}

export interface Timing {
  readonly now: Instant;
  /** Longest time between two pieces of evidence that counts, ms. */
  readonly maxGapMs: number;
  readonly forMs: number;
  readonly keepFiringForMs: number;
  /** Not resolved now, whatever the evidence; the time without the condition is counted all the same. */
  readonly isDeferred?: boolean | undefined;
}

/** The part of an AlertState the machine moves. */
export type Progress = Pick<AlertState, "state" | "elapsedMs" | "evidenceAt" | "firedAt" | "clearingSince">;

/** The outcome of a step. `inactive`: there is no alert. `unchanged`: no evidence. `holding`: goes on as it was. */
export type StepResult =
  | { readonly outcome: "inactive" | "pending_ended" }
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "resolved"; readonly clearingSince: Instant }
  | { readonly outcome: "pending" | "firing" | "holding" | "clearing" | "clearing_ended"; readonly progress: Progress };

/** `evidence`: the condition is met, is not met, or is not known (then nothing changes). */
export function step(previous: Progress | undefined, evidence: boolean | undefined, timing: Timing): StepResult {
  if (evidence === undefined) return { outcome: previous ? "unchanged" : "inactive" };
  if (!previous) return evidence ? begin(timing) : { outcome: "inactive" };
  if (previous.state === "pending") {
    return evidence ? stayPending(previous, timing) : { outcome: "pending_ended" };
  }
  return evidence ? stayFiring(previous, timing) : clear(previous, timing);
}

/** The time at which the alert fires or resolves if the evidence stays as it is; undefined while it simply fires. */
export function settlesAt(
  { state, elapsedMs, evidenceAt, clearingSince }: Progress,
  { forMs, keepFiringForMs }: Pick<Timing, "forMs" | "keepFiringForMs">,
): Instant | undefined {
  if (state === "pending") return evidenceAt + forMs - elapsedMs;
  return clearingSince === undefined ? undefined : evidenceAt + keepFiringForMs - elapsedMs;
}

function begin({ now, forMs }: Timing): StepResult {
  if (forMs <= 0) return { outcome: "firing", progress: fired(now) };
  return { outcome: "pending", progress: { state: "pending", elapsedMs: 0, evidenceAt: now, firedAt: 0 } };
}

function stayPending(previous: Progress, timing: Timing): StepResult {
  const elapsedMs = previous.elapsedMs + countable(previous, timing);
  if (elapsedMs >= timing.forMs) return { outcome: "firing", progress: fired(timing.now) };
  return { outcome: "holding", progress: { ...previous, elapsedMs, evidenceAt: timing.now } };
}

/** The condition has been met all the time: nothing moves, however long that lasts. */
function stayFiring(previous: Progress, { now }: Timing): StepResult {
  if (previous.clearingSince === undefined) return { outcome: "holding", progress: previous };
  return {
    outcome: "clearing_ended",
    progress: { ...previous, elapsedMs: 0, evidenceAt: now, clearingSince: undefined },
  };
}

/** The first evidence against it only starts the clock. */
function clear(previous: Progress, timing: Timing): StepResult {
  const isFirst = previous.clearingSince === undefined;
  const clearingSince = previous.clearingSince ?? timing.now;
  const elapsedMs = isFirst ? 0 : previous.elapsedMs + countable(previous, timing);
  if (!timing.isDeferred && elapsedMs >= timing.keepFiringForMs) return { outcome: "resolved", clearingSince };
  const progress: Progress = { ...previous, elapsedMs, evidenceAt: timing.now, clearingSince };
  return { outcome: isFirst ? "clearing" : "holding", progress };
}

function fired(now: Instant): Progress {
  return { state: "firing", elapsedMs: 0, evidenceAt: now, firedAt: now };
}

function countable({ evidenceAt }: Progress, { now, maxGapMs }: Timing): number {
  const elapsed = now - evidenceAt;
  return elapsed <= maxGapMs ? Math.max(0, elapsed) : 0;
}
