/**
 * `GET /api/v2/alerts`, Alertmanager's `gettableAlert`: Go clients need every required field, and no null list. And
 * `GET /api/v2/alerts/groups`, its `alertGroup`: firing alerts as the active routes group them now.
 */

import { z } from "zod";
import type { StoredAcknowledgement } from "../../alerting/acknowledgement.ts";
import { RESOLVE_TIMEOUT_MS } from "../../alerting/external-alerts.ts";
import { fingerprint } from "../../alerting/fingerprint.ts";
import { createMatcher, type Matcher, matchesAll, parseMatcher } from "../../alerting/matcher.ts";
import type { Suppression } from "../../alerting/model.ts";
import { requestBudget } from "../../alerting/pattern.ts";
import { groupOf, type Route, routesOf } from "../../alerting/route.ts";
import { muteOf } from "../../alerting/time-interval.ts";
import { matchesAny } from "../../alerting/views.ts";
import { groupOfSubject, type Labels } from "../../health/alert.ts";
import type { DirectoryLookup } from "../../health/directory.ts";
import type { Instant } from "../../lib/clock.ts";
import { own } from "../../lib/own.ts";
import { compareText } from "../../lib/text.ts";
import { eachRow } from "../../lib/yield.ts";
import type { ActiveAlert } from "../deps.ts";
import { booleanFlag, type Context, isoTime, parsedBy, repeated } from "../query.ts";

type GettableAlert = ReturnType<typeof gettableAlert>;

type AlertsContext = { readonly now: Instant; readonly externalUrl: string | undefined };

/** The firing alerts that pass the filters, sorted by fingerprint; yields after each. */
export function* gettableAlerts(
  alerts: readonly ActiveAlert[],
  query: AlertsQuery,
  context: AlertsContext,
): Generator<void, GettableAlert[]> {
  const rows: GettableAlert[] = [];
  const visit = (active: ActiveAlert) => {
    const fits = isAlertWanted(active, query) && (query.unprocessed || statusOf(active) !== "unprocessed");
    if (fits && active.receivers.some((name) => isReceiverWanted(name, query)))
      rows.push(gettableAlert(active, context));
  };
  yield* eachRow(alerts, visit, 1);
  return rows.sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1));
}

/**
 * One alert; `status.acknowledgement`, `.maintenance` and `.outage` are not part of Alertmanager's API. Our own expire after
 * `resolve_timeout`, as if they were posted now. In a group, `mutedBy` is that of the group's route.
 */
function gettableAlert(
  active: ActiveAlert,
  { now, externalUrl }: AlertsContext,
  mutedBy: readonly string[] = active.mutedBy ?? [],
) {
  const { alert, receivers, silencedBy = [], inhibitedBy = [], acknowledgement: ack, maintenance, external } = active;
  const generatorURL = alert.facts.generatorUrl ?? (external ? undefined : externalUrl);
  const acknowledged = ack && { acknowledgement: gettableAck(ack) };
  const muted = maintenance
    ? { mutedBy: [...mutedBy, maintenance.by], maintenance: gettableMaintenance(maintenance) }
    : { mutedBy };
  return {
    labels: alert.labels,
    annotations: alert.annotations,
    receivers: receivers.map((name) => ({ name })),
    fingerprint: fingerprint(alert.labels),
    startsAt: isoTime(alert.startsAt),
    updatedAt: isoTime(external?.updatedAt ?? alert.updatedAt),
    endsAt: isoTime(external?.endsAt ?? now + RESOLVE_TIMEOUT_MS),
    ...(generatorURL === undefined ? {} : { generatorURL }),
    status: {
      state: statusOf(active, mutedBy),
      silencedBy,
      inhibitedBy,
      ...muted,
      ...acknowledged,
      ...outageOf(alert),
    },
  };
}

/** Recordings that share a label: which, how many are offline now, and at how many locations. */
function outageOf({ subject, facts: { offline, of, locations } }: ActiveAlert["alert"]) {
  const group = groupOfSubject(subject);
  return group && offline !== undefined ? { outage: { ...group, offline, of, locations } } : {};
}

