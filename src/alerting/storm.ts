/**
 * Which of the groups that are due at once are told together. When more have something to say than their route wants
 * told one by one, they become one summary; what each of them says, and what is written down of it, stays its own.
 */
import type { GroupDecision } from "./needs-update.ts";
import type { NotifiedAlert, NotifyReason } from "./notification.ts";

export type SendDecision = Extract<GroupDecision, { notify: NotifyReason }>;
export type SkipDecision = Exclude<GroupDecision, SendDecision>;

/** A decided group; it joins a summary when more than `stormGroups` say something, never where that is undefined. */
export interface Decided<D extends GroupDecision = GroupDecision> {
  readonly claim: { readonly stormGroups: number | undefined };
  readonly decision: D;
}

export interface Batch<Say, Hush> {
  /** Nothing to say now. */
  readonly quiet: readonly Hush[];
  /** Said now, in one message; empty where nobody has anything to say. */
  readonly now: readonly Say[];
  /** To be said by messages of their own, after this one. */
  readonly later: readonly Say[];
}

/** `due` counts all groups due at the integration; those not given here are taken to have something to say. */
export function decideStorm<C extends Decided["claim"]>(
  decided: readonly { readonly claim: C; readonly decision: GroupDecision }[],
  due: number,
): Batch<{ claim: C; decision: SendDecision }, { claim: C; decision: SkipDecision }> {
  const quiet: { claim: C; decision: SkipDecision }[] = [];
  const toSend: { claim: C; decision: SendDecision }[] = [];
  for (const { claim, decision } of decided) {
    if (decision.notify === undefined) quiet.push({ claim, decision });
    else toSend.push({ claim, decision });
  }
  const count = Math.max(due, decided.length) - quiet.length;
  const joins = ({ claim: { stormGroups } }: { claim: C }) =>
    stormGroups !== undefined && stormGroups < count;
  const now = toSend.length > 1 ? toSend.filter(joins) : [];
  if (now.length === 0) return { quiet, now: toSend.slice(0, 1), later: toSend.slice(1) };
  return { quiet, now, later: toSend.filter((one) => !joins(one)) };
}

/** What one message about all of them says: every alert once, though several routes may have brought it here. */
export function joinDecisions(
  decisions: readonly SendDecision[],
): Pick<SendDecision, "notify" | "firing" | "resolved" | "start"> {
  const [only] = decisions;
  if (only && decisions.length === 1) return only;
  const firing = distinct(decisions.flatMap((one) => one.firing));
  const resolved = distinct(decisions.flatMap((one) => one.resolved));
  return { notify: reasonOf(decisions), firing, resolved };
}

function distinct(alerts: readonly NotifiedAlert[]): NotifiedAlert[] {
  const byId = new Map(alerts.map((alert) => [alert.id, alert]));
  return [...byId.values()].sort((a, b) => a.startsAt - b.startsAt || (a.id < b.id ? -1 : 1));
}

/** News before ends before reminders; `first` only where nothing of it was told before. */
function reasonOf(decisions: readonly SendDecision[]): NotifyReason {
  const reasons = new Set(decisions.map(({ notify }) => notify));
  if (reasons.has("more") || (reasons.has("first") && reasons.size > 1)) return "more";
  return (
    (["first", "resolved", "reminder", "resend"] as const).find((reason) => reasons.has(reason)) ?? "more"
  );
}
