/**
 * One rule at one subject, stepped by evidence: inactive → pending → firing → inactive. Time is added up between
 * two pieces of evidence, and only when they are close enough that nothing is assumed about the time between.
 */
import type { Instant } from "../lib/clock.ts";
import type { AlertState } from "./shard-state.ts";

export interface Timing {
  readonly now: Instant;
  /** Longest time between two pieces of evidence that counts, ms. */
  readonly maxGapMs: number;
  readonly forMs: number;
  readonly keepFiringForMs: number;
  /** It does not end now, whatever the evidence; the time it has not held is counted all the same. */
  readonly deferResolve?: boolean;
}

/** The part of an AlertState the machine moves. */
export type Progress = Pick<AlertState, "state" | "elapsedMs" | "evidenceAt" | "firedAt">;

/** What a step did. `inactive`: nothing there. `unchanged`: no evidence. `holding`: goes on as it was. */
export type Step =
  | { readonly outcome: "inactive" | "pending_ended" }
  | { readonly outcome: "unchanged" }
  | { readonly outcome: "resolved"; readonly elapsedMs: number }
  | {
      readonly outcome: "pending" | "firing" | "holding" | "clearing" | "clearing_ended";
      readonly progress: Progress;
    };

/** `evidence`: the condition holds, does not hold, or nobody can tell (then nothing changes). */
export function step(previous: Progress | undefined, evidence: boolean | undefined, timing: Timing): Step {
  if (evidence === undefined) return { outcome: previous ? "unchanged" : "inactive" };
  if (!previous) return evidence ? begin(timing) : { outcome: "inactive" };
  if (previous.state === "pending") {
    return evidence ? hold(previous, timing) : { outcome: "pending_ended" };
  }
  return evidence ? keep(previous, timing) : clear(previous, timing);
}

function begin({ now, forMs }: Timing): Step {
  if (forMs <= 0) return { outcome: "firing", progress: fired(now) };
  return { outcome: "pending", progress: { state: "pending", elapsedMs: 0, evidenceAt: now, firedAt: 0 } };
}

function hold(previous: Progress, timing: Timing): Step {
  const elapsedMs = previous.elapsedMs + countable(previous, timing);
  if (elapsedMs >= timing.forMs) return { outcome: "firing", progress: fired(timing.now) };
  return { outcome: "holding", progress: { ...previous, elapsedMs, evidenceAt: timing.now } };
}

function keep(previous: Progress, { now }: Timing): Step {
  const progress: Progress = { ...previous, elapsedMs: 0, evidenceAt: now };
  return { outcome: previous.elapsedMs > 0 ? "clearing_ended" : "holding", progress };
}

/** The first evidence against it only starts the clock; `elapsedMs` is then 1, since 0 means that it holds. */
function clear(previous: Progress, timing: Timing): Step {
  const clearing = previous.elapsedMs > 0;
  const elapsedMs = clearing ? previous.elapsedMs + countable(previous, timing) : 1;
  if (!timing.deferResolve && (timing.keepFiringForMs <= 0 || elapsedMs > timing.keepFiringForMs)) {
    return { outcome: "resolved", elapsedMs: elapsedMs - 1 };
  }
  const progress: Progress = { ...previous, elapsedMs, evidenceAt: timing.now };
  return { outcome: clearing ? "holding" : "clearing", progress };
}

function fired(now: Instant): Progress {
  return { state: "firing", elapsedMs: 0, evidenceAt: now, firedAt: now };
}

function countable({ evidenceAt }: Progress, { now, maxGapMs }: Timing): number {
  const elapsed = now - evidenceAt;
  return elapsed <= maxGapMs ? Math.max(0, elapsed) : 0;
}
