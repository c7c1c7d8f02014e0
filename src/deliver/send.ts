/** One message to an integration: its content, what is written down of it, and its way to the channel. */
import { setTimeout as sleep } from "node:timers/promises";
import { standingAlerts } from "../alerting/conversation.ts";
import type { Notification, NotifiedAlert } from "../alerting/model.ts";
import { type Integration, isProgram } from "../alerting/route.ts";
import { joinDecisions, type SendDecision } from "../alerting/storm.ts";
import type { Instant } from "../lib/clock.ts";
import type { Intent } from "../store/groups.ts";
import type { Batch } from "./ending.ts";
import type { ClaimedGroup, Content, DeliveryRun, Lease, PostedConversation } from "./model.ts";
import { isQuietEnd } from "./outcome.ts";
import type { NotifyRefusal } from "./retry-policy.ts";

/** The content of a message. A summary is too short for what is known of each location. */
export async function contentOf(
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
export async function post(
  { deps, sender }: DeliveryRun,
  message: Notification,
  signal: AbortSignal,
): Promise<SendOutcome> {
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

/** True where an alert of the message had ended when it was decided. */
export function isOverAlready({ now }: Batch, { outdatedFrom }: Lease): boolean {
  return outdatedFrom < Number.POSITIVE_INFINITY && now.some(({ claim }) => claim.suppressions?.isOutdated);
}

/** True where an alert that the message would name as firing has ended since it was read. */
export async function hasEnded({ deps }: DeliveryRun, { firing }: Content, { outdatedFrom }: Lease): Promise<boolean> {
  return deps.clock.now() > outdatedFrom && deps.groups.hasEnded(firing.map(({ id }) => id));
}

/** The intent of a message: it may be sent from now on. */
export function intentOf(
  integration: Integration,
  { messageId, now: at, conversation, reason }: Notification,
  { now }: Batch,
  askAt: Instant,
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
    askAt,
    ...(conversation && { conversation: { id, openedAt, handle, groups } }),
    isSummary: now.length > 1,
    isQuestion: reason === "question" || undefined,
    groups: Object.fromEntries(about),
  };
}