function gettableMaintenance({ by: name, until, comment }: Suppression) {
  return { name, comment, ...(until !== undefined && { until: isoTime(until) }) };
}

function gettableAck({ at, until, eta, notes, last: _, ...said }: StoredAcknowledgement) {
  const ends = { ...(until && { until: isoTime(until) }), ...(eta && { eta: isoTime(eta) }) };
  return {
    ...said,
    at: isoTime(at),
    ...ends,
    ...(notes && { notes: notes.map((one) => ({ ...one, at: isoTime(one.at) })) }),
  };
}

/** One matcher per parameter, repeated. */
const matcherTexts = repeated(z.string());

const parameters = z.object({
  active: booleanFlag.default(true),
  silenced: booleanFlag.default(true),
  inhibited: booleanFlag.default(true),
  unprocessed: booleanFlag.default(true),
  muted: booleanFlag.default(true),
  filter: matcherTexts,
  /** Anchored at both ends. */
  receiver: z.string().optional(),
  receiver_matchers: matcherTexts,
});

type MatcherTexts = Pick<z.infer<typeof parameters>, "filter" | "receiver" | "receiver_matchers">;

/** All matchers of a request are compiled within one budget. */
function readMatchers<Q extends MatcherTexts>({ filter, receiver, receiver_matchers, ...rest }: Q, context: Context) {
  const budget = requestBudget();
  const compileAll = (texts: string[]) => texts.map((text) => parseMatcher(text, budget));
  const compileName = (text: string) => createMatcher("receiver", "=~", text, budget);
  return {
    ...rest,
    filter: parsedBy(compileAll, "filter")(filter, context),
    receiver: receiver === undefined ? undefined : parsedBy(compileName, "receiver")(receiver, context),
    receiver_matchers: parsedBy(compileAll, "receiver_matchers")(receiver_matchers, context),
  };
}

/** Parameters by Alertmanager's rules (its api/v2/api.go): unknown ones are ignored. */
export const AlertsQuery = parameters.omit({ muted: true }).transform(readMatchers);
export type AlertsQuery = z.infer<typeof AlertsQuery>;

export const GroupsQuery = parameters.omit({ unprocessed: true }).transform(readMatchers);
export type GroupsQuery = z.infer<typeof GroupsQuery>;

/** The query of `GET /api/v2/receivers`. */
export const ReceiversQuery = parameters.pick({ filter: true, receiver_matchers: true }).transform(readMatchers);

/** The alert's state now; in a group, `mutedBy` is that of the group's route. */
export function statusOf(active: ActiveAlert, mutedBy: readonly string[] = active.mutedBy ?? []) {
  const { alert, silencedBy, inhibitedBy, acknowledgement, maintenance, external } = active;
  const suppressed = silencedBy?.length || inhibitedBy?.length || mutedBy.length > 0;
  if (suppressed || acknowledgement || maintenance || alert.facts.paused) return "suppressed";
  return external?.unprocessed ? "unprocessed" : "active";
}

/** True for an alert that fires and passes the filters, whatever its receivers; `mutedBy` as for `statusOf`. */
function isAlertWanted(
  active: ActiveAlert,
  query: Pick<AlertsQuery, "active" | "silenced" | "inhibited" | "filter">,
  mutedBy?: readonly string[],
): boolean {
  if (active.alert.state !== "firing") return false;
  if (!query.active && statusOf(active, mutedBy) === "active") return false;
  if (!query.silenced && active.silencedBy?.length) return false;
  if (!query.inhibited && active.inhibitedBy?.length) return false;
  return matchesAny(query.filter, active.alert);
}

/** Receivers have no labels here, so a matcher of them applies to all or to none. */
export function isReceiverWanted(
  name: string,
  query: { readonly receiver?: Matcher | undefined; readonly receiver_matchers: readonly Matcher[] },
): boolean {
  return (query.receiver?.matches(name) ?? true) && matchesAll(query.receiver_matchers, {});
}

