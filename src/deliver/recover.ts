/**
 * A message of unknown outcome, by what was written down before it was sent: asked about where the channel can be asked;
 * else what it was about counts as notified when an end is decided, and as not notified when news is.
 */
import type { Conversation, FoundPost, NotifiedEntry } from "../alerting/model.ts";
import { toNotifiedAlert } from "../alerting/needs-update.ts";
import { accepted, isNotified, type LoggedMessage, maybeAccepted } from "../alerting/notification-log.ts";
import type { Integration } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed, ClaimedIntent, GroupOutcome, Intent, Member } from "../store/groups.ts";
import { MOST_ENDED } from "./converse.ts";
import type { Ending } from "./ending.ts";
import type { DeliveryRun, RecoveredClaim } from "./model.ts";
import { postponed, recoveredOutcomes } from "./outcome.ts";

/** Longer than clocks differ. */
const MARGIN_MS = 60_000;
const DEADLINE_MS = 5_000;
/** A channel that posts and cannot be asked delays a message no longer. */
const PATIENCE_MS = 300_000;
const RETRY_MS = 5_000;

/** `later`: the channel cannot be asked now; `unknown`: it never can. */
type Outcome =
  | { readonly kind: "sent"; readonly handle: string }
  | { readonly kind: "not_sent" | "unknown" }
  | { readonly kind: "later"; readonly at: Instant };

/** Gives how what is written down of a message is settled, or when to ask about it again; its groups are decided again after that. */
export async function recover(run: DeliveryRun, claim: ClaimedIntent): Promise<Extract<Ending, { kind: "recovered" }>> {
  const now = run.deps.clock.now();
  const outcome = await ask(run, claim.intent, now);
  const recovered = { kind: "recovered", served: "one", intent: claim.intent.messageId } as const;
  if (outcome.kind === "later") return { ...recovered, outcomes: [], askAt: outcome.at };
  return { ...recovered, outcomes: outcomesOf(run.integration, claim, outcome, now) };
}

function outcomesOf(
  integration: Integration,
  { intent, groups, episodes }: ClaimedIntent,
  outcome: Exclude<Outcome, { readonly kind: "later" }>,
  now: Instant,
): GroupOutcome[] {
  if (outcome.kind === "sent") {
    const { handle } = outcome;
    const found = groups.map((claim) => withMessage(claim, { intent, handle, episodes }));
    return recoveredOutcomes(integration, found, now);
  }
  return groups.flatMap((claim) => {
    const unsure = outcome.kind === "unknown" ? unsureOf(claim, intent, episodes) : [];
    return postponed([{ claim }], { now, at: now, unsure });
  });
}

/** The entries of what the message was about, and is not known to be notified. */
function unsureOf({ group }: Claimed, intent: Intent, episodes: ClaimedIntent["episodes"]): NotifiedEntry[] {
  const { firing = [], resolved = [] } = intent.groups[group] ?? {};
  return [...firing, ...resolved].flatMap((id) => {
    const { entry, alert } = withAlert(episodes.get(id));
    const next = alert && maybeAccepted(entry, alert, messageOf(intent, group), intent.conversation);
    return next && next !== entry ? next : [];
  });
}

/** The alert of an episode, as it was notified where nothing else is stored of it, and its entry. */
function withAlert({ alert, entry }: Partial<Member> = {}) {
  return { alert: alert ?? (isNotified(entry) ? entry.alert : undefined), entry };
}

function messageOf({ at, isSummary, isQuestion }: Intent, groupId: string): LoggedMessage {
  return { at, groupId, inSummary: isSummary || undefined, isQuestion };
}

async function ask(run: DeliveryRun, intent: Intent, now: Instant): Promise<Outcome> {
  const { sender } = run;
  const { conversation, messageId, at } = intent;
  if (!sender.find || !conversation) return { kind: "unknown" };
  const asked = { id: conversation.id, handle: conversation.handle };
  const since = at - MARGIN_MS;
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    const posts = await sender.find(asked, since, { signal });
    if (!posts) return { kind: "unknown" };
    const post = posts.findLast(({ notificationId }: FoundPost) => notificationId === messageId);
    return post ? { kind: "sent", handle: post.handle } : { kind: "not_sent" };
  } catch (thrown) {
    return notAnswered(run, thrown, at, now);
  }
}

/** After a while the message is sent again, at the risk of a repetition. */
function notAnswered(
  { deps, integration, failing }: DeliveryRun,
  thrown: unknown,
  sentAt: Instant,
  now: Instant,
): Outcome {
  const { code, message: detail, retryAfterMs = 0 } = deps.toRefusal(thrown);
  if (now - sentAt < PATIENCE_MS) return { kind: "later", at: now + Math.max(RETRY_MS, retryAfterMs) };
  const key = `${integration.id}\nfind`;
  const facts = { integration: integration.name, code, detail };
  deps.log[failing.has(key) ? "debug" : "warn"](facts, "reading earlier messages failed, one may be repeated");
  failing.add(key);
  return { kind: "unknown" };
}

interface Found extends Pick<ClaimedIntent, "intent" | "episodes"> {
  readonly handle: string;
}

/** The group as it is with what the message was about. */
function withMessage(claim: Claimed, { intent, handle, episodes }: Found): RecoveredClaim {
  const { firing = [], resolved = [] } = intent.groups[claim.group] ?? {};
  const entries = firing.flatMap((id) => {
    const { entry, alert } = withAlert(episodes.get(id));
    return alert ? accepted(entry, alert, messageOf(intent, claim.group)) : [];
  });
  const log = new Map([...claim.notified, ...entries.map((entry) => [entry.alert.id, entry] as const)]);
  const over = resolved.filter((id) => episodes.get(id)?.alert?.state !== "firing");
  const isOver = new Set(over);
  const ended = claim.alerts.filter(({ id, state }) => isOver.has(id) && state === "resolved");
  // The root may not show them yet.
  const ends = ended.map((alert) => toNotifiedAlert(alert, { notified: log, suppressions: undefined }));
  for (const id of over) log.delete(id);
  return {
    ...claim,
    alerts: claim.alerts.filter(({ id }) => !isOver.has(id)),
    notified: log,
    conversation: conversationOf(claim, intent, handle, ends),
    recovered: { notified: entries.filter(({ alert }) => !isOver.has(alert.id)), over },
  };
}

function conversationOf(
  { conversation }: Claimed,
  { conversation: sent, at }: Intent,
  handle: string,
  ends: Conversation["ended"] = [],
): Conversation {
  const opened = { id: sent?.id ?? "", openedAt: at, groups: sent?.groups };
  return { ...opened, ...conversation, handle, ended: [...(conversation?.ended ?? []), ...ends].slice(0, MOST_ENDED) };
}
