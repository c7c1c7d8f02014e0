/** `GET /api/v2/alerts/groups`: what fires, grouped as the routes in force would tell it now (`alertGroup`). */
import type { Route } from "../../alerting/route.ts";
import { groupOf, routesFor } from "../../alerting/routing.ts";
import { muteOf } from "../../alerting/time-interval.ts";
import type { Labels } from "../../health/alert.ts";
import type { Instant } from "../../lib/clock.ts";
import type { ActiveAlert } from "../deps.ts";
import { type GroupsQuery, isReceiverWanted, isWanted } from "./alert-query.ts";
import { type AlertsContext, type GettableAlert, gettableAlert } from "./alerts.ts";

/** Rows between two yields: a row costs a digest of its labels and one of its group. */
const ROWS_PER_STEP = 16;

export interface AlertGroup {
  readonly labels: Labels;
  /** Routes have no labels here. */
  readonly routeLabels: Labels;
  readonly receiver: { readonly name: string };
  readonly alerts: readonly GettableAlert[];
}

interface Gathered {
  readonly labels: Labels;
  readonly receiver: string;
  readonly mutedBy: readonly string[];
  readonly members: ActiveAlert[];
}

/** Groups in the order of their labels, then of their receivers; an alert is in one of each route that takes it. */
export function* alertGroups(
  alerts: readonly ActiveAlert[],
  query: GroupsQuery,
  { route, ...context }: AlertsContext & { readonly route: Route },
): Generator<void, AlertGroup[]> {
  const groups = new Map<string, Gathered>();
  let seen = 0;
  for (const active of alerts) {
    gather(active, query, { route, ...context }, groups);
    if (++seen % ROWS_PER_STEP === 0) yield;
  }
  const rows: AlertGroup[] = [];
  for (const { labels, receiver, mutedBy, members } of [...groups.values()].sort(byLabelsAndReceiver)) {
    const rowsHere: GettableAlert[] = [];
    for (const member of members.sort(byOriginAndLabels)) {
      rowsHere.push(gettableAlert({ ...member, receivers: member.receivers.toSorted() }, context, mutedBy));
      if (++seen % ROWS_PER_STEP === 0) yield;
    }
    rows.push({ labels, routeLabels: {}, receiver: { name: receiver }, alerts: rowsHere });
  }
  return rows;
}

function gather(
  active: ActiveAlert,
  query: GroupsQuery,
  { route, now }: { readonly route: Route; readonly now: Instant },
  groups: Map<string, Gathered>,
): void {
  for (const taking of routesFor(route, active.alert.labels)) {
    if (!isReceiverWanted(taking.receiver, query)) continue;
    const mute = muteOf(taking, now);
    const mutedBy = mute ? [mute.by] : [];
    if ((mute && !query.muted) || !isWanted(active, query, mutedBy)) continue;
    const { id, labels } = groupOf(taking, active.alert.labels);
    const known = groups.get(id);
    if (known) known.members.push(active);
    else groups.set(id, { labels, receiver: taking.receiver, mutedBy, members: [active] });
  }
}

function byLabelsAndReceiver(a: Gathered, b: Gathered): number {
  return compareLabels(a.labels, b.labels) || compare(a.receiver, b.receiver);
}

/** By `job`, then `instance`, then all labels (Alertmanager's alert/alert.go). */
function byOriginAndLabels(
  { alert: { labels: a } }: ActiveAlert,
  { alert: { labels: b } }: ActiveAlert,
): number {
  for (const name of ["job", "instance"]) {
    const [here, there] = [own(a, name), own(b, name)];
    if (here === there) continue;
    if (here === undefined) return 1;
    return there === undefined ? -1 : compare(here, there);
  }
  return compareLabels(a, b);
}

/** Fewer before more, then by names and values in the order of names (prometheus/common, `LabelSet.Before`). */
function compareLabels(a: Labels, b: Labels): number {
  const [namesOfA, namesOfB] = [Object.keys(a), Object.keys(b)];
  if (namesOfA.length !== namesOfB.length) return namesOfA.length - namesOfB.length;
  for (const name of [...namesOfA, ...namesOfB].sort()) {
    const [here, there] = [own(a, name), own(b, name)];
    if (here === undefined) return -1;
    if (there === undefined) return 1;
    if (here !== there) return compare(here, there);
  }
  return 0;
}

function own(labels: Labels, name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined;
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
