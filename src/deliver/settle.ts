/** Ends a claim with the outcome of each of its groups, all of them or none. */
import { setTimeout as sleep } from "node:timers/promises";
import { type BackoffPolicy, backoffMs } from "../lib/backoff.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { GroupOutcome } from "../store/groups.ts";
import type { DeliveryRun } from "./deliver.ts";

/** What was notified is stored as soon as Redis takes it. */
const RETRY: BackoffPolicy = { baseMs: 200, capMs: 5_000 };

export interface Lease {
  readonly token: string;
  /** A send that began later might outlast the lease. */
  readonly startBy: Instant;
  /** How long the next storm is gathered once this one is sent; 0 where there is none. */
  readonly gatherMs: number;
}

/** Stores the outcomes and wakes the integration when something is due there next. */
export async function settle(
  { deps: { groups, wake }, integration }: DeliveryRun,
  { token, gatherMs }: Lease,
  now: Instant,
  outcomes: readonly GroupOutcome[],
): Promise<void> {
  const [only] = outcomes;
  let next: Instant | undefined;
  if (!only || outcomes.length > 1) next = await groups.settleAll(integration, token, outcomes, { now, gatherMs });
  else if ("settle" in only) next = await groups.settle(integration, only.group, token, only.settle);
  else {
    await groups.postpone(integration, only.group, token, only.postpone);
    next = only.postpone.at;
  }
  if (next !== undefined) await wake(new Map([[integration.id, next]]));
}

/** As `settle`, after a message was accepted: retries until Redis takes it. Throws once delivery stops. */
export async function settleAccepted(run: DeliveryRun, ...args: [Lease, Instant, readonly GroupOutcome[]]) {
  const { deps, integration, stopping } = run;
  for (let attempt = 1; ; attempt++) {
    try {
      return await settle(run, ...args);
    } catch (thrown) {
      if (stopping.aborted) throw thrown;
      const facts = { err: toError(thrown), integration: integration.id };
      if (attempt === 1) deps.log.error(facts, "storing the notification failed, retrying");
      await sleep(backoffMs(RETRY, attempt), undefined, { signal: stopping }).catch(() => {});
    }
  }
}
