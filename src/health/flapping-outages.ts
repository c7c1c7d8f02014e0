/**
 * An outage that began before the flapping, and may have been notified, is not resolved by being online for a moment:
 * it ends with the flapping, in the same write, so that one notification has both.
 */
import type { AlertState, Timing } from "./alert-machine.ts";
import type { Rule } from "./model.ts";

/** An alert on flapping, before and after this moment. */
export interface FlappingAlert {
  readonly before: AlertState | undefined;
  readonly after: AlertState | undefined;
}

/** A rule whose alerts are about one outage, not about many. */
export function isSingleOutage({ when }: Rule): boolean {
  return when.kind === "status";
}

/** How an alert of a rule ends beside those on flapping. */
export function whileFlapping(
  flapping: readonly FlappingAlert[],
  rule: Rule,
  state: AlertState | undefined,
): Pick<Timing, "keepFiringForMs" | "isDeferred"> {
  const { keepFiringForMs } = rule;
  if (!isSingleOutage(rule)) return { keepFiringForMs };
  if (flapping.some(({ after }) => firesAfter(after, state))) return { keepFiringForMs, isDeferred: true };
  return { keepFiringForMs: flapping.some(({ before }) => firesAfter(before, state)) ? 0 : keepFiringForMs };
}

/** The flapping alert fires, and began to after the other one did. */
function firesAfter(flapping: AlertState | undefined, { firedAt } = { firedAt: 0 }): boolean {
  return flapping?.state === "firing" && firedAt > 0 && firedAt < flapping.firedAt;
}
