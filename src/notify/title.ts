/** The first line: what and where, readable on a locked telephone at night. */

import type { ColdStartFacts, Notification, NotifiedAlert } from "../alerting/notification.ts";
import type { EndReason, SubjectKind } from "../health/alert.ts";
import { count, counted } from "../lib/format.ts";
import { cut } from "../lib/text.ts";
import { span } from "../lib/when.ts";
import { isBack, isSteady, stateCounts } from "./flapping.ts";
import { clean, locationName, plainName } from "./name.ts";
import { type Problem, problemOf } from "./problem.ts";

/** Slack's limit of a header, in characters; subjects of mails are no longer either. */
const TITLE_LENGTH = 150;
const NAME_IN_TITLE = 40;

/** `2 recordings offline · Leeds Briggate`, `Recovered: 2 recordings · Leeds Briggate — after 9 m`. */
export function titleOf(notification: Notification): string {
  const { reason, receiver, firing, resolved } = notification;
  if (reason === "test") return `Test message from lenswatch · ${clean(receiver, NAME_IN_TITLE)}`;
  if (reason === "started") return cut(startTitle(notification), TITLE_LENGTH);
  if (firing.length > 0) return cut(firingTitle(notification), TITLE_LENGTH);
  return resolved.length > 0 ? cut(endedTitle(notification), TITLE_LENGTH) : "Nothing is wrong any more";
}

function startTitle({ firing, start }: Notification): string {
  const what = firing.length > 0 ? allThatFires(firing) : nothingFires(start);
  return `lenswatch starts without memory: ${what}`;
}

function allThatFires(firing: readonly NotifiedAlert[]): string {
  if (new Set(firing.map(placeOf)).size > 2) return `${stormPhrase(firing, false)}${atLocations(firing)}`;
  const said = firing.filter((alert) => problemOf(alert).key === "LocationOffline").length === 1;
  return `${countPhrase(withoutCounted(firing), false)}${where(firing, said)}`;
}

/** Only who has seen everything says that nothing is down. */
function nothingFires({
  complete = false,
  unsettled = 0,
  suppressed = 0,
}: Partial<ColdStartFacts> = {}): string {
  if (!complete) return "what is down is not known yet";
  if (unsettled > 0) return `trouble at ${counted(unsettled, "recording")} is too new to be told`;
  return suppressed > 0 ? "nothing is down but what is held back" : "nothing is down";
}

function firingTitle({ reason, firing, resolved, now, groups }: Notification): string {
  const still = reason === "reminder" || firing.every(({ isNew }) => !isNew);
  const reminder = reason === "reminder" ? "Reminder: " : "";
  if (groups !== undefined)
    return `${reminder}${stormPhrase(firing, still)}${atLocations(firing)}${tail(stormChange(change(reason, firing, resolved, now), resolved))}`;
  const said = firing.filter((alert) => problemOf(alert).key === "LocationOffline").length === 1;
  return `${reminder}${countPhrase(withoutCounted(firing), still)}${where(firing, said)}${tail(change(reason, firing, resolved, now))}`;
}

/** `1,000 recordings offline`: a dark location counts with its recordings; then whatever else is wrong. */
function stormPhrase(firing: readonly NotifiedAlert[], still: boolean): string {
  const byKind = Map.groupBy(firing, (alert) => {
    const { key } = problemOf(alert);
    if (key === "LocationOffline" && alert.facts.offline) return "site";
    return key === "RecordingOffline" ? "camera" : "other";
  });
  const [sites = [], cameras = [], others = []] = ["site", "camera", "other"].map((kind) =>
    byKind.get(kind as "site"),
  );
  const places = new Set(sites.map(placeOf));
  const dark =
    sites.reduce((sum, { facts }) => sum + (facts.offline ?? 0), 0) +
    cameras.filter((alert) => !places.has(placeOf(alert))).length;
  return [
    ...(dark > 0 ? [`${counted(dark, "recording")}${still ? " still" : ""} offline`] : []),
    ...(others.length > 0 ? [countPhrase(others, still && dark === 0)] : []),
  ].join(", ");
}

/** ` at 50 locations`; nothing where nothing is anywhere. */
function atLocations(alerts: readonly NotifiedAlert[]): string {
  const places = new Set(alerts.map(placeOf).filter((place) => place !== ""));
  return places.size === 0 ? "" : ` at ${counted(places.size, "location")}`;
}

