/** How a turn ended: what that leaves of each group, and what is reported of it. */
import { putOffUpdate } from "../alerting/conversation.ts";
import type { NotifiedAlert, NotifyErrorCode } from "../alerting/model.ts";
import type { Integration } from "../alerting/route.ts";
import type { decideStorm } from "../alerting/storm.ts";
import type { Instant } from "../lib/clock.ts";
import type { GroupOutcome } from "../store/groups.ts";
import type { ClaimedGroup, Content, DeliveryRun, PostedConversation, Share } from "./model.ts";
import { postponed, refused, settled } from "./outcome.ts";
import { isUnsure, type NotifyRefusal, retryAt } from "./retry-policy.ts";
import { latencySeconds } from "./to-notification.ts";

export type Batch = ReturnType<typeof decideStorm<ClaimedGroup>>;

interface OfMessage {
  readonly served: "one";
  readonly isUpdate: boolean;
  readonly intent: string | undefined;
}

/**
 * `served`: `late`, where the claim was too old to send under, or what it read is over; `ends`, where others may wait to be
 * sent with it; `paced`, where the endpoint took a message, or something overtook this one, a moment ago. `intent`: of the
 * message whose outcome is known; `askAt`: when it is asked about, where it is not.
 */
export type Ending = Readonly<
  | { kind: "put_off"; served: "one" | "late" | "ends" | "paced"; at: Instant; intent?: undefined }
  | ({ kind: "sent"; content: Content; conversation: PostedConversation | undefined } & OfMessage)
  | ({ kind: "refused"; refusal: NotifyRefusal } & OfMessage)
  | { kind: "recovered"; served: "one"; outcomes: readonly GroupOutcome[]; intent: string; askAt?: Instant }
>;

const UPDATE_RETRY_MS = 30_000;
/** The wait after a refusal that a person has to mend, such as a revoked token. */
const UPDATE_RETRY_AUTH_MS = 120_000;
/** The refusals of an update that are retried; after the others, a change makes the next update. */
const PASSING: readonly NotifyErrorCode[] = ["network", "timeout", "rate_limited", "server_error", "auth", "other"];

/** The outcome of each group of the claim, as it is stored. */
export function outcomesOf(
  { integration }: DeliveryRun,
  batch: Batch,
  ending: Ending,
  now: Instant,
): readonly GroupOutcome[] {
  if (ending.kind === "recovered") return ending.outcomes;
  const skipped = settled(integration, batch.skipped, now);
  const later = (at: Instant) => postponed(batch.later, { now, at });
  if (ending.kind === "put_off") {
    const { at } = ending;
    return [...skipped, ...batch.now.flatMap((share) => putOff(integration, share, now, at)), ...later(at)];
  }
  if (ending.kind === "sent")
    return [...skipped, ...settled(integration, batch.now, now, ending.conversation), ...later(now)];
  const { refusal, isUpdate } = ending;
  if (isUpdate)
    return [
      ...batch.now.flatMap((share) => updateRefused(integration, share, refusal, now)),
      ...later(now),
      ...skipped,
    ];
  const { code, message: detail, scope } = refusal;
  const at = retryAt(integration, refusal, claimsOf(batch), now);
  return [...refused(integration, batch.now, { now, at, failure: { code, detail, scope } }), ...later(now), ...skipped];
}

/** Nothing of an update is owed: only the root is to be brought up to date later. */
function putOff(integration: Integration, { claim, decision }: Share, now: Instant, at: Instant): GroupOutcome[] {
  if (decision.notify !== "update") return postponed([{ claim }], { now, at });
  const { settled: owed, nextAt, suppressedState } = decision;
  const skipped = { notify: undefined, why: "nothing_new", settled: owed, nextAt, suppressedState } as const;
  return settled(integration, [{ claim, decision: { ...skipped, ...putOffUpdate(decision, at) } }], now);
}

