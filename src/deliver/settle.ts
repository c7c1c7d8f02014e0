/** The end of a claim, written at once. */
import { setTimeout as sleep } from "node:timers/promises";
import { type BackoffPolicy, backoffMs } from "../lib/backoff.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { GroupOutcome } from "../store/groups.ts";
import type { DeliveryRun } from "./model.ts";
import { withoutRepeats } from "./outcome.ts";

/** The backoff of storing what was notified, which is done as soon as Redis takes it. */
const RETRY: BackoffPolicy = { baseMs: 200, capMs: 5_000 };

interface Settling {
  readonly token: string;
  /** The time in which the next storm is gathered; 0 where there is none. */
  readonly gatherMs: number;
  /** The id of the message whose intent ends with the claim. */
  readonly intent: string | undefined;
}

export async function settle(
  { deps: { groups, wake, checkActive }, integration, repeats }: DeliveryRun,
  { token, gatherMs, intent }: Settling,
  now: Instant,
  decided: readonly GroupOutcome[],
): Promise<void> {
  const outcomes = withoutRepeats(decided, repeats);
  const [one] = outcomes;
  const only = checkActive?.();
  let next: Instant | undefined;
  try {
    if (!one || outcomes.length > 1) {
      next = await groups.settleAll(integration, token, outcomes, { now, gatherMs, intent, only });
    } else if ("settle" in one) next = await groups.settle(integration, one.group, token, one.settle, { intent, only });
    else {
      await groups.postpone(integration, one.group, token, one.postpone, intent);
      next = one.postpone.at;
    }
  } catch (thrown) {
    repeats.forget();
    throw thrown;
  }
  if (next !== undefined) await wake(new Map([[integration.id, next]]));
}

/** Settles after a message was accepted: retries until Redis takes it. Throws once delivery stops. */
export async function settleAccepted(run: DeliveryRun, ...args: [Settling, Instant, readonly GroupOutcome[]]) {
  const { deps, integration, stopping } = run;
  for (let attempt = 1; ; attempt++) {
    try {
      return await settle(run, ...args);
    } catch (thrown) {
      if (stopping.aborted) throw thrown;
      const facts = { err: toError(thrown), integration: integration.name };
      if (attempt === 1) deps.log.error(facts, "storing the notification failed, retrying");
      await sleep(backoffMs(RETRY, attempt), undefined, { signal: stopping }).catch(() => {});
    }
  }
}