/** Locations that are themselves spoken of are counted already. */
function stormWhere(alerts: readonly NotifiedAlert[]): string {
  return alerts.some(({ subject }) => subject.kind === "location") ? "" : atLocations(alerts);
}

function placeOf(alert: NotifiedAlert): string {
  return alert.labels.location_id ?? locationName(alert);
}

/** Where the ends are, after the last part, which counts them. */
function stormChange(parts: readonly string[], resolved: readonly NotifiedAlert[]): string[] {
  return parts.map((part, i) =>
    resolved.length > 0 && i === parts.length - 1 ? `${part}${atLocations(resolved)}` : part,
  );
}

/** What is different from last time. */
function change(
  reason: Notification["reason"],
  firing: readonly NotifiedAlert[],
  resolved: readonly NotifiedAlert[],
  now: number,
): string[] {
  const added = firing.filter(({ isNew }) => isNew).length;
  return [
    ...(reason === "reminder" ? [`for ${duration(firing, now)}`] : []),
    ...(added > 0 && added < firing.length ? [`${count(added)} new`] : []),
    ...endCounts(resolved),
  ];
}

function endedTitle({ resolved, now, groups }: Notification): string {
  const reasons = new Set(resolved.map(endReasonOf));
  const place = groups === undefined ? where(resolved) : stormWhere(resolved);
  if (reasons.size > 1) return `Over: ${endCounts(resolved).join(", ")}${place}`;
  const [reason = "expired"] = reasons;
  const unnotified = resolved.every(({ isNew }) => isNew);
  if (reason !== "recovered") {
    return unnotified
      ? `${wasPhrase(resolved)}${place} — then ${END_WORDS[reason]}`
      : `${capital(END_WORDS[reason])}: ${subjects(resolved)}${place}`;
  }
  const after = duration(resolved, now);
  if (resolved.every(isSteady)) return `Steady again: ${stateCounts(resolved)}${place} — after ${after}`;
  return unnotified
    ? `${wasPhrase(resolved)}${place} — recovered after ${after}`
    : `Recovered: ${subjects(resolved)}${place} — after ${after}${stillOffline(resolved)}${notWell(resolved)}`;
}

/** Of recordings that have come to rest, those that have not come to rest online. */
function notWell(alerts: readonly NotifiedAlert[]): string {
  const counts = stateCounts(alerts.filter((alert) => isSteady(alert) && !isBack(alert)));
  return counts && `, ${counts}`;
}

const END_WORDS: Readonly<Record<EndReason, string>> = {
  recovered: "recovered",
  no_longer_watched: "no longer watched",
  rule_removed: "rule removed",
  expired: "expired",
};

function endReasonOf({ endReason = "expired" }: NotifiedAlert): EndReason {
  return endReason;
}

/** `2 recovered`, `1 steady again`: each way to end, with how many did. */
export function endCounts(alerts: readonly NotifiedAlert[]): string[] {
  const wordOf = (alert: NotifiedAlert) => (isSteady(alert) ? "steady again" : END_WORDS[endReasonOf(alert)]);
  return [...Map.groupBy(alerts, wordOf)].map(([word, of]) => `${count(of.length)} ${word}`);
}

/** Without the recordings that a dark location in the same message stands for: they are told once. */
function withoutCounted(firing: readonly NotifiedAlert[]): readonly NotifiedAlert[] {
  const keyOf = (alert: NotifiedAlert) => problemOf(alert).key;
  const dark = new Set(
    firing
      .filter((alert) => keyOf(alert) === "LocationOffline" && alert.facts.offline === alert.facts.of)
      .map(({ subject }) => subject.id),
  );
  if (dark.size === 0) return firing;
  return firing.filter(
    (alert) => keyOf(alert) !== "RecordingOffline" || !dark.has(alert.labels.location_id ?? ""),
  );
}

/** `2 recordings offline, 1 quality low`, the worst first; `still` as in `2 recordings still offline`. */
export function countPhrase(alerts: readonly NotifiedAlert[], still: boolean): string {
  const problems = [...problemsOf(alerts)].sort(([, a], [, b]) => severity(b) - severity(a));
  const afterRecordings = problems[0]?.[0].short !== undefined;
  return problems
    .map(
      ([problem, of], i) =>
        (i > 0 && afterRecordings && problem.short?.(of.length)) || problem.title(of, still && i === 0),
    )
    .join(", ");
}

