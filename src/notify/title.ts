/** A message's first line: what and where, short enough for a lock screen. */
import { areMixed, extentOf, extentPhrase, isOfflineNow, isSharedOutage, namedOnce } from "../alerting/extent.ts";
import type { ColdStartFacts, Notification, NotifiedAlert } from "../alerting/model.ts";
import { groupNouns, groupOfSubject } from "../health/alert.ts";
import { count, counted } from "../lib/format.ts";
import { own } from "../lib/own.ts";
import { capital } from "../lib/text.ts";
import { span } from "../lib/when.ts";
import {
  changeOf,
  endCounts,
  endCountsBeside,
  endTitles,
  isBack,
  isOwnEnd,
  isSteady,
  lastKnown,
  statusCounts,
} from "./ending.ts";
import { clean, locationKey, locationName, NAME_IN_TITLE, plainName, shortName } from "./name.ts";
import { bareState, wordingOf } from "./wording.ts";

type Alerts = readonly NotifiedAlert[];

/** `Entrance offline · Leeds Briggate`, `2 recordings recovered · Leeds Briggate — after 9 m`. */
export function titleOf(notification: Notification): string {
  const { reason, receiver, firing, resolved } = notification;
  if (reason === "test") return `Test message from lenswatch · ${clean(receiver, NAME_IN_TITLE)}`;
  if (reason === "started") return coldStartTitle(notification);
  if (firing.length > 0) return firingTitle(notification);
  return resolved.length > 0 ? endedTitle(notification) : "No active alerts";
}

function coldStartTitle({ firing, start }: Notification): string {
  const isStorm = new Set(firing.map(locationKey)).size > 2;
  const state = firing.length > 0 ? firingPhrase(firing, false, isStorm) : quietPhrase(start);
  return `lenswatch started with an empty store: ${state}`;
}

/** `no active alerts` only where everything has been read and nothing is pending or suppressed. */
function quietPhrase({ complete, unsettled, suppressed }: Partial<ColdStartFacts> = {}): string {
  if (!complete) return "state not known yet";
  if (unsettled) return `alerts pending for ${counted(unsettled, "recording")}`;
  return suppressed ? "all active alerts are suppressed" : "no active alerts";
}

function firingTitle({ reason, firing, resolved, now, groups }: Notification): string {
  const isReminder = reason === "reminder";
  const isStorm = groups !== undefined;
  const added = firing.filter(({ isNew }) => isNew).length;
  const ended = endCountsBeside(firing, resolved).join(", ");
  const { offline } = changeOf(resolved);
  const isMore = offline > firing.filter(({ facts }) => facts.problem === "offline").length;
  const changes = [
    isReminder ? `for ${duration(firing, now)}` : "",
    added > 0 && added < firing.length ? `${count(added)} new` : "",
    ended && `${ended}${isStorm ? atLocations(resolved) : ""}`,
    isMore ? `${count(offline)} still offline` : "",
  ].filter((change) => change !== "");
  const phrase = firingPhrase(firing, isReminder || added === 0, isStorm);
  return `${isReminder ? "Reminder: " : ""}${phrase}${changes.length > 0 ? ` — ${changes.join(", ")}` : ""}`;
}

/** What fires and where. In a storm, and where outages are of several kinds, recordings and locations are counted. */
function firingPhrase(firing: Alerts, still: boolean, isStorm: boolean): string {
  const named = withoutCovered(firing);
  const outages = named.filter((alert) => isSharedOutage(alert) || isOfflineNow(alert));
  if (isStorm || (sizeOf(outages) > 1 && areMixed(firing))) return extentTitle(firing, still);
  const isOne = sizeOf(named) === 1 && named[0]?.subject.kind === "location";
  const isNamed = isOne || firing.filter(({ facts }) => facts.problem === "location_offline").length === 1;
  const [only, ...others] = named;
  const phrase = only && sizeOf(named) === 1 ? onePhrase(only, others, still) : countPhrase(named, still);
  return `${phrase}${where(firing, isNamed)}`;
}

/** `Entrance offline, flapping`: all that is wrong with one subject. */
function onePhrase(first: NotifiedAlert, others: Alerts, still: boolean): string {
  return [...new Set([wordingOf(first).one(first, still), ...others.map(bareState)])].join(", ");
}

