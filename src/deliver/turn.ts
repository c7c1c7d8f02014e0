/** One turn at an integration: claim, recover, suppress, decide, compose, send, settle. All that it writes is written here. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { pacedBy } from "../alerting/route.ts";
import { decideStorm } from "../alerting/storm.ts";
import { type BackoffPolicy, backoffMs } from "../lib/backoff.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { decide } from "./decide.ts";
import { type Batch, type Ending, intentAfter, onlyEndsSummaries, outcomesOf, reportEnding } from "./ending.ts";
import type { DeliveryRun, Lease } from "./model.ts";
import { withoutRepeats } from "./outcome.ts";
import { talkOf } from "./paging.ts";
import { recover } from "./recover.ts";
import { contentOf, hasEnded, intentOf, isOverAlready, post } from "./send.ts";
import { toNotification } from "./to-notification.ts";

/** No send takes longer, the wait for Redis' disk included. */
export const SEND_DEADLINE_MS = 10_000;
/** Longer than any send, so that two never send at once, and what was cut off has time to arrive before it is asked about. */
export const LEASE_MS = 13_000;
export const LONGEST_LEASE_MS = 120_000;
/** The time that a send needs of its lease; a claim that is older by then is made again, for longer. */
const NEEDED_MS = SEND_DEADLINE_MS + 500;
/** A message that took longer to prepare is prepared again where an alert that it names as firing has ended since. */
const OUTDATED_MS = 5_000;
/** The wait where another replica has the lease, or another configuration is active: this one learns of it in a second. */
const OVERTAKEN_MS = 1_000;
/** The backoff of storing what was notified, which is done as soon as Redis takes it. */
const RETRY: BackoffPolicy = { baseMs: 200, capMs: 5_000 };

/** `gathersEnds`: ends are sent with others that wait. Gives `nothing` where nothing is to be done before the next wake-up. */
export async function turn(
  run: DeliveryRun,
  leaseMs: number,
  gathersEnds: boolean,
): Promise<Ending["served"] | "nothing"> {
  const { deps, integration } = run;
  const token = randomUUID();
  const claimedAt = deps.clock.now();
  const claim = await deps.groups.claim(integration, token, claimedAt, leaseMs, deps.stormMs, gathersEnds);
  if (claim.kind === "pace") return pause(run, claim.until - claimedAt);
  if (claim.kind !== "intent" && claim.kind !== "group" && claim.kind !== "storm") {
    if (claim.until !== undefined) await deps.wake(new Map([[integration.id, claim.until]]));
    return "nothing";
  }
  const recovered = claim.kind === "intent" ? await recover(run, claim) : undefined;

  const storm = claim.kind === "storm" ? claim : undefined;
  const claims = storm?.groups ?? (claim.kind === "group" ? [claim] : []);
  const batch = decideStorm(await decide(run, claims, gathersEnds), storm?.due ?? claims.length, gathersEnds);

  const ms = storm?.leaseMs ?? leaseMs;
  const lease: Lease = {
    token,
    ms,
    startBy: claimedAt + ms - NEEDED_MS,
    // However busy the machine, it is sent at last.
    outdatedFrom: leaseMs < LONGEST_LEASE_MS ? claimedAt + OUTDATED_MS : Number.POSITIVE_INFINITY,
  };
  const ending = recovered ?? (await send(run, batch, lease, gathersEnds));

  const now = deps.clock.now();
  const gathers =
    ending.kind === "sent" && batch.now.length > 1 && storm?.isAll && batch.isAll && !integration.resendMs;
  await settle(run, token, { batch, ending, now, gatherMs: gathers ? deps.stormMs : 0 });
  // Who reads that it was notified may rely on it being stored.
  reportEnding(run, batch, ending, now);
  if (ending.kind === "put_off" && ending.served === "paced") return pause(run, ending.at - now);
  return ending.served;
}

