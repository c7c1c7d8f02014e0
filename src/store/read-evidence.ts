/** The age of the evidence of the fleet, by the attempts that all replicas share. */
import { attemptsOf } from "../health/attempt.ts";
import { ageOf, type Evidence, type EvidenceMoment, fleetEvidence } from "../health/evidence.ts";
import { GAP_INTERVALS } from "../health/rhythm.ts";
import type { Clock } from "../lib/clock.ts";
import type { Store } from "./store.ts";

export interface ReadEvidenceDeps {
  readonly clock: Clock;
  readonly store: Pick<Store["shards"], "attempts">;
  readonly intervals: Omit<EvidenceMoment, "now">;
  readonly assigned: { shards(): readonly number[] };
}

/** `isEvaluated`: some replica evaluates self alerts. */
export async function readEvidence({
  clock,
  store,
  intervals,
  assigned,
}: ReadEvidenceDeps): Promise<Evidence & { readonly isEvaluated: boolean }> {
  const all = await store.attempts();
  const moment = { ...intervals, now: clock.now() };
  const evaluated = ageOf(
    all.get("fleet") ?? { goodAt: 0, attemptedAt: 0 },
    moment,
    GAP_INTERVALS * intervals.intervalMs,
  );
  return { ...fleetEvidence(attemptsOf(all, assigned.shards()), moment), isEvaluated: evaluated === "fresh" };
}
