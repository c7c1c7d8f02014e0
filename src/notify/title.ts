/** A message's first line: what and where, short enough for a lock screen. */
import { areMixed, extentOf, isOutage, isSharedOutage, namedOnce } from "../alerting/extent.ts";
import type { ColdStartFacts, Notification, NotifiedAlert } from "../alerting/model.ts";
import { afterName, nounOf, phraseOf, sizeOf } from "../alerting/words.ts";
import { isSteady, leftOutPhrase, placesPhrase, sharedOutages } from "../health/alert.ts";
import { count, counted } from "../lib/format.ts";
import { span } from "../lib/when.ts";
import { changeOf, endCounts, endWords, isOwnEnd, lastKnown, statusCounts } from "./ending.ts";
import { clean, locationKey, locationName, NAME_IN_TITLE, plainName, shortName } from "./name.ts";
import { questionTitle } from "./question.ts";

type Alerts = readonly NotifiedAlert[];

/** Outages at more locations than this are counted by recordings, and the locations with them. */
const MOST_LOCATIONS = 2;

const PLACES_LENGTH = 120;

/** `Entrance offline · Leeds Briggate`, `2 recordings recovered · Leeds Briggate — after 9 m`. */
export function titleOf(notification: Notification): string {
  const { reason, receiver, firing, resolved, start } = notification;
  if (reason === "test") return `Test message from lenswatch · ${clean(receiver, NAME_IN_TITLE)}`;
  if (reason === "started")
    return `${watchedPhrase(start)}; ${firing.length > 0 ? firingPhrase(firing) : quietPhrase(start)}`;
  if (reason === "question") return questionTitle(notification, firingPhrase(firing, true));
  if (firing.length > 0) return firingTitle(notification);
  return resolved.length > 0 ? endedTitle(notification) : "No active alerts";
}

/** `lenswatch watches 480 recordings at 60 locations`. */
function watchedPhrase({ recordings = 0, locations = 0 }: Partial<ColdStartFacts> = {}): string {
  const all = recordings === 0 ? "no recording yet" : counted(recordings, "recording");
  return `lenswatch watches ${all}${locations > 0 ? ` at ${counted(locations, "location")}` : ""}`;
}

/** `no active alerts` only where everything has been read and nothing is pending or suppressed. */
function quietPhrase({ complete, unsettled, suppressed }: Partial<ColdStartFacts> = {}): string {
  if (!complete) return "state not known yet";
  if (unsettled) return `alerts pending for ${counted(unsettled, "recording")}`;
  return suppressed ? "all active alerts are suppressed" : "no active alerts";
}

function firingTitle({ reason, firing, resolved, now }: Notification): string {
  const isReminder = reason === "reminder";
  const added = firing.filter(({ isNew }) => isNew).length;
  const { offline } = changeOf(resolved);
  const isMore = offline > firing.filter(({ facts }) => facts.problem === "offline").length;
  const changes = [
    isReminder ? `for ${duration(firing, now)}` : "",
    added > 0 && added < firing.length ? `${count(added)} new` : "",
    ...endCounts(resolved, firing),
    isMore ? `${count(offline)} still offline` : "",
  ].filter((change) => change !== "");
  const phrase = firingPhrase(firing, isReminder || added === 0);
  return `${isReminder ? "Reminder: " : ""}${phrase}${changes.length > 0 ? ` — ${changes.join(", ")}` : ""}`;
}

/** The part of a title on what fires and where. Outages of several kinds, or at many locations, are counted by recordings and locations. */
function firingPhrase(firing: Alerts, still = false): string {
  const named = withoutCovered(firing);
  const outages = named.filter(isOutage);
  const isWide = locationsOf(outages).size > MOST_LOCATIONS || (sizeOf(outages) > 1 && areMixed(firing));
  const phrase = phraseOf(isWide ? firing : named, { still, isWide, single });
  const isPlaced = isWide && outages.length > 0;
  return isPlaced
    ? phrase
    : phrase + where(firing, named.filter(({ subject }) => subject.kind === "location").length === 1);
}

