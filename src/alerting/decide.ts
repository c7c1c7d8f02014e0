/**
 * Is there something to say to one integration about one group, and why (Alertmanager's needsUpdate, with the
 * resolve contract: who was told of a problem is told its end, exactly once; who was not, is not).
 */
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import { fingerprint } from "./fingerprint.ts";
import type { NotifiedAlert, NotifyReason } from "./notification.ts";
import type { Told } from "./told.ts";

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
}

export type GroupDecision =
  | {
      readonly say: NotifyReason;
      /** Longest first. */
      readonly firing: NotifiedAlert[];
      readonly resolved: NotifiedAlert[];
      /** Episodes that leave the group once this is sent. */
      readonly settled: string[];
    }
  | {
      readonly say: undefined;
      readonly why: SilenceReason;
      /** Episodes that leave the group now. */
      readonly settled: string[];
      /** When to look again for a reminder; undefined while nothing fires. */
      readonly nextAt: Instant | undefined;
    };

/** Why nothing is said. */
export type SilenceReason = "nothing_new" | "empty" | "resolved_before_told" | "send_resolved_off";

/** Decides purely; the caller sends, and only then writes down what was told and what is settled. */
export function decideGroup(view: GroupView): GroupDecision {
  const firing = view.alerts.filter((alert) => alert.state === "firing").sort(byStart);
  const ends = sortEnds(view);
  const resolved = view.sendResolved ? ends.owed : [];
  const settled = [...ends.owed, ...ends.dropped].map(({ id }) => id);
  const say = reasonToSay(view, firing, resolved);
  if (say) {
    return {
      say,
      firing: firing.map((alert) => notified(alert, view)),
      resolved: resolved.map((alert) => notified(alert, view)),
      settled,
    };
  }
  return { say, why: reasonNotTo(firing, ends), settled, nextAt: reminderAt(view, firing) };
}

interface Ends {
  /** Told as firing, or only untold because the message was late. */
  readonly owed: Alert[];
  /** Over before anybody should have heard of them. */
  readonly dropped: Alert[];
}

function sortEnds(view: GroupView): Ends {
  const owed: Alert[] = [];
  const dropped: Alert[] = [];
  const members = new Set<string>();
  for (const alert of view.alerts) {
    members.add(alert.id);
    if (alert.state === "resolved") (isOwed(alert, view) ? owed : dropped).push(alert);
  }
  for (const [id, { alert }] of view.told) if (!members.has(id)) owed.push(expired(alert, view.now));
  return { owed: owed.sort(byStart), dropped };
}

/** The state turned at `updatedAt`; `endsAt` is when the problem itself was over, `keep_firing_for` earlier. */
function isOwed(alert: Alert, { told, dueSince }: GroupView): boolean {
  if (told.has(alert.id)) return true;
  return dueSince !== undefined && Math.max(alert.endsAt ?? 0, alert.updatedAt) >= dueSince;
}

function expired(alert: Alert, now: Instant): Alert {
  return { ...alert, state: "resolved", updatedAt: now, endsAt: now, endReason: "expired" };
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

function reasonNotTo(firing: readonly Alert[], { owed, dropped }: Ends): SilenceReason {
  if (owed.length > 0) return "send_resolved_off";
  if (dropped.length > 0) return "resolved_before_told";
  return firing.length > 0 ? "nothing_new" : "empty";
}

function notified(alert: Alert, { told }: GroupView): NotifiedAlert {
  return { ...alert, fingerprint: fingerprint(alert.labels), isNew: !told.has(alert.id) };
}

function byStart(a: Alert, b: Alert): number {
  return a.startsAt - b.startsAt || a.firedAt - b.firedAt || (a.id < b.id ? -1 : 1);
}
