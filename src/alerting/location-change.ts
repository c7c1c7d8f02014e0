/** What an ended alert of an offline location leaves: its recordings that are offline are no news. Pure. */
import type { Alert } from "../health/alert.ts";
import type { Instant } from "../lib/clock.ts";
import type { GroupView } from "./needs-update.ts";
import type { NotificationLogEntry, NotifiedAlert } from "./notification.ts";

/**
 * The alerts of a message, with what changed since the location's alert was last notified: recordings that it counted
 * then are `isCovered`, and the alert itself has how many of them are still offline and how many recovered.
 */
export function withLocationChange(
  alerts: readonly NotifiedAlert[],
  { alerts: members, notified }: GroupView,
): NotifiedAlert[] {
  const ended = new Map(alerts.filter(isEnded).map((alert) => [alert.subject.id, notified.get(alert.id)?.notifiedAt]));
  if (ended.size === 0) return [...alerts];
  const here = Map.groupBy(members, ({ labels, subject }) => labels.location_id ?? subject.id);
  return alerts.map((alert) => {
    if (isEnded(alert)) return withChange(alert, here.get(alert.subject.id) ?? [], notified.get(alert.id));
    const countedAt = isOutage(alert) ? ended.get(alert.labels.location_id ?? "") : undefined;
    return alert.startsAt <= (countedAt ?? 0) ? { ...alert, isNew: false, isCovered: true } : alert;
  });
}

function isEnded({ facts, state, endReason, isNew }: NotifiedAlert): boolean {
  return facts.problem === "location_offline" && state === "resolved" && endReason === "recovered" && !isNew;
}

function isOutage({ facts, subject }: Alert): boolean {
  return facts.problem === "offline" && subject.kind === "recording";
}

/** The count of its last evaluation, and what its recordings did since. None recovered where it is offline again. */
function withChange(location: NotifiedAlert, here: readonly Alert[], entry?: NotificationLogEntry): NotifiedAlert {
  const of = entry?.alert.facts.offline;
  if (!entry || of === undefined) return location;
  const firing = here.filter(({ state, facts }) => state === "firing" && !facts.clearing);
  if (firing.some(({ facts }) => facts.problem === "location_offline"))
    return { ...location, change: { recovered: 0, of } };
  const countOf = (some: readonly Alert[]) => new Set(some.filter(isOutage).map(({ subject }) => subject.id)).size;
  const back = here.filter(({ state, updatedAt }) => state === "resolved" && updatedAt > location.updatedAt);
  const begunAfter = (at: Instant) => countOf(firing.filter(({ startsAt }) => startsAt > at));
  const counted = (location.facts.offline ?? 0) - countOf(back) + begunAfter(location.updatedAt);
  const offline = Math.max(countOf(firing), counted);
  const recovered = Math.max(0, of + begunAfter(entry.notifiedAt) - offline);
  return { ...location, facts: { ...location.facts, offline }, change: { recovered, of } };
}
