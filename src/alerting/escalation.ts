/**
 * Escalation: a group is also sent to a receiver of its route's `escalate` once one of its alerts was unattended for long
 * enough. Until then its alerts are suppressed there. Time in which something else suppresses an alert does not count.
 */
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { EscalationClock, NotificationLogEntry, Suppression } from "./model.ts";
import { isNotified } from "./notification-log.ts";

interface EscalationView {
  readonly now: Instant;
  readonly group: string;
  readonly afterMs: number;
  readonly alerts: readonly Alert[];
  /** The notification log of this integration. */
  readonly log: ReadonlyMap<string, NotificationLogEntry>;
  /** The time at which the alert was first notified at the route's own receiver, else when it was due there. */
  startOf(alert: Alert): Instant;
  /** The other suppression of the alert. */
  suppressionOf(alert: Alert): Suppression | undefined;
}

/** The suppressions to add, by episode, and the clocks to store; `isReached`: something may have been sent. Pure. */
export function escalationOf(view: EscalationView) {
  const { now, afterMs } = view;
  const counting = view.alerts.map((alert) => ({ alert, clock: clockOf(alert, view) }));
  const firing = counting.filter(({ alert }) => alert.state === "firing");
  const due = firing.flatMap(({ clock }) => ("from" in clock ? clock.from + afterMs : []));
  const until = due.length > 0 ? Math.min(...due) : undefined;
  const isTaken = firing.some(({ alert: { id } }) => {
    const entry = view.log.get(id);
    return isNotified(entry) && !entry.unsure && entry.groupId === view.group;
  });
  const isReached = isTaken || counting.some(({ alert, clock }) => countedAt(clock, endOf(alert, now)) >= afterMs);
  const waits = ({ state }: Alert) => (state === "firing" ? !isTaken && !(until && until <= now) : !isReached);
  const suppression: Suppression = { reason: "escalation", by: "escalate", ...(until && { until }) };
  const waiting = view.alerts.filter((alert) => waits(alert) && !view.suppressionOf(alert));
  const stopped = firing.filter(({ alert, clock }) => "countedMs" in clock || view.log.get(alert.id)?.clock);
  const clocks = new Map(stopped.map(({ alert, clock }) => [alert.id, clock]));
  return { suppressed: new Map(waiting.map(({ id }) => [id, suppression])), clocks, isReached };
}

function clockOf(alert: Alert, view: EscalationView): EscalationClock {
  const { now } = view;
  const known = view.log.get(alert.id)?.clock;
  if (alert.state === "resolved" && known) return known;
  const suppression = alert.state === "firing" ? view.suppressionOf(alert) : undefined;
  if (known && "countedMs" in known) return suppression ? known : { from: now - known.countedMs };
  const from = Math.min(now, Math.max(known?.from ?? 0, view.startOf(alert)));
  if (!suppression) return { from };
  return { countedMs: countedAt({ from }, Math.min(now, suppression.since ?? now)) };
}

function countedAt(clock: EscalationClock, at: Instant): number {
  return "countedMs" in clock ? clock.countedMs : Math.max(0, at - clock.from);
}

function endOf({ state, endsAt, updatedAt }: Alert, now: Instant): Instant {
  return state === "firing" ? now : (endsAt ?? updatedAt);
}
