/**
 * Is there something to say to one integration about one group, and why (Alertmanager's needsUpdate, with the
 * resolve contract: who was told of a problem is told its end, exactly once; who was not, is not). What is held is
 * not told as firing and not reminded of; only mute times hold an end, until they are over.
 */
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { fingerprint } from "./fingerprint.ts";
import type { NotifiedAlert, NotifyReason, StartFacts } from "./notification.ts";
import type { Told } from "./notification-log.ts";
import { type Hold, type Holds, holdReasons } from "./suppression.ts";

export interface GroupView {
  readonly now: Instant;
  readonly repeatIntervalMs: number;
  readonly sendResolved: boolean;
  /** When the group first became due and could not be served; undefined if it is not waiting. */
  readonly dueSince: Instant | undefined;
  /** Member episodes, as they are now. */
  readonly alerts: readonly Alert[];
  /** What was told as firing of these members, by alert id; one without a member has lost its record. */
  readonly told: ReadonlyMap<string, Told>;
  /** Undefined: nothing is held. */
  readonly holds?: Holds | undefined;
}

export type GroupDecision = (
  | {
      readonly say: NotifyReason;
      /** Longest first. */
      readonly firing: NotifiedAlert[];
      readonly resolved: NotifiedAlert[];
      /** Of `started` alone. */
      readonly start?: StartFacts;
    }
  | { readonly say: undefined; readonly why: QuietReason }
) & {
  /** Episodes that leave the group, once the message is sent where there is one. */
  readonly settled: string[];
  /** When to look again, for a reminder or at what is held; undefined: when something changes. */
  readonly nextAt: Instant | undefined;
  readonly kept: Kept;
};

/** What is held back in the group. */
export interface Kept {
  /** Each holder once: when it ends, the group is looked at again at once. */
  readonly by: readonly Hold[];
  /** Episodes that fire, were never told, and would be now. */
  readonly untold: readonly string[];
  /** Episodes, over or not, not known to be told, of which a message may have got out. */
  readonly maybeTold: readonly string[];
  /** When the clock ends a hold on one of those: from then on they are late. */
  readonly lateFrom: Instant | undefined;
}

/** Why nothing is said. */
export const quietReasons = [
  "nothing_new",
  "empty",
  "resolved_before_told",
  "send_resolved_off",
  ...holdReasons,
] as const;
export type QuietReason = (typeof quietReasons)[number];

/** Decides purely; the caller sends, and only then writes down what was told and what is settled. */
export function decideGroup(view: GroupView): GroupDecision {
  const all = view.alerts.filter((alert) => alert.state === "firing").sort(byStart);
  const [firing, held] = partition(all, (alert) => holdOf(alert, view) === undefined);
  const ends = sortEnds(view);
  const resolved = view.sendResolved ? ends.owed : [];
  const settled = [...ends.owed, ...ends.dropped].map(({ id }) => id);
  const kept = keptOf(held, ends, view);
  const say = reasonToSay(view, firing, resolved);
  const lookAt = kept.by.length > 0 || ends.waiting.length > 0 ? lookAgainAt(kept.by, view) : undefined;
  if (say) {
    const remindAt = firing.length > 0 ? view.now + view.repeatIntervalMs : undefined;
    return {
      say,
      firing: firing.map((alert) => notified(alert, view)),
      resolved: resolved.map((alert) => notified(alert, view)),
      settled,
      nextAt: earliest(remindAt, lookAt),
      kept,
    };
  }
  const why = reasonToHold(held, ends, view) ?? reasonNotTo(all, ends);
  return { say, why, settled, nextAt: earliest(reminderAt(view, firing), lookAt), kept };
}

function holdOf({ id }: Alert, { holds }: GroupView): Hold | undefined {
  return holds?.muted ?? holds?.held.get(id);
}

interface Ends {
  /** Told as firing, or only untold because the message was late. */
  readonly owed: Alert[];
  /** Over before anybody should have heard of them. */
  readonly dropped: Alert[];
  /** Told as firing, and held by a mute time. */
  readonly waiting: Alert[];
}

function sortEnds(view: GroupView): Ends {
  const { told, holds, now } = view;
  const members = new Set(view.alerts.map(({ id }) => id));
  const [owed, dropped] = partition(
    view.alerts.filter(({ state }) => state === "resolved"),
    (alert) => isOwed(alert, view),
  );
  for (const [id, { alert }] of told) if (!members.has(id)) owed.push(expired(alert, now));
  owed.sort(byStart);
  return holds?.muted ? { owed: [], dropped, waiting: owed } : { owed, dropped, waiting: [] };
}