/** Sends what the batch has to send, if there is time for it under the lease, and the endpoint takes it now. */
async function send(run: DeliveryRun, batch: Batch, lease: Lease, gathersEnds: boolean): Promise<Ending> {
  const { deps, integration, sender } = run;
  const { externalUrl, timezone } = deps;
  const askedAt = deps.clock.now();
  const putOff = (served: "one" | "late" | "ends" | "paced", at = deps.clock.now()) =>
    ({ kind: "put_off", served, at }) as const;
  const isUpdate = batch.now[0]?.decision.notify === "update";
  if (!gathersEnds && onlyEndsSummaries(integration, batch)) return putOff("ends");
  if (batch.now.length === 0) return putOff("one");
  if (!isUpdate && isOverAlready(batch, lease)) return putOff("late");
  const waitMs = await deps.groups.pace(integration, askedAt);
  if (waitMs > 0) return putOff(isUpdate ? "one" : "paced", askedAt + waitMs);

  const content = await contentOf(run, batch.now, askedAt);
  const isOutdated = !isUpdate && (await hasEnded(run, content, lease));
  const now = deps.clock.now();
  if (isOutdated || now > lease.startBy) return putOff(isUpdate ? "one" : "late");
  const signal = AbortSignal.timeout(SEND_DEADLINE_MS);

  async function attempt(isAnew: boolean): Promise<Ending> {
    const conversation = await talkOf(run, batch.now, content, { token: lease.token, now, isAnew });
    const notification = toNotification(integration, batch.now, content, { now, externalUrl, timezone, conversation });
    // Nothing of these is news.
    const intent = isUpdate || content.notify === "resend" ? undefined : notification.messageId;
    if (intent !== undefined) {
      // Where a repetition can be prevented, Redis must not lose what would: it is on disk before the message is sent.
      const isAsked = integration.conversation !== undefined && sender.find !== undefined;
      const isSynced = isAsked || integration.isPager === true;
      const intended = intentOf(integration, notification, batch, now + LEASE_MS);
      const isOurs = await deps.groups.intend(integration, lease, intended, { isSynced, only: deps.checkActive?.() });
      if (!isOurs) return putOff("paced", deps.clock.now() + OVERTAKEN_MS);
    }
    const outcome = await post(run, notification, signal);
    if (!("refusal" in outcome))
      return { kind: "sent", served: "one", isUpdate, content, conversation: outcome.conversation, intent };
    const { refusal } = outcome;
    return { kind: "refused", served: "one", isUpdate, refusal, intent: intentAfter(refusal, intent) };
  }

  const ending = await attempt(false);
  if (isUpdate || ending.kind !== "refused" || ending.refusal.code !== "conversation_gone") return ending;
  await sleep(integration.paceMs);
  return attempt(true);
}

interface Ended {
  readonly batch: Batch;
  readonly ending: Ending;
  readonly now: Instant;
  readonly gatherMs: number;
}

/** Stores the end of the turn; after a message was accepted as soon as Redis takes it. Throws once delivery stops. */
async function settle(run: DeliveryRun, token: string, { batch, ending, now, gatherMs }: Ended): Promise<void> {
  const { deps, integration, repeats, stopping } = run;
  const isAccepted = ending.kind === "sent" && !ending.isUpdate;
  const decided = outcomesOf(run, batch, ending, now);
  for (let attempt = 1; ; attempt++) {
    try {
      const next = await deps.groups.settle(integration, token, withoutRepeats(decided, repeats), {
        intent: ending.intent,
        askAt: ending.kind === "recovered" ? ending.askAt : undefined,
        only: deps.checkActive?.(),
        gather: gatherMs > 0 ? { until: now + gatherMs, ms: gatherMs } : undefined,
      });
      if (next !== undefined) await deps.wake(new Map([[integration.id, next]]));
      return;
    } catch (thrown) {
      repeats.forget();
      if (!isAccepted || stopping.aborted) throw thrown;
      const facts = { err: toError(thrown), integration: integration.name };
      if (attempt === 1) deps.log.error(facts, "storing the notification failed, retrying");
      await sleep(backoffMs(RETRY, attempt), undefined, { signal: stopping }).catch(() => {});
    }
  }
}

/**
 * Waits for the next pace token: too short for a job, which may be a tenth of a second late. Recipients of a directory
 * wait one after another: thousands that asked for each token would keep everything else from being done.
 */
async function pause({ queue, draining, integration }: DeliveryRun, ms: number): Promise<"paced"> {
  // One that is nearly there keeps its place.
  const isLate = ms > integration.paceMs / 2;
  const [key, step] = [pacedBy(integration), integration.columns && isLate ? 1 : 0];
  const before = queue.get(key) ?? 0;
  queue.set(key, before + step);
  const waitMs = Math.max(0, ms) + step * before * integration.paceMs;
  await sleep(waitMs, undefined, { signal: draining }).catch(() => {});
  queue.set(key, (queue.get(key) ?? 0) - step);
  return "paced";
}
