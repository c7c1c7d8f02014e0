/** The pages of a pager in a message, and what each of its groups keeps of them. */
import { conversationId, isOverAfter, presentOf, shownAt, standingAlerts } from "../alerting/conversation.ts";
import type { Conversation, ConversationNow, NotifiedEntry } from "../alerting/model.ts";
import { keysIn, keysOf, pagingOf } from "../alerting/pages.ts";
import type { Instant } from "../lib/clock.ts";
import type { Settlement } from "../store/groups.ts";
import { conversationOf, hasRoots, type Moment } from "./converse.ts";
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
  if (!talk?.isOver || !hasRoots(integration)) return talk;
  // The root says all of it, also where the one that said the rest is gone.
  const before = conversationOf(integration, shares, { ...at, isAnew: false });
  const { id } = before?.isOver ? before : talk;
  const ends = content.resolved.map((alert) => alert.id);
  return { ...talk, whole: await deps.conversations.whole(integration.id, id, ends) };
}

/**
 * The page has a key that is the same when it is sent again; with what others become. Pages that messages of unknown outcome
 * may have begun are resolved once what they were about is in another.
 */
async function pageOf(
  { deps, integration }: Pick<DeliveryRun, "deps" | "integration">,
  shares: readonly Share[],
  content: Content,
  { token, now }: Moment,
): Promise<ConversationNow> {
  const used = keysIn(content);
  const unsure = unsureKeys(shares, content);
  const here = new Set([...content.firing, ...content.resolved, ...content.standing].map((alert) => alert.id));
  const asked = new Set([...used, ...unsure]);
  const entries = asked.size > 0 ? await deps.groups.paged(integration.id, asked) : [];
  const others = new Map<string, NotifiedEntry[]>();
  for (const entry of entries)
    for (const key of here.has(entry.alert.id) ? [] : keysOf(entry))
      others.set(key, [...(others.get(key) ?? []), entry]);
  // Nobody is called by an incident that may be acknowledged.
  const mayRing = (key: string) => !used.has(key) && !others.get(key)?.some(({ page }) => page?.isAcknowledged);
  const [group = "", ...more] = shares.map(({ claim }) => claim.group);
  const id = unsure.find(mayRing) ?? conversationId(integration.id, more.length === 0 ? group : "storm", token);
  const paging = pagingOf({ ...content, reason: content.notify }, id, (key) => {
    // An alert that may be in it, and is not sent, is suppressed.
    const isAcknowledged = others.get(key)?.every(({ page }) => !page || page.isAcknowledged);
    return others.has(key) ? { ...(isAcknowledged && { isAcknowledged }) } : undefined;
  });
  const left = unsure.filter((key) => key !== id && !used.has(key) && !others.has(key));
  const changes = [...paging.changes, ...left.map((key) => ({ ...RESOLVE, key }))];
  const groups = shares.length > 1 ? { groups: shares.length } : {};
  const isOver = content.firing.length + content.standing.length === 0;
  return { id, openedAt: now, ...groups, isOver, paging: { ...paging, changes } };
}

const RESOLVE = { action: "resolve", firing: [], resolved: [] } as const;

/** The keys of pages that messages of unknown outcome may have begun for what this message is about. */
function unsureKeys(shares: readonly Share[], { firing, resolved }: Content): string[] {
  const entries = [...firing, ...resolved].flatMap(({ id }) =>
    shares.flatMap(({ claim }) => claim.unsure.get(id) ?? []),
  );
  return [...new Set(entries.flatMap(keysOf))];
}

/** The page that a group keeps: the one that it shares, until none of its alerts is in that; and that it has any. */
export function keptOfPages(
  { claim, decision }: Share,
  now: Instant,
  posted: PostedConversation | undefined,
): Pick<Settlement, "conversation" | "shown"> {
  const { conversation: known, shown } = claim;
  if (!posted?.paging) return isOverAfter(claim, decision) && (known ?? shown) ? { conversation: "" } : {};
  const firing = decision.notify === undefined ? [] : decision.firing;
  const standing = standingAlerts(claim);
  const { pages } = posted.paging;
  const keys = new Set([...firing, ...standing].map(({ id }) => pages.get(id)?.key));
  const { id, openedAt, groups, handle } = posted;
  const [any] = keys;
  const begun = [{ id, openedAt, groups, handle }, ...(any ? [{ id: any, openedAt: now, handle: any }] : [])];
  const kept = [...(known ? [known] : []), ...begun].find((one: Conversation) => keys.has(one.id));
  if (!kept) return { conversation: "" };
  return {
    conversation: JSON.stringify(kept),
    ...(kept.groups === undefined && { shown: shownAt(presentOf(firing, standing), now) }),
  };
}
