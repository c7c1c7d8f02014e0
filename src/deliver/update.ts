/** Brings the root of a conversation up to date. Nothing of it is news: a failure is no trouble, and nothing is owed. */
import { putOffUpdate } from "../alerting/conversation.ts";
import type { GroupDecision, NotifyErrorCode } from "../alerting/model.ts";
import type { SendDecision } from "../alerting/storm.ts";
import type { Instant } from "../lib/clock.ts";
import type { GroupOutcome } from "../store/groups.ts";
import type { ClaimedGroup, DeliveryRun, Lease } from "./model.ts";
import { settled } from "./outcome.ts";
import { talkOf } from "./paging.ts";
import type { NotifyRefusal } from "./retry-policy.ts";
import { contentOf, send, settle } from "./send.ts";
import { toNotification } from "./to-notification.ts";

/** `rest`: outcomes of the other groups of its claim. */
type Share = { readonly claim: ClaimedGroup; readonly decision: SendDecision; readonly rest: readonly GroupOutcome[] };

const RETRY_MS = 30_000;
/** The wait after a refusal that a person has to mend, such as a revoked token. */
const RETRY_AUTH_MS = 120_000;
/** The refusals that are retried; after the others, a change makes the next update. */
const PASSING: readonly NotifyErrorCode[] = ["network", "timeout", "rate_limited", "server_error", "auth", "other"];

export async function update(run: DeliveryRun, share: Share, lease: Lease): Promise<"one"> {
  const { deps, integration } = run;
  const now = deps.clock.now();
  const waitMs = await deps.groups.pace(integration, now);
  if (waitMs > 0) return putOff(run, share, lease, now + waitMs);
  if (now > lease.startBy) return putOff(run, share, lease, now);
  const { externalUrl } = deps;
  const content = await contentOf(run, [share], now);
  const conversation = await talkOf(run, [share], content, { token: lease.token, now });
  const outcome = await send(run, toNotification(integration, [share], content, { now, externalUrl, conversation }));
  const facts = { integration: integration.name, group: share.claim.group };
  if ("refusal" in outcome) return refuse(run, share, lease, outcome.refusal);
  await settle(run, lease, now, [...settled(integration, [share], now, outcome.conversation), ...share.rest]);
  deps.log.debug(facts, "conversation updated");
  return "one";
}

async function refuse(run: DeliveryRun, share: Share, lease: Lease, refusal: NotifyRefusal): Promise<"one"> {
  const { deps, integration } = run;
  const { code, retryAfterMs = 0, message: detail } = refusal;
  deps.log.debug({ integration: integration.name, code, detail }, "updating a conversation failed");
  const now = deps.clock.now();
  const waitMs = Math.max(code === "auth" ? RETRY_AUTH_MS : RETRY_MS, retryAfterMs);
  if (PASSING.includes(code)) return putOff(run, share, lease, now + waitMs);
  const known = integration.isIncident ? undefined : share.claim.conversation;
  const left = known && { ...known, ...(code === "conversation_gone" && { handle: undefined }) };
  await settle(run, lease, now, [...settled(integration, [share], now, left), ...share.rest]);
  return "one";
}

async function putOff(run: DeliveryRun, { claim, decision, rest }: Share, lease: Lease, at: Instant): Promise<"one"> {
  const { settled: owed, nextAt, suppressedState } = decision;
  const skipped = { notify: undefined, why: "nothing_new", settled: owed, nextAt, suppressedState } as const;
  const later: GroupDecision = { ...skipped, ...putOffUpdate(decision, at) };
  const now = run.deps.clock.now();
  await settle(run, lease, now, [...settled(run.integration, [{ claim, decision: later }], now), ...rest]);
  return "one";
}
