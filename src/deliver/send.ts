/** One message to an integration: composed, written down, sent. */
import { setTimeout as sleep } from "node:timers/promises";
import { standingAlerts } from "../alerting/conversation.ts";
import type { Notification, NotifiedAlert } from "../alerting/model.ts";
import { type Integration, isProgram } from "../alerting/route.ts";
import { joinDecisions, type SendDecision } from "../alerting/storm.ts";
import type { Instant } from "../lib/clock.ts";
import type { Intent } from "../store/groups.ts";
import { type Batch, type Ending, intentAfter, onlyEndsSummaries } from "./ending.ts";
import type { ClaimedGroup, Content, DeliveryRun, Lease, PostedConversation } from "./model.ts";
import { isQuietEnd } from "./outcome.ts";
import { talkOf } from "./paging.ts";
import type { NotifyRefusal } from "./retry-policy.ts";
import { toNotification } from "./to-notification.ts";

/** No send takes longer, the wait for Redis' disk included. */
export const SEND_DEADLINE_MS = 10_000;
/** Longer than any send, so that two never send at once, and what was cut off has time to arrive before it is asked about. */
export const LEASE_MS = 13_000;

/** The wait where another replica has the lease, or another configuration is active: this one learns of it in a second. */
const OVERTAKEN_MS = 1_000;

/** The content of a message. A summary is too short for what is known of each location. */
async function contentOf(
  { deps, integration }: DeliveryRun,
  shares: readonly { readonly claim: ClaimedGroup; readonly decision: SendDecision }[],
  at: Instant,
): Promise<Content> {
  const content = joinDecisions(shares.map(({ decision }) => decision));
  const asked = new Set(content.notify === "question" ? content.firing.map(({ id }) => id) : []);
  const suppressed = integration.conversation ? shares.flatMap(({ claim }) => standingAlerts(claim)) : [];
  const standing = suppressed.filter(({ id }) => !asked.has(id));
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

/** Sends one message; where it is refused itself, once more as plain text. */
async function send({ deps, sender }: DeliveryRun, message: Notification, signal: AbortSignal): Promise<SendOutcome> {
  const { conversation } = message;
  const attempt = (plain: object): Promise<SendOutcome> =>
    sender.send(message, { signal, ...plain }).then(
      (posted) => ({ conversation: conversation && { ...conversation, ...posted } }),
      (thrown: unknown) => ({ refusal: deps.toRefusal(thrown) }),
    );
  const first = await attempt({});
  if (!("refusal" in first) || first.refusal.code !== "bad_request") return first;
  await sleep(sender.integration.paceMs);
  return attempt({ plain: true });
}

/** Sends what the batch has to send, if there is time for it under the lease, and the endpoint takes it now. */
export async function sendBatch(run: DeliveryRun, batch: Batch, lease: Lease, gathersEnds: boolean): Promise<Ending> {
  const { deps, integration } = run;
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
  const isOutdated = !isUpdate && (await isOver(run, content, lease));
  const now = deps.clock.now();
  if (isOutdated || now > lease.startBy) return putOff(isUpdate ? "one" : "late");
  const signal = AbortSignal.timeout(SEND_DEADLINE_MS);
  const { externalUrl, timezone } = deps;

  async function post(isAnew: boolean): Promise<Ending> {
    const conversation = await talkOf(run, batch.now, content, { token: lease.token, now, isAnew });
    const notification = toNotification(integration, batch.now, content, { now, externalUrl, timezone, conversation });
    // Nothing of these is news.
    const intent = isUpdate || content.notify === "resend" ? undefined : notification.messageId;
    const isIntended = intent === undefined || (await intend(run, lease, intentOf(integration, notification, batch)));
    if (!isIntended) return putOff("paced", deps.clock.now() + OVERTAKEN_MS);
    const outcome = await send(run, notification, signal);
    if ("refusal" in outcome) {
      const { refusal } = outcome;
      return { kind: "refused", served: "one", isUpdate, refusal, intent: intentAfter(refusal, intent) };
    }
    return { kind: "sent", served: "one", isUpdate, content, conversation: outcome.conversation, intent };
  }

  const ending = await post(false);
  if (isUpdate || ending.kind !== "refused" || ending.refusal.code !== "conversation_gone") return ending;
  await sleep(integration.paceMs);
  return post(true);
}

/** True where an alert of the message had ended when it was decided. */
function isOverAlready({ now }: Batch, { outdatedFrom }: Lease): boolean {
  return outdatedFrom < Number.POSITIVE_INFINITY && now.some(({ claim }) => claim.suppressions?.isOutdated);
}

/** True where an alert that the message would name as firing has ended since it was read. */
async function isOver({ deps }: DeliveryRun, { firing }: Content, { outdatedFrom }: Lease): Promise<boolean> {
  return deps.clock.now() > outdatedFrom && deps.groups.hasEnded(firing.map(({ id }) => id));
}

/** Where a repetition can be prevented, Redis must not lose what would: it is on disk before the message is sent. */
function intend({ deps, sender, integration }: DeliveryRun, lease: Lease, intent: Intent): Promise<boolean> {
  const isAsked = integration.conversation !== undefined && sender.find !== undefined;
  const isSynced = isAsked || integration.isPager === true;
  return deps.groups.intend(integration, lease, intent, { isSynced, only: deps.checkActive?.() });
}

/** The intent of a message: it may be sent from now on. */
function intentOf(
  integration: Integration,
  { messageId, now: at, conversation, reason }: Notification,
  { now }: Batch,
): Intent {
  const idsOf = (alerts: readonly NotifiedAlert[]) => alerts.map(({ id }) => id);
  const { id = "", openedAt = at, handle, groups } = conversation ?? {};
  const about = now.map(({ claim, decision }) => {
    const firing = isQuietEnd(integration, decision) ? [] : idsOf(decision.firing);
    return [claim.group, { firing, resolved: idsOf(decision.resolved) }] as const;
  });
  return {
    messageId,
    at,
    askAt: at + LEASE_MS,
    ...(conversation && { conversation: { id, openedAt, handle, groups } }),
    isSummary: now.length > 1,
    isQuestion: reason === "question" || undefined,
    groups: Object.fromEntries(about),
  };
}
