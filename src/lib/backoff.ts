/** Wait before a retry: doubling, capped, with jitter so that many clients do not retry at once. */
export interface BackoffPolicy {
  /** The first wait, ms. */
  readonly baseMs: number;
  /** No wait is longer, ms. */
  readonly capMs: number;
}

/** Wait in ms before attempt `failures + 1`; between half the step and the whole of it. `random` gives 0–1. */
export function backoffMs(policy: BackoffPolicy, failures: number, random: () => number = Math.random): number {
  const step = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
  return Math.round(step * (0.5 + random() / 2));
}