export interface AlertGroup {
  readonly labels: Labels;
  /** Empty: routes have no labels here. */
  readonly routeLabels: Labels;
  readonly receiver: { readonly name: string };
  readonly alerts: readonly GettableAlert[];
}

type Group = Readonly<{ labels: Labels; receiver: string; mutedBy: readonly string[]; members: ActiveAlert[] }>;

/** Groups by their labels, then by receiver; an alert is in a group of each route that matches it. */
export function* alertGroups(
  alerts: readonly ActiveAlert[],
  query: GroupsQuery,
  { route, directory, ...context }: AlertsContext & { readonly route: Route; readonly directory: DirectoryLookup },
): Generator<void, AlertGroup[]> {
  const groups = new Map<string, Group>();
  const visit = (active: ActiveAlert) =>
    addToGroups(active, query, routesOf(route, active.alert, directory), context.now, groups);
  yield* eachRow(alerts, visit, 1);
  const rows: AlertGroup[] = [];
  const order = (a: Group, b: Group) => compareLabels(a.labels, b.labels) || compareText(a.receiver, b.receiver);
  for (const { labels, receiver, mutedBy, members } of [...groups.values()].sort(order)) {
    const listed: GettableAlert[] = [];
    const list = (member: ActiveAlert) =>
      listed.push(gettableAlert({ ...member, receivers: member.receivers.toSorted() }, context, mutedBy));
    yield* eachRow(members.sort(byOriginAndLabels), list, 1);
    rows.push({ labels, routeLabels: {}, receiver: { name: receiver }, alerts: listed });
    yield;
  }
  return rows;
}

function addToGroups(
  active: ActiveAlert,
  query: GroupsQuery,
  routes: readonly Route[],
  now: Instant,
  groups: Map<string, Group>,
): void {
  for (const route of routes) {
    if (!isReceiverWanted(route.receiver, query)) continue;
    const mute = muteOf(route, now);
    const mutedBy = mute ? [mute.by] : [];
    if ((mute && !query.muted) || !isAlertWanted(active, query, mutedBy)) continue;
    const { id, labels } = groupOf(route, active.alert);
    const known = groups.get(id);
    if (known) known.members.push(active);
    else groups.set(id, { labels, receiver: route.receiver, mutedBy, members: [active] });
  }
}

/** By `job`, then `instance`, then all labels (Alertmanager's alert/alert.go). */
function byOriginAndLabels(first: ActiveAlert, second: ActiveAlert): number {
  const [a, b] = [first.alert.labels, second.alert.labels];
  for (const name of ["job", "instance"]) {
    const [valueOfA, valueOfB] = [own(a, name), own(b, name)];
    if (valueOfA === valueOfB) continue;
    if (valueOfA === undefined) return 1;
    return valueOfB === undefined ? -1 : compareText(valueOfA, valueOfB);
  }
  return compareLabels(a, b);
}

/** Fewer labels first, then by names and values in the order of names (prometheus/common, `LabelSet.Before`). */
function compareLabels(a: Labels, b: Labels): number {
  const [namesOfA, namesOfB] = [sortedNames(a), sortedNames(b)];
  if (namesOfA.length !== namesOfB.length) return namesOfA.length - namesOfB.length;
  for (const [i, name] of namesOfA.entries()) {
    const other = namesOfB[i] ?? "";
    // The one that has the earlier name comes later.
    if (name !== other) return name < other ? 1 : -1;
    const [valueOfA = "", valueOfB = ""] = [a[name], b[name]];
    if (valueOfA !== valueOfB) return compareText(valueOfA, valueOfB);
  }
  return 0;
}

const namesOf = new WeakMap<Labels, readonly string[]>();

/** Sorted once, however often the labels are compared. */
function sortedNames(labels: Labels): readonly string[] {
  const names = namesOf.get(labels) ?? Object.keys(labels).sort();
  namesOf.set(labels, names);
  return names;
}