/**
 * The state turned at `updatedAt`; `endsAt` is when the problem itself was over, `keep_firing_for` earlier. What was
 * held is owed only when it outlasted its hold: then the group was due before the end.
 */
function isOwed(alert: Alert, view: GroupView): boolean {
  const { told, dueSince, holds } = view;
  if (told.has(alert.id) || holds?.maybeTold.has(alert.id)) return true;
  if (dueSince === undefined || holdOf(alert, view)) return false;
  const over = Math.max(alert.endsAt ?? 0, alert.updatedAt);
  return holds?.heldBefore.has(alert.id) ? over > dueSince : over >= dueSince;
}

function expired(alert: Alert, now: Instant): Alert {
  return { ...alert, state: "resolved", updatedAt: now, endsAt: now, endReason: "expired" };
}

function keptOf(held: readonly Alert[], { waiting }: Ends, view: GroupView): Kept {
  const by = new Map<string, Hold>();
  for (const alert of held) {
    const hold = holdOf(alert, view);
    if (hold) by.set(`${hold.reason} ${hold.by}`, hold);
  }
  const untold = held.filter(({ id }) => !view.told.has(id));
  const isMaybeTold = ({ id }: Alert) => view.holds?.maybeTold.has(id);
  return {
    by: [...by.values()],
    untold: untold.map(({ id }) => id),
    maybeTold: [...untold, ...waiting].filter(isMaybeTold).map(({ id }) => id),
    lateFrom: earliest(...untold.map((alert) => holdOf(alert, view)?.until)),
  };
}

/** Every `lookEveryMs`, and when a hold ends by the clock. */
function lookAgainAt(by: readonly Hold[], { now, holds }: GroupView): Instant | undefined {
  if (!holds) return undefined;
  const ends = [holds.muted, ...by].flatMap((hold) => (hold?.until === undefined ? [] : [hold.until]));
  return Math.min(now + holds.lookEveryMs, ...ends);
}

function reasonToSay(
  view: GroupView,
  firing: readonly Alert[],
  resolved: readonly Alert[],
): NotifyReason | undefined {
  if (firing.some(({ id }) => !view.told.has(id))) return view.told.size === 0 ? "first" : "more";
  if (resolved.length > 0) return "resolved";
  const dueAt = reminderAt(view, firing);
  return dueAt !== undefined && view.now >= dueAt ? "reminder" : undefined;
}

/** Counted from the last message that said something fires: it named every member. */
function reminderAt(view: GroupView, firing: readonly Alert[]): Instant | undefined {
  let toldAt: Instant | undefined;
  for (const { id } of firing) {
    const at = view.told.get(id)?.toldAt;
    if (at !== undefined && (toldAt === undefined || at > toldAt)) toldAt = at;
  }
  return toldAt === undefined ? undefined : toldAt + view.repeatIntervalMs;
}

/** The hold without which there would be something to say. */
function reasonToHold(held: readonly Alert[], ends: Ends, view: GroupView): QuietReason | undefined {
  if (ends.waiting.length > 0) return "muted";
  const wouldSay = held.filter(({ id }) => {
    const toldAt = view.told.get(id)?.toldAt;
    return toldAt === undefined || view.now >= toldAt + view.repeatIntervalMs;
  });
  const reasons = wouldSay.map((alert) => holdOf(alert, view)?.reason);
  return holdReasons.find((reason) => reasons.includes(reason));
}

function reasonNotTo(firing: readonly Alert[], { owed, dropped }: Ends): QuietReason {
  if (owed.length > 0) return "send_resolved_off";
  if (dropped.length > 0) return "resolved_before_told";
  return firing.length > 0 ? "nothing_new" : "empty";
}

/** An alert as a message has it. */
export function notified(alert: Alert, { told, holds }: Pick<GroupView, "told" | "holds">): NotifiedAlert {
  const standsFor = alert.state === "firing" ? holds?.standsFor.get(alert.id) : undefined;
  return {
    ...alert,
    fingerprint: fingerprint(alert.labels),
    isNew: !told.has(alert.id),
    ...(standsFor ? { standsFor } : {}),
  };
}

function partition<T>(all: readonly T[], fits: (one: T) => boolean): [T[], T[]] {
  const [yes, no]: [T[], T[]] = [[], []];
  for (const one of all) (fits(one) ? yes : no).push(one);
  return [yes, no];
}

function earliest(...instants: (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Longest first. */
export function byStart(a: Alert, b: Alert): number {
  return a.startsAt - b.startsAt || a.firedAt - b.firedAt || (a.id < b.id ? -1 : 1);
}
