/**
 * Which of the groups that are due at once are told together. When more have something to say than their route wants
 * told one by one, they become one summary; what each of them says, and what is written down of it, stays its own.
 */
import type { GroupDecision } from "./needs-update.ts";
import type { NotifiedAlert, NotifyReason } from "./notification.ts";

export type Saying = Extract<GroupDecision, { say: NotifyReason }>;
export type Quiet = Exclude<GroupDecision, Saying>;

/** A decided group; it joins a summary when more than `stormGroups` say something, never where that is undefined. */
export interface Decided<D extends GroupDecision = GroupDecision> {
  readonly claim: { readonly stormGroups: number | undefined };
  readonly decision: D;
}

export interface Turn<Say, Hush> {
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
): Turn<{ claim: C; decision: Saying }, { claim: C; decision: Quiet }> {
  const quiet: { claim: C; decision: Quiet }[] = [];
  const saying: { claim: C; decision: Saying }[] = [];
  for (const { claim, decision } of decided) {
    if (decision.say === undefined) quiet.push({ claim, decision });
    else saying.push({ claim, decision });
  }
  const count = Math.max(due, decided.length) - quiet.length;
  const joins = ({ claim: { stormGroups } }: { claim: C }) =>
    stormGroups !== undefined && stormGroups < count;
  const now = saying.length > 1 ? saying.filter(joins) : [];
  if (now.length === 0) return { quiet, now: saying.slice(0, 1), later: saying.slice(1) };
  return { quiet, now, later: saying.filter((one) => !joins(one)) };
}

/** What one message about all of them says: every alert once, though several routes may have brought it here. */
export function joinSayings(
  sayings: readonly Saying[],
): Pick<Saying, "say" | "firing" | "resolved" | "start"> {
  const [only] = sayings;
  if (only && sayings.length === 1) return only;
  const firing = distinct(sayings.flatMap((one) => one.firing));
  const resolved = distinct(sayings.flatMap((one) => one.resolved));
  return { say: reasonOf(sayings), firing, resolved };
}

function distinct(alerts: readonly NotifiedAlert[]): NotifiedAlert[] {
  const byId = new Map(alerts.map((alert) => [alert.id, alert]));
  return [...byId.values()].sort((a, b) => a.startsAt - b.startsAt || (a.id < b.id ? -1 : 1));
}

/** News before ends before reminders; `first` only where nothing of it was told before. */
function reasonOf(sayings: readonly Saying[]): NotifyReason {
  const reasons = new Set(sayings.map(({ say }) => say));
  if (reasons.has("more") || (reasons.has("first") && reasons.size > 1)) return "more";
  return (
    (["first", "resolved", "reminder", "resend"] as const).find((reason) => reasons.has(reason)) ?? "more"
  );
}
