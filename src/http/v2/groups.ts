/** `GET /api/v2/alerts/groups`: firing alerts as the active routes group them now (Alertmanager's `alertGroup`). */
import { groupOf, type Route, routesFor } from "../../alerting/route.ts";
import { muteOf } from "../../alerting/time-interval.ts";
import type { Labels } from "../../health/alert.ts";
import type { Instant } from "../../lib/clock.ts";
import { compareText } from "../../lib/text.ts";
import type { ActiveAlert } from "../deps.ts";
import { eachRow } from "../paging.ts";
import {
  type AlertsContext,
  type GettableAlert,
  type GroupsQuery,
  gettableAlert,
  isAlertWanted,
  isReceiverWanted,
} from "./alerts.ts";

/** A row costs a digest of its labels and one of its group. */
const ROWS_PER_STEP = 16;

export interface AlertGroup {
  readonly labels: Labels;
  /** Empty: routes have no labels here. */
  readonly routeLabels: Labels;
  readonly receiver: { readonly name: string };
  readonly alerts: readonly GettableAlert[];
}

interface Group {
  readonly labels: Labels;
  readonly receiver: string;
  readonly mutedBy: readonly string[];
  readonly members: ActiveAlert[];
}

/** Groups by their labels, then by receiver; an alert is in a group of each route that matches it. */
export function* alertGroups(
  alerts: readonly ActiveAlert[],
  query: GroupsQuery,
  { route, ...context }: AlertsContext & { readonly route: Route },
): Generator<void, AlertGroup[]> {
  const groups = new Map<string, Group>();
  yield* eachRow(alerts, (active) => addToGroups(active, query, route, context.now, groups), ROWS_PER_STEP);
  const rows: AlertGroup[] = [];
  for (const { labels, receiver, mutedBy, members } of [...groups.values()].sort(byLabelsAndReceiver)) {
    const listed: GettableAlert[] = [];
    const visit = (member: ActiveAlert) =>
      listed.push(gettableAlert({ ...member, receivers: member.receivers.toSorted() }, context, mutedBy));
    yield* eachRow(members.sort(byOriginAndLabels), visit, ROWS_PER_STEP);
    rows.push({ labels, routeLabels: {}, receiver: { name: receiver }, alerts: listed });
    yield;
  }
  return rows;
}

function addToGroups(
  active: ActiveAlert,
  query: GroupsQuery,
  root: Route,
  now: Instant,
  groups: Map<string, Group>,
): void {
  for (const route of routesFor(root, active.alert.labels)) {
    if (!isReceiverWanted(route.receiver, query)) continue;
    const mute = muteOf(route, now);
    const mutedBy = mute ? [mute.by] : [];
    if ((mute && !query.muted) || !isAlertWanted(active, query, mutedBy)) continue;
    const { id, labels } = groupOf(route, active.alert.labels);
    const known = groups.get(id);
    if (known) known.members.push(active);
    else groups.set(id, { labels, receiver: route.receiver, mutedBy, members: [active] });
  }
}

function byLabelsAndReceiver(a: Group, b: Group): number {
  return compareLabels(a.labels, b.labels) || compareText(a.receiver, b.receiver);
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

function own(labels: Labels, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}
