/** The conversation of a message, and what each of its groups keeps of it. Pure. */
import { coldStartGroup } from "../alerting/cold-start.ts";
import {
  conversationId,
  hasFiring,
  isOverAfter,
  presentOf,
  shownAt,
  standingAlerts,
  UPDATE_EVERY_MS,
} from "../alerting/conversation.ts";
import type { Conversation, ConversationNow } from "../alerting/model.ts";
import type { Integration } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import type { Claimed, Settlement } from "../store/groups.ts";
import type { ClaimedGroup, PostedConversation, Share } from "./model.ts";

/** The most ends kept for an edit that is still to be made. */
export const MOST_ENDED = 20;

const NONE: PostedConversation = { id: "", openedAt: 0 };

/** `token`: of the claim. `isAnew`: the root of the one before is gone, and the message begins the next. */
export interface Moment {
  readonly token: string;
  readonly now: Instant;
  readonly isAnew: boolean;
}

/** Undefined where the integration has none. */
export function conversationOf(
  integration: Integration,
  shares: readonly Share[],
  { token, now, isAnew }: Moment,
): ConversationNow | undefined {
  const [first] = shares;
  if (!integration.conversation || !first) return undefined;
  const { claim } = first;
  const isOver = claim.group !== coldStartGroup && shares.every((one) => isOverAfter(one.claim, one.decision));
  const isOne = shares.length === 1;
  const known = isOne ? openOf(claim) : sharedBy(shares);
  if (known && !isAnew) {
    const sharing = shares.filter((one) => openOf(one.claim)?.id === known.id);
    const others = Math.max(0, ...sharing.map((one) => one.claim.sharing ?? 0)) - sharing.length;
    return { ...known, isOver: isOver && others <= 0 };
  }
  const id = conversationId(integration.id, isOne ? claim.group : "storm", token);
  return { id, openedAt: now, ...(isOne ? {} : { groups: shares.length }), isOver };
}

/** True where the first message of a conversation is edited, and says all of it once that is over. */
export function hasRoots({ conversation, isPager }: Integration): boolean {
  return conversation === "edits" && !isPager;
}

/** The conversation that a group has, or that a message of unknown outcome may have begun: another one continues it. */
function openOf({ conversation, unsure }: Claimed): Conversation | undefined {
  return conversation ?? [...unsure.values()].flatMap((entry) => entry.unsure ?? [])[0];
}

/** The one that some of them share, where none has another. */
function sharedBy(shares: readonly Share[]): Conversation | undefined {
  const open = shares.flatMap(({ claim }) => openOf(claim) ?? []);
  const shared = open.find(({ groups }) => groups !== undefined);
  return open.every(({ id }) => id === shared?.id) ? shared : undefined;
}

/** The conversation that the group keeps after a decision; `posted`: that of the accepted message, if one was. */
export function keptOf(
  { claim, decision }: Share,
  { conversation: kind }: Integration,
  now: Instant,
  posted: PostedConversation | undefined,
): Pick<Settlement, "conversation" | "shown"> & { readonly rootAt?: Instant } {
  // One that was opened by another kind of channel in the same place.
  if (!kind) return claim.conversation || claim.shown ? { conversation: "" } : {};
  if (claim.group === coldStartGroup) return {};
  const { conversation: known, recovered } = claim;
  // In a summary, a thread of one group stays its own.
  const isApart = posted?.groups !== undefined && known && known.groups === undefined;
  const source: PostedConversation = (isApart ? known : (posted ?? known)) ?? NONE;
  const { isStale = false, isOver: isAllOver, paging: _, whole: __, ...kept } = source;
  const isOver = isOverAfter(claim, decision);
  if (isOver && !(isStale && isAllOver)) return posted || closesSilently(claim, kind) ? { conversation: "" } : {};
  if (!posted && !(known && recovered)) return {};
  const isUnknown = isStale || !posted;
  const { resolved = [], firing = [] } = decision.notify === undefined ? {} : decision;
  const ended = isOver ? resolved.slice(0, MOST_ENDED) : undefined;
  const hasRoot = kind === "edits" && (kept.groups === undefined || isOver);
  const present = isUnknown ? "unknown" : presentOf(firing, standingAlerts(claim));
  return {
    conversation: JSON.stringify({ ...kept, ended } satisfies Conversation),
    ...(hasRoot && { shown: shownAt(present, now) }),
    ...(hasRoot && isUnknown && { rootAt: now + UPDATE_EVERY_MS }),
  };
}

/** The conversation that was found, whose root may not show the present. */
export function keptOfFound(
  { conversation, ...view }: Pick<Claimed, "conversation" | "alerts" | "notified">,
  kind: Integration["conversation"],
  now: Instant,
): Pick<Settlement, "conversation" | "shown"> & { readonly rootAt?: Instant } {
  const hasRoot = kind === "edits" && (conversation?.groups === undefined || !hasFiring(view));
  return { conversation: JSON.stringify(conversation), ...(hasRoot && { shown: shownAt("unknown", 0), rootAt: now }) };
}

/** Nothing is sent, and no update will say that it is over. */
function closesSilently({ conversation, suppressions, sharing = 1 }: ClaimedGroup, kind: Integration["conversation"]) {
  if (!conversation || suppressions?.muted) return false;
  const isRootOurs = conversation.groups === undefined || sharing <= 1;
  return !(kind === "edits" && conversation.handle && isRootOurs);
}