/** A single recording is named where the title is about it alone. */
function single(alert: NotifiedAlert, still: boolean, isOnly: boolean): string | undefined {
  if (!isOnly && alert.subject.kind === "recording") return undefined;
  if (!sharedOutages.has(alert.facts.problem)) return titleName(alert) + afterName(alert, still);
  return `${titleName(alert)}: ${still ? "still " : ""}${outageExtent(alert)}`;
}

/** `all 4 recordings offline`, or as many of them as are; of a group, with where they are. */
export function outageExtent({ facts, labels }: NotifiedAlert): string {
  const { offline, of, outside = 0, unread = 0 } = facts;
  if (offline === undefined || of === undefined) return "offline";
  if (offline === 0) return "recovering";
  const leftOut = leftOutPhrase(facts);
  if (leftOut !== "") return `${count(offline)} of ${counted(of + outside + unread, "recording")} offline; ${leftOut}`;
  const names = clean(labels.location_id === undefined ? placesPhrase(facts) : "", PLACES_LENGTH);
  const places = names && ` at ${names}`;
  if (offline < of) return `${count(offline)} of ${counted(of, "recording")} offline${places}`;
  return of === 1 ? "its only recording offline" : `all ${count(of)} recordings offline${places}`;
}

/** Without the recordings that an alert of a wholly offline location or group in the same message covers. */
function withoutCovered(firing: Alerts): Alerts {
  const isPart = (alert: NotifiedAlert) => isSharedOutage(alert) && alert.facts.offline !== alert.facts.of;
  const named = new Set(namedOnce(firing.filter((alert) => !isPart(alert))));
  return firing.filter((alert) => isPart(alert) || named.has(alert));
}

function endedTitle({ resolved, now, groups }: Notification): string {
  const [reason = "expired", ...others] = new Set(resolved.map(({ endReason = "expired" }) => endReason));
  if (others.length > 0) return `Resolved: ${endCounts(resolved).join(", ")}${where(resolved)}`;
  const isNamed = sizeOf(resolved) === 1 && resolved.every(({ subject }) => subject.kind === "location");
  if (reason !== "recovered")
    return `${subjects(resolved)}${endWords[reason]}${where(resolved, isNamed)}${lastKnown(resolved)}`;
  const { recovered, of, offline } = changeOf(resolved);
  const isCounted = recovered > 0 && !resolved.some(isOwnEnd) && (offline > 0 || groups !== undefined);
  const left = isCounted ? { offline, isExact: true } : extentOf(resolved.filter(isSharedOutage));
  const counts = offline > 0 ? `${count(recovered)} of ${counted(of, "recording")}` : counted(recovered, "recording");
  const who = isCounted ? counts : subjects(resolved.filter((alert) => !alert.isCovered));
  const verb = resolved.every(isSteady)
    ? " steady again"
    : left.offline > 0 && !isCounted
      ? " partly recovered"
      : " recovered";
  const after = [
    `after ${duration(resolved, now)}`,
    left.offline === 0 ? "" : `${left.isExact ? "" : "at least "}${count(left.offline)} still offline`,
    statusCounts(resolved),
  ].filter((part) => part !== "");
  return `${who}${verb}${where(resolved, isNamed && !isCounted)} — ${after.join(", ")}`;
}

/** `Entrance`, `2 recordings`, `1 location, 2 recordings`, `Analytics service`. */
function subjects(alerts: Alerts): string {
  const [first] = alerts;
  if (first && sizeOf(alerts) === 1) return titleName(first);
  return [...Map.groupBy(alerts, nounOf)].map(([noun, of]) => counted(sizeOf(of), noun)).join(", ");
}

function titleName(alert: NotifiedAlert): string {
  const { kind } = alert.subject;
  if (kind === "integration") return `Notifications to ${plainName(alert, NAME_IN_TITLE)}`;
  if (kind === "location" || kind === "group") return plainName(alert, 60);
  return shortName(alert, NAME_IN_TITLE);
}

function locationsOf(alerts: Alerts): Set<string> {
  return new Set(alerts.map(locationKey).filter((key) => key !== ""));
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
