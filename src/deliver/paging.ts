/** The pages of a pager in a message, and what each of its groups keeps of them. */
import { hash } from "node:crypto";
import { conversationId, isOverAfter, presentOf, shownAt, standingAlerts } from "../alerting/conversation.ts";
import type { Conversation, ConversationNow } from "../alerting/model.ts";
import { keysIn, pagingOf } from "../alerting/pages.ts";
import type { Integration } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import type { Settlement } from "../store/groups.ts";
import { conversationOf, type Moment } from "./converse.ts";
import type { Content, DeliveryRun, PostedConversation, Share } from "./model.ts";

/** The conversation of a message or, at a pager, the page that it begins; undefined where there are none. */
export async function talkOf(
  run: Pick<DeliveryRun, "deps" | "integration">,
  shares: readonly Share[],
  content: Content,
  at: Moment,
): Promise<ConversationNow | undefined> {
  const { deps, integration } = run;
  if (integration.isPager) return pageOf(run, shares, content, at);
  const talk = conversationOf(integration, shares, at);
  if (!talk?.isOver || integration.conversation !== "edits") return talk;
  // The root says all of it, also where the one that said the rest is gone.
  const before = conversationOf(integration, shares, { ...at, isAnew: false });
  const { id } = before?.isOver ? before : talk;
  const ends = content.resolved.map((alert) => alert.id);
  return { ...talk, whole: await deps.conversations.whole(integration.id, id, ends) };
}

/** The page has a key that is the same when it is sent again; with what others become. */
async function pageOf(
  { deps, integration }: Pick<DeliveryRun, "deps" | "integration">,
  shares: readonly Share[],
  content: Content,
  { token, now }: Moment,
): Promise<ConversationNow> {
  const used = keysIn(content);
  const id = freshKey(integration, shares, { token, used });
  const here = new Set([...content.firing, ...content.resolved, ...content.standing].map((alert) => alert.id));
  const asked = content.resolved.some(({ page }) => !page) ? new Set([...used, id]) : used;
  const entries = asked.size > 0 ? await deps.groups.paged(integration.id, asked) : [];
  const others = Map.groupBy(
    entries.filter(({ alert }) => !here.has(alert.id)),
    ({ page }) => page?.key,
  );
  const paging = pagingOf({ ...content, reason: content.notify }, id, (key) => {
    const known = others.get(key);
    if (known?.length) return known.every(({ page }) => page?.isAcknowledged) ? { isAcknowledged: true } : {};
    return isShared(shares, key) ? {} : undefined;
  });
  const maybe = unsureKeys(shares).filter((key) => key !== id && !used.has(key));
  const changes = [...paging.changes, ...maybe.map((key) => ({ ...RESOLVE, key }))];
  const groups = shares.length > 1 ? { groups: shares.length } : {};
  const isOver = content.firing.length + content.standing.length === 0;
  return { id, openedAt: now, ...groups, isOver, paging: { ...paging, changes } };
}

/** The key of a page that may have been begun already, or of a new one. */
function freshKey(
  { id }: Integration,
  shares: readonly Share[],
  { token, used }: { readonly token: string; readonly used: ReadonlySet<string> },
): string {
  const claims = shares.map(({ claim }) => claim);
  const [{ group = "" } = {}] = claims;
  let key =
    claims.find(({ maybeIn }) => maybeIn)?.maybeIn?.id ??
    conversationId(id, claims.length === 1 ? group : "storm", token);
  while (used.has(key)) key = hash("sha256", key).slice(0, 16);
  return key;
}

const RESOLVE = { action: "resolve", firing: [], resolved: [] } as const;

/** Pages that messages of unknown outcome may have begun: what they were about is in another. */
function unsureKeys(shares: readonly Share[]): string[] {
  return [
    ...new Set(
      shares.flatMap(({ claim: { maybeIn } }) => (maybeIn?.groups === undefined ? maybeIn?.id : undefined) ?? []),
    ),
  ];
}

/** True where other groups may be in a page, by a message of unknown outcome. */
function isShared(shares: readonly Share[], key: string): boolean {
  const sharing = shares.filter(({ claim: { conversation, maybeIn } }) => {
    return conversation ? conversation.id === key && conversation.handle === undefined : maybeIn?.id === key;
  });
  return Math.max(0, ...sharing.map(({ claim }) => claim.sharing ?? 0)) > sharing.length;
}

/** The page that a group keeps: the one that it shares, until none of its alerts is in that; and that it has any. */
export function keptOfPages(
  { claim, decision }: Share,
  now: Instant,
  posted: PostedConversation | undefined,
): Pick<Settlement, "conversation" | "shown"> {
  const { maybeIn, conversation: known = maybeIn, shown } = claim;
  const isUnsure = decision.suppressedState.maybeNotified.length > 0;
  const isOver = isOverAfter(claim, decision);
  if (!posted?.paging) {
    return isOver && !isUnsure && (known ?? shown) ? { conversation: "" } : {};
  }
  const firing = decision.notify === undefined ? [] : decision.firing;
  const standing = standingAlerts(claim);
  const { pages } = posted.paging;
  const keys = new Set([...firing, ...standing].map(({ id }) => pages.get(id)?.key));
  const { id, openedAt, groups, handle } = posted;
  const [any] = keys;
  const begun = [{ id, openedAt, groups, handle }, ...(any ? [{ id: any, openedAt: now, handle: any }] : [])];
  const isIn = (one: Conversation) => keys.has(one.id) || (isUnsure && one === known);
  const kept = [...(known ? [known] : []), ...begun].find(isIn);
  if (!kept) return { conversation: "" };
  return {
    conversation: JSON.stringify(kept),
    ...(kept.groups === undefined && { shown: shownAt(presentOf(firing, standing), now) }),
  };
}