/** ` at 50 locations`; empty where no alert has a location. */
function atLocations(alerts: Alerts): string {
  const locations = new Set(alerts.map(locationKey).filter((key) => key !== ""));
  return locations.size === 0 ? "" : ` at ${counted(locations.size, "location")}`;
}

/** `1,000 recordings offline at 50 locations, 2 quality low`: each recording once, whatever alerts it has. */
function extentTitle(firing: Alerts, still: boolean): string {
  const extent = extentPhrase(extentOf(firing), still);
  const others = firing.filter((alert) => !isSharedOutage(alert) && !isOfflineNow(alert));
  const more = others.length === 0 ? "" : countPhrase(others, still && extent === "");
  return extent ? [extent, more].filter((part) => part).join(", ") : `${more}${atLocations(firing)}`;
}

/** Without the recordings that an alert of a wholly offline location or group in the same message covers. */
function withoutCovered(firing: Alerts): Alerts {
  const isPart = (alert: NotifiedAlert) => isSharedOutage(alert) && alert.facts.offline !== alert.facts.of;
  const named = new Set(namedOnce(firing.filter((alert) => !isPart(alert))));
  return firing.filter((alert) => isPart(alert) || named.has(alert));
}

/** `2 recordings offline, 1 quality low`, most severe first; `still` as in `2 recordings still offline`. */
export function countPhrase(alerts: Alerts, still: boolean): string {
  const problems = byWording(alerts).sort((a, b) => severity(b.alerts) - severity(a.alerts));
  const afterRecordings = problems[0]?.wording.short !== undefined;
  return problems
    .map(
      ({ wording, alerts: of }, i) =>
        (i > 0 && afterRecordings && wording.short?.(of.length)) || wording.count(of, still && i === 0),
    )
    .join(", ");
}

function byWording(alerts: Alerts) {
  const groups = Map.groupBy(alerts, (alert) => wordingOf(alert).key).values();
  return groups.map((of) => ({ wording: wordingOf(of[0] as NotifiedAlert), alerts: of })).toArray();
}

function severity(alerts: Alerts): number {
  return Math.max(...alerts.slice(0, 1_000).map(({ labels }) => own(SEVERITIES, labels.severity ?? "") ?? 0));
}

const SEVERITIES: Readonly<Record<string, number>> = { critical: 2, warning: 1 };

function endedTitle({ resolved, now, groups }: Notification): string {
  const reasons = new Set(resolved.map(({ endReason = "expired" }) => endReason));
  const isNamed = sizeOf(resolved) === 1 && resolved.every(({ subject }) => subject.kind === "location");
  const place = groups === undefined ? where(resolved) : stormWhere(resolved);
  const elsewhere = isNamed ? "" : place;
  if (reasons.size > 1) return `Resolved: ${endCounts(resolved).join(", ")}${place}`;
  const [reason = "expired"] = reasons;
  if (reason !== "recovered") return `${subjects(resolved)}${endTitles[reason]}${elsewhere}${lastKnown(resolved)}`;
  const after = `after ${duration(resolved, now)}`;
  const { recovered, of, offline } = changeOf(resolved);
  const isCounted = recovered > 0 && !resolved.some(isOwnEnd);
  if (isCounted && offline > 0)
    return `${count(recovered)} of ${counted(of, "recording")} recovered${place} — ${count(offline)} still offline`;
  if (isCounted && groups !== undefined)
    return `${counted(recovered, "recording")} recovered${atLocations(resolved)} — ${after}`;
  if (resolved.every(isSteady)) return `${steadyPhrase(resolved)}${place} — ${after}`;
  if (resolved.every(({ isNew }) => isNew)) return `${wasPhrase(resolved)}${elsewhere} — recovered ${after}`;
  const own = resolved.filter((alert) => !alert.isCovered);
  const left = stillOffline(resolved);
  return `${subjects(own)}${left && " partly"} recovered${elsewhere} — ${after}${left}${notBack(resolved)}`;
}

/** `Entrance steady again, online`, `Steady again: 2 recordings online, 1 offline`. */
function steadyPhrase(alerts: Alerts): string {
  const [only, ...others] = alerts;
  if (!only || others.length > 0) return `Steady again: ${statusCounts(alerts)}`;
  return [`${shortName(only, NAME_IN_TITLE)} steady again`, ...(only.facts.status ? [only.facts.status] : [])].join(
    ", ",
  );
}

