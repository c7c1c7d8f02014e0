/** What an ended alert of an offline location leaves: its recordings that are offline are no news. Pure. */
import type { Alert } from "../health/alert.ts";
import type { GroupView } from "./needs-update.ts";
import type { NotifiedAlert } from "./notification.ts";

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
  const outages = Map.groupBy(members.filter(isOutage), ({ labels }) => labels.location_id ?? "");
  const again = new Set(
    alerts.filter((alert) => isLocation(alert) && alert.state === "firing").map(({ subject }) => subject.id),
  );
  return alerts.map((alert) => {
    const { id } = alert.subject;
    if (isEnded(alert)) return withChange(alert, again.has(id) ? undefined : (outages.get(id) ?? []), notified);
    const countedAt = isOutage(alert) ? ended.get(alert.labels.location_id ?? "") : undefined;
    return alert.startsAt <= (countedAt ?? 0) ? { ...alert, isNew: false, isCovered: true } : alert;
  });
}

function isLocation({ facts }: Alert): boolean {
  return facts.problem === "location_offline";
}

function isEnded(alert: NotifiedAlert): boolean {
  const { state, endReason, isNew } = alert;
  return isLocation(alert) && state === "resolved" && endReason === "recovered" && !isNew;
}

function isOutage({ facts, subject }: Alert): boolean {
  return facts.problem === "offline" && subject.kind === "recording";
}

/** The count of its last evaluation, and what its recordings did since then. Nothing where the location is offline again. */
function withChange(
  location: NotifiedAlert,
  outages: readonly Alert[] | undefined,
  notified: GroupView["notified"],
): NotifiedAlert {
  const entry = notified.get(location.id);
  const of = entry?.alert.facts.offline;
  if (!entry || of === undefined) return location;
  if (!outages) return { ...location, change: { recovered: 0, of } };
  const countOf = (is: (alert: Alert) => boolean) => new Set(outages.filter(is).map(({ subject }) => subject.id)).size;
  const isFiring = ({ state }: Alert) => state === "firing";
  const recoveredSince = countOf((alert) => !isFiring(alert) && alert.updatedAt > location.updatedAt);
  const begunSince = countOf((alert) => isFiring(alert) && alert.startsAt > location.updatedAt);
  const counted = (location.facts.offline ?? 0) - recoveredSince + begunSince;
  const offline = Math.max(countOf(isFiring), counted);
  const begun = countOf((alert) => isFiring(alert) && alert.startsAt > entry.notifiedAt);
  const recovered = Math.max(0, of - Math.max(0, offline - begun));
  return { ...location, facts: { ...location.facts, offline }, change: { recovered, of } };
}
