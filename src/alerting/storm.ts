/** Which of the groups due at once become one summary; what is stored for each of them stays its own. */

import type { Conversation, GroupDecision, NotifiedAlert, NotifyReason, Suppressions } from "./model.ts";
import { byStart, partition } from "./needs-update.ts";

export type SendDecision = Extract<GroupDecision, { notify: NotifyReason }>;
export type SkipDecision = Exclude<GroupDecision, SendDecision>;

/**
 * A group joins a summary when more than `stormGroups` are to be sent, never where that is undefined; with `gathersEnds`,
 * ends join with any number. `due` counts all groups due at the integration; those not given here are taken to have
 * something to send. Gives those with nothing to send (`skipped`), those of one message `now`, and those to be sent after
 * it (`later`), as those of which not all silences were asked. Groups that share a conversation are one message only with
 * each other; an edit, and a group whose own first message was found in the channel, are by themselves.
 */
export function decideStorm<C extends Stormy>(
  decided: readonly { readonly claim: C; readonly decision: GroupDecision }[],
  due: number,
  gathersEnds = false,
) {
  const skipped = decided.flatMap(({ claim, decision }) => (decision.notify ? [] : [{ claim, decision }]));
  const all = decided.flatMap(({ claim, decision }) => (decision.notify ? [{ claim, decision }] : []));
  const [toSend, unmatched] = partition(all, ({ claim }) => !claim.suppressions?.isUnmatched);
  const count = Math.max(due, decided.length) - skipped.length;
  const joins = ({ claim: { stormGroups }, decision: { notify } }: (typeof toSend)[number]) =>
    notify !== "update" && stormGroups !== undefined && (stormGroups < count || (gathersEnds && notify === "resolved"));
  const parts = Map.groupBy(toSend.length > 1 ? toSend.filter(joins) : [], ({ claim }) => sharedId(claim));
  const [now, ...others] = [...parts.values()].sort((a, b) => b.length - a.length);
  if (!now) return { skipped, now: toSend.slice(0, 1), later: [...toSend.slice(1), ...unmatched], isAll: true };
  const joined = new Set(now);
  return { skipped, now, later: all.filter((one) => !joined.has(one)), isAll: others.length === 0 };
}

type Stormy = {
  readonly stormGroups: number | undefined;
  readonly conversation?: Conversation | undefined;
  readonly recovered?: object | undefined;
  readonly suppressions?: Suppressions | undefined;
};

function sharedId({ conversation, recovered }: Stormy): string {
  return conversation && (conversation.groups !== undefined || recovered) ? conversation.id : "";
}

/** One message of several groups: every alert once, though several routes may lead it here. */
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
  return [...new Map(alerts.map((alert) => [alert.id, alert])).values()].sort(byStart);
}

/** News before ends before reminders before questions; `first` only where no group was notified before. */
function reasonOf(decisions: readonly SendDecision[]): NotifyReason {
  const reasons = new Set(decisions.map(({ notify }) => notify));
  if (reasons.has("more") || (reasons.has("first") && reasons.size > 1)) return "more";
  return (
    (["first", "resolved", "reminder", "question", "resend"] as const).find((reason) => reasons.has(reason)) ?? "more"
  );
}