/** A failure of an update is no trouble. */
function updateRefused(integration: Integration, share: Share, refusal: NotifyRefusal, now: Instant): GroupOutcome[] {
  const { code, retryAfterMs = 0 } = refusal;
  const waitMs = Math.max(code === "auth" ? UPDATE_RETRY_AUTH_MS : UPDATE_RETRY_MS, retryAfterMs);
  if (PASSING.includes(code)) return putOff(integration, share, now, now + waitMs);
  const known = integration.isPager ? undefined : share.claim.conversation;
  const left = known && { ...known, ...(code === "conversation_gone" && { handle: undefined }) };
  return settled(integration, [share], now, left);
}

/** Metrics and log lines of the ending. */
export function reportEnding(run: DeliveryRun, batch: Batch, ending: Ending, now: Instant): void {
  const { deps, integration } = run;
  if (ending.served !== "ends") for (const { decision } of batch.skipped) deps.suppressed(integration, decision.why);
  if (ending.kind === "sent" && !ending.isUpdate) reportSent(run, batch, ending.content, now);
  else if (ending.kind === "sent")
    deps.log.debug({ integration: integration.name, group: batch.now[0]?.claim.group }, "conversation updated");
  else if (ending.kind === "refused") reportRefused(run, batch, ending, now);
}

function reportSent({ deps, integration, failing }: DeliveryRun, batch: Batch, content: Content, now: Instant): void {
  const { notify: reason, firing, resolved } = content;
  const isEscalated = batch.now.some(({ claim }) => claim.escalateAfterMs !== undefined);
  const isLateOnPurpose = isEscalated || onlyEndsSummaries(integration, batch);
  deps.notified(integration, reason, isLateOnPurpose ? undefined : latencySeconds(content, now));
  const which = batch.now.length > 1 ? { groups: batch.now.length } : { group: batch.now[0]?.claim.group };
  const counts = { firing: firing.length, resolved: resolved.length };
  const facts = { integration: integration.name, reason, ...which, ...counts };
  deps.log[reason === "resend" ? "debug" : "info"](facts, "notified");
  const recovered = [integration.id, messageKey(integration, batch)].map((key) => failing.delete(key));
  if (recovered.includes(true)) deps.log.info({ integration: integration.name }, "notifications are accepted again");
}

function reportRefused(
  { deps, integration, failing }: DeliveryRun,
  batch: Batch,
  { refusal, isUpdate }: Extract<Ending, { kind: "refused" }>,
  now: Instant,
): void {
  const { code, scope, message: detail } = refusal;
  const facts = { integration: integration.name, code, detail };
  if (isUpdate) {
    deps.log.debug(facts, "updating a conversation failed");
    return;
  }
  deps.failed(integration, code);
  const retryInMs = retryAt(integration, refusal, claimsOf(batch), now) - now;
  const key = scope === "message" ? messageKey(integration, batch) : integration.id;
  deps.log[failing.has(key) ? "debug" : "warn"]({ ...facts, retryInMs }, "notification failed, retrying");
  failing.add(key);
}

/** True where the message would only end what summaries began: ends that wait for others are sent with it. */
export function onlyEndsSummaries(integration: Integration, { now }: Batch): boolean {
  if (integration.resendMs !== undefined || now.length === 0) return false;
  return now.every(({ claim: { notified, stormGroups }, decision: { notify, resolved } }) => {
    const isBegun = ({ id }: NotifiedAlert) => notified.get(id)?.inSummary;
    return notify === "resolved" && stormGroups !== undefined && resolved.some(isBegun);
  });
}

/** The intent that ends with a refusal: what may have been accepted all the same stays written down. */
export function intentAfter(refusal: NotifyRefusal, intent: string | undefined): string | undefined {
  return isUnsure(refusal) ? undefined : intent;
}

const claimsOf = ({ now }: Batch) => now.map(({ claim }) => claim);

function messageKey(integration: Integration, batch: Batch): string {
  return `${integration.id}\n${batch.now.length > 1 ? "storm" : batch.now[0]?.claim.group}`;
}