/** No count where alerts of locations are among them: those are counted already. */
function stormWhere(alerts: Alerts): string {
  return alerts.some(({ subject }) => subject.kind === "location") ? "" : atLocations(alerts);
}

/** Recordings that no longer flap but are not online. */
function notBack(alerts: Alerts): string {
  const counts = statusCounts(alerts.filter((alert) => isSteady(alert) && !isBack(alert)));
  return counts && `, ${counts}`;
}

/** The alert of a location or a group may end while some of its recordings are offline. */
function stillOffline(alerts: Alerts): string {
  const { offline, isExact } = extentOf(alerts.filter(isSharedOutage));
  return offline === 0 ? "" : `, ${isExact ? "" : "at least "}${counted(offline, "recording")} still offline`;
}

/** `Entrance was offline`, of alerts that ended before they were notified. */
function wasPhrase(alerts: Alerts): string {
  const [only, ...more] = byWording(alerts);
  const known = only && more.length === 0 ? only.wording.was : "had problems";
  const was = alerts.every(({ subject }) => subject.kind === "external") ? "was firing" : known;
  return `${subjects(alerts)} ${sizeOf(alerts) > 1 ? was.replace(/^was /, "were ") : was}`;
}

function sizeOf(alerts: Alerts): number {
  return new Set(alerts.map(({ subject }) => subject.id)).size;
}

/** `Entrance`, `2 recordings`, `1 location, 2 recordings`, `Analytics service`. */
function subjects(alerts: Alerts): string {
  const kinds = [...Map.groupBy(alerts, ({ subject }) => subject.kind)];
  const names = kinds.map(([kind, of]) => {
    const size = sizeOf(of);
    const [only] = of;
    if (kind === "service" || !only) return "analytics service";
    if (kind === "external") return externalAlerts(of, size);
    const isNamed = size === 1 && (kind === "integration" || kinds.length === 1);
    if (!isNamed) return counted(size, kind === "group" ? nounOf(only) : kind);
    return kind === "integration"
      ? `notifications to ${plainName(only, NAME_IN_TITLE)}`
      : shortName(only, NAME_IN_TITLE);
  });
  const isName = kinds.length === 1 && kinds[0]?.[0] !== "service" && kinds[0]?.[0] !== "integration";
  return isName ? names.join() : capital(names.join(", "));
}

/** `camera server`. */
function nounOf({ subject }: NotifiedAlert): string {
  const group = groupOfSubject(subject);
  return group ? groupNouns[group.label] : "group";
}

/** `DiskFull: nas-1`, `2 DiskFull alerts`; of several names only the count. */
function externalAlerts(alerts: Alerts, size: number): string {
  const [only, ...others] = alerts;
  if (only && others.length === 0) return wordingOf(only).one(only, false);
  const [name, ...more] = new Set(alerts.map((alert) => wordingOf(alert).is(alert)));
  return counted(size, more.length > 0 ? "alert" : `${name} alert`);
}

/** ` · Leeds Briggate`; empty where the phrase before has the location's name. */
function where(alerts: Alerts, isNamed = false): string {
  const locations = new Set(alerts.map((alert) => locationName(alert, NAME_IN_TITLE)).filter((name) => name !== ""));
  const [first] = alerts;
  const [only, ...others] = [...locations];
  if (only === undefined || !first || (isNamed && others.length === 0)) return "";
  if (others.length > 1) return ` · ${locations.size} locations`;
  const { kind } = first.subject;
  const name = kind !== "location" && sizeOf(alerts) === 1 ? shortName(first, NAME_IN_TITLE) : "";
  return name.toLowerCase().startsWith(only.toLowerCase()) ? "" : ` · ${[...locations].join(", ")}`;
}

/** `9 m`, or `up to 9 m` where they differ. */
function duration(alerts: Alerts, now: number): string {
  const length = ({ startsAt, endsAt = now }: NotifiedAlert) => endsAt - startsAt;
  const longest = alerts.reduce((a, b) => (length(b) > length(a) ? b : a));
  const words = span(0, length(longest));
  return alerts.every((alert) => span(0, length(alert)) === words) ? words : `up to ${words}`;
}
