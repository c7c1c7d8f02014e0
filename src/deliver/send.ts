/** One message to an integration, and the outcome of a claim. */
import { setTimeout as sleep } from "node:timers/promises";
import { standingAlerts } from "../alerting/conversation.ts";
import type { Notification } from "../alerting/model.ts";
import { isProgram } from "../alerting/route.ts";
import { joinDecisions, type SendDecision } from "../alerting/storm.ts";
import { type BackoffPolicy, backoffMs } from "../lib/backoff.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import type { GroupOutcome } from "../store/groups.ts";
import type { ClaimedGroup, Content, DeliveryRun, Lease, PostedConversation } from "./model.ts";
import { withoutRepeats } from "./outcome.ts";
import type { NotifyRefusal } from "./retry-policy.ts";

/** The backoff of storing what was notified, which is done as soon as Redis takes it. */
const RETRY: BackoffPolicy = { baseMs: 200, capMs: 5_000 };
/** No send takes longer; the lease of a claim is longer still, so that two never send at once. */
export const SEND_DEADLINE_MS = 10_000;

/** The content of a message. A summary is too short for what is known of each location. */
export async function contentOf(
  { deps, integration }: DeliveryRun,
  shares: readonly { readonly claim: ClaimedGroup; readonly decision: SendDecision }[],
  at: Instant,
): Promise<Content> {
  const content = joinDecisions(shares.map(({ decision }) => decision));
  const standing = integration.conversation ? shares.flatMap(({ claim }) => standingAlerts(claim)) : [];
  const causes = isProgram(integration) ? undefined : deps.causes?.(content.firing);
  const isSummary = shares.length > 1 && integration.resendMs === undefined;
  if (!deps.annotate || isSummary) return { ...content, standing, causes: await causes };
  const alerts = await deps.annotate([...content.firing, ...content.resolved, ...standing], at);
  const from = content.firing.length;
  const to = from + content.resolved.length;
  const [firing, resolved] = [alerts.slice(0, from), alerts.slice(from, to)];
  return { ...content, firing, resolved, standing: alerts.slice(to), causes: await causes };
}

/** `conversation`: of the accepted message, with its handle. */
type SendOutcome = { readonly refusal: NotifyRefusal } | { readonly conversation: PostedConversation | undefined };

/**
 * Sends one message. Where the message itself is refused, once more as plain text; where what it answers is gone, once
 * more as the first of its conversation, unless it is no news.
 */
export async function send({ deps, sender }: DeliveryRun, message: Notification): Promise<SendOutcome> {
  const signal = AbortSignal.timeout(SEND_DEADLINE_MS);
  const attempt = (one: Notification, plain: object): Promise<SendOutcome> =>
    sender.send(one, { signal, ...plain }).then(
      (posted) => ({ conversation: one.conversation && { ...one.conversation, ...posted } }),
      (thrown: unknown) => ({ refusal: deps.toRefusal(thrown) }),
    );
  const first = await attempt(message, {});
  const code = "refusal" in first ? first.refusal.code : undefined;
  const { conversation } = message;
  if (code === "conversation_gone" && conversation?.handle && message.reason !== "update") {
    await sleep(sender.integration.paceMs);
    return attempt({ ...message, conversation: { ...conversation, handle: undefined } }, {});
  }
  if (code !== "bad_request") return first;
  await sleep(sender.integration.paceMs);
  return attempt(message, { plain: true });
}

/** Stores outcomes, without the lines of the decision log that repeat what this process stored before. */
export async function settle(
  { deps: { groups, wake }, integration, repeats }: DeliveryRun,
  { token, gatherMs, intent }: Pick<Lease, "token" | "gatherMs" | "intent">,
  now: Instant,
  decided: readonly GroupOutcome[],
): Promise<void> {
  const outcomes = withoutRepeats(decided, repeats);
  const [only] = outcomes;
  let next: Instant | undefined;
  try {
    if (!only || outcomes.length > 1) {
      next = await groups.settleAll(integration, token, outcomes, { now, gatherMs, intent });
    } else if ("settle" in only) next = await groups.settle(integration, only.group, token, only.settle, intent);
    else {
      await groups.postpone(integration, only.group, token, only.postpone, intent);
      next = only.postpone.at;
    }
  } catch (thrown) {
    repeats.forget();
    throw thrown;
  }
  if (next !== undefined) await wake(new Map([[integration.id, next]]));
}

/** Settles after a message was accepted: retries until Redis takes it. Throws once delivery stops. */
export async function settleAccepted(
  run: DeliveryRun,
  ...args: [Pick<Lease, "token" | "gatherMs" | "intent">, Instant, readonly GroupOutcome[]]
) {
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