/** `1 recording was offline`, of what was over before anybody was told. */
function wasPhrase(alerts: readonly NotifiedAlert[]): string {
  const problems = [...problemsOf(alerts)];
  const was = problems.length === 1 ? (problems[0]?.[0].was ?? "") : "had trouble";
  const size = new Set(alerts.map(({ subject }) => subject.id)).size;
  const isAll = (kind: SubjectKind) => alerts.every(({ subject }) => subject.kind === kind);
  const whose = isAll("external") ? counted(size, "alert") : subjects(alerts);
  const who = isAll("service") ? "The service" : whose;
  return `${who} ${size > 1 ? was.replace(/^was /, "were ") : was}`;
}

function problemsOf(alerts: readonly NotifiedAlert[]): Map<Problem, NotifiedAlert[]> {
  const byKey = Map.groupBy(
    alerts.map((alert) => ({ alert, problem: problemOf(alert) })),
    ({ problem }) => problem.key,
  );
  return new Map(
    [...byKey.values()].flatMap((all) => {
      const [first] = all;
      return first ? [[first.problem, all.map(({ alert }) => alert)] as const] : [];
    }),
  );
}

function severity(alerts: readonly NotifiedAlert[]): number {
  return Math.max(...alerts.slice(0, 1_000).map(({ labels }) => SEVERITIES[labels.severity ?? ""] ?? 0));
}

const SEVERITIES: Readonly<Record<string, number>> = { critical: 2, warning: 1 };

/** What is spoken of: `2 recordings`, `1 location, 2 recordings`, `the service`. */
function subjects(alerts: readonly NotifiedAlert[]): string {
  const kinds = Map.groupBy(alerts, ({ subject }) => subject.kind);
  return [...kinds]
    .map(([kind, of]) => {
      const size = new Set(of.map(({ subject }) => subject.id)).size;
      const [only] = of;
      if (kind === "service") return "lenswatch's view of the service";
      if (kind === "integration" && size === 1 && only)
        return `notifications to ${plainName(only, NAME_IN_TITLE)}`;
      return kind === "external" ? externalAlerts(of, size) : counted(size, kind);
    })
    .join(", ");
}

/** `1 alert: DiskFull`; of several kinds only how many. */
function externalAlerts(alerts: readonly NotifiedAlert[], size: number): string {
  const [what, ...more] = new Set(alerts.map((alert) => problemOf(alert).is(alert)));
  return `${counted(size, "alert")}${more.length > 0 ? "" : `: ${what}`}`;
}

/** ` · Leeds Briggate`, and the name where it is one recording; nothing where the phrase has said it. */
function where(alerts: readonly NotifiedAlert[], said = false): string {
  const places = new Set(
    alerts.map((alert) => locationName(alert, NAME_IN_TITLE)).filter((name) => name !== ""),
  );
  const [first] = alerts;
  if (said && places.size === 1) return "";
  const place = places.size > 2 ? `${places.size} locations` : [...places].join(", ");
  const only =
    alerts.every(({ subject }) => subject.id === first?.subject.id) && first?.subject.kind === "recording"
      ? plainName(first, NAME_IN_TITLE)
      : "";
  const named = only.toLowerCase().startsWith(place.toLowerCase()) ? [only || place] : [place, only];
  return named
    .filter((part) => part !== "")
    .map((part) => ` · ${part}`)
    .join("");
}

/** A location that is no longer offline as a whole may have recordings that are. */
function stillOffline(alerts: readonly NotifiedAlert[]): string {
  const locations = alerts.filter(({ subject }) => subject.kind === "location");
  const dark = locations.reduce((sum, { facts }) => sum + (facts.offline ?? 0), 0);
  return dark === 0 ? "" : `, ${counted(dark, "recording")} still offline`;
}

/** `9 m`, or `up to 9 m` where they differ. */
function duration(alerts: readonly NotifiedAlert[], now: number): string {
  const longest = alerts.reduce((a, b) => (length(b, now) > length(a, now) ? b : a));
  const words = span(longest.startsAt, longest.endsAt ?? now);
  const same = alerts.every((alert) => span(alert.startsAt, alert.endsAt ?? now) === words);
  return same ? words : `up to ${words}`;
}

function length({ startsAt, endsAt }: NotifiedAlert, now: number): number {
  return (endsAt ?? now) - startsAt;
}

function tail(parts: readonly string[]): string {
  return parts.length === 0 ? "" : ` — ${parts.join(", ")}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
