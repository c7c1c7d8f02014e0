/** The routing tree as loaded, Alertmanager's: every option inherited, and where an alert goes in it. Pure. */
import { hash } from "node:crypto";
import type { Alert, Labels } from "../health/alert.ts";
import { type Addresses, addressesOf, type DirectoryLookup } from "../health/directory.ts";
import { own } from "../lib/own.ts";
import { isOfLenswatch } from "./attention.ts";
import { quoteGo } from "./go-string.ts";
import { type Matcher, matchesAll } from "./matcher.ts";
import type { RouteTimes } from "./time-interval.ts";
import { type Viewed, viewsOf } from "./views.ts";

/** The Alertmanager whose routing, matchers and API v2 lenswatch follows; clients read it as a semantic version. */
export const alertmanagerVersion = "0.34.0";

/** The waits of a group before its first notification, between changes, and before a reminder. */
interface Timers {
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly repeatIntervalMs: number;
  /** More groups than this due at once at one integration become one summary; undefined: never. */
  readonly stormGroups?: number | undefined;
}

/** The receiver of a group in which something was unattended for `afterMs`. */
export type EscalationStep = { readonly afterMs: number; readonly receiver: string };

export interface Route extends RouteTimes, Timers {
  /** Its position in the tree: `{}` for the root, then its matchers and positions; part of a group's id. */
  readonly key: string;
  readonly receiver: string;
  readonly matchers: readonly Matcher[];
  readonly continue: boolean;
  /** Label names, or "..." for no grouping at all. */
  readonly groupBy: readonly string[] | "...";
  /** The columns of the directory by which its receiver has recipients, where it has no others. */
  readonly columns?: readonly string[] | undefined;
  /** Further receivers of its groups, the earliest first. */
  readonly escalate?: readonly EscalationStep[] | undefined;
  readonly routes: readonly Route[];
}

/**
 * The unit of delivery: one entry of a receiver's `…_configs`, or one recipient of one `email_configs` entry. Due
 * groups, notification log, pace and backoff are its own.
 */
export interface Integration {
  /** The name that it had at first, often `name`; what is stored under it stays with where it sends. */
  readonly id: string;
  /** `receiver/type/position`, for e-mail followed by `/recipient`; for people. */
  readonly name: string;
  /** The recipient of e-mail. */
  readonly recipient?: string | undefined;
  /** Columns of the directory that have the recipient: it is sent alerts about those locations alone. */
  readonly columns?: readonly string[] | undefined;
  readonly receiver: string;
  /** `slack`, `email` and so on: a receiver's key without `_configs`. */
  readonly type: string;
  readonly sendResolved: boolean;
  /** Shared by all integrations of one endpoint (a hash of webhook URL or SMTP server): pace and backoff. */
  readonly endpoint: string;
  /** The channel of a Slack app, whose endpoint has several: each has a pace of its own. */
  readonly channel?: string | undefined;
  /** At most one message per this many ms at the endpoint, or in the channel. */
  readonly paceMs: number;
  /** It gets no summary of a cold start: that would be a page which nothing ends. */
  readonly isPager?: true;
  /** A program reads it: every group is sent by itself, never in a summary. */
  readonly everyGroup?: true;
  /**
   * Firing alerts are sent again this often, ms, and ends for a while: the receiver takes an alert that is not
   * repeated for resolved. The timers of routes do not count there.
   */
  readonly resendMs?: number | undefined;
  /**
   * Undefined: messages stand alone. `threads`: later messages of a conversation answer its first; `edits`: its first
   * message also always shows the present, by notifications with the reason `update`.
   */
  readonly conversation?: "edits" | "threads" | undefined;
}

/** The key by which the pace is counted. */
export function pacedBy({ endpoint, channel }: Integration): string {
  return channel === undefined ? endpoint : `${endpoint}:${channel}`;
}

/** True if a program reads it: it gets every alert as it is, and no summaries. */
export function isProgram({ everyGroup, resendMs }: Integration): boolean {
  return everyGroup === true || resendMs !== undefined;
}

/** A group of a route: its id is stable over restarts, its labels are those grouped by. */
export type Group = { readonly id: string; readonly labels: Labels };

/**
 * The routes that take an alert, depth first: the first child that matches wins unless it has `continue`, and a node
 * none of whose children match takes it itself. The root takes everything left.
 */
export function routesFor(route: Route, labels: Labels): Route[] {
  const taken: Route[] = [];
  for (const child of route.routes) {
    if (!matchesAll(child.matchers, labels)) continue;
    taken.push(...routesFor(child, labels));
    if (!child.continue) break;
  }
  return taken.length > 0 ? taken : [route];
}

/** The routes that take an alert for any of its shops: the root where a receiver has recipients in other shops only. */
export function routesOf(root: Route, alert: Viewed, directory: DirectoryLookup = {}): Route[] {
  return routesWith(root, alert, addressesOf(alert, directory));
}

function routesWith(root: Route, alert: Viewed, addresses: Addresses): Route[] {
  const hasRecipient = ({ columns }: Route) => !columns || columns.some((column) => addresses.get(column)?.size);
  const taken = viewsOf(alert).flatMap((labels) => routesFor(root, labels));
  return [...new Set(taken.map((route) => (hasRecipient(route) ? route : root)))];
}

/** True of every integration but those of recipients in other shops. */
function isFor({ columns, recipient = "" }: Pick<Integration, "columns" | "recipient">, addresses: Addresses) {
  return columns === undefined || columns.some((column) => addresses.get(column)?.has(recipient));
}

/** The labels of the shops for which an alert is sent to a receiver; of all where it is sent there for none. */
export function viewsAt(root: Route, alert: Viewed, receiver: string): readonly Labels[] {
  const views = viewsOf(alert);
  if (views.length === 1) return views;
  const isHere = (route: Route) => sendsAfter(route, receiver) !== undefined;
  const here = views.filter((labels) => routesFor(root, labels).some(isHere));
  return here.length > 0 ? here : views;
}

/** The route a group belongs to; undefined where the configuration no longer has it. */
export function groupRoute(root: Route, group: Group): Route | undefined {
  if ([false, true].some((isOwn) => groupBy(root, group.labels, isOwn).id === group.id)) return root;
  for (const child of root.routes) {
    const found = groupRoute(child, group);
    if (found) return found;
  }
  return undefined;
}

type Grouping = Pick<Route, "key" | "groupBy">;

/**
 * The group of an alert at a route. Labels it does not have are left out, as Alertmanager does. An alert about lenswatch
 * or the service is grouped by its alertname as well, so that it is never in a message about recordings.
 */
export function groupOf(route: Grouping, alert: Pick<Alert, "labels" | "subject">): Group {
  return groupBy(route, alert.labels, isOfLenswatch(alert));
}

function groupBy(route: Grouping, labels: Labels, isOwn: boolean): Group {
  const always = isOwn ? ["alertname"] : [];
  const names = [...new Set(route.groupBy === "..." ? Object.keys(labels) : [...route.groupBy, ...always])].sort();
  const grouped = names.flatMap((name): [string, string][] => {
    const value = own(labels, name);
    return value ? [[name, value]] : [];
  });
  const text = grouped.map(([name, value]) => `${quoteGo(name)}=${quoteGo(value)}`).join(", ");
  return { id: hash("sha256", `${route.key}:{${text}}`).slice(0, 16), labels: Object.fromEntries(grouped) };
}

/** A place where a firing alert is notified: one group at one integration, with the timers of its route. */
export type Destination = Timers & {
  readonly integration: string;
  readonly group: string;
  readonly labels: Labels;
  /** The time after which the group is escalated there, ms. */
  readonly escalateAfterMs?: number | undefined;
};

/**
 * Every group an alert belongs to. An alert about a failing integration is never sent through that one, nor through
 * an endpoint that fails as a whole. Two routes to the same group of the same integration count once, the first with
 * its timers.
 */
export function destinationsOf(
  alert: Viewed & Pick<Alert, "facts">,
  route: Route,
  integrations: readonly Integration[],
  directory: DirectoryLookup = {},
): Destination[] {
  const destinations = new Map<string, Destination>();
  const addresses = addressesOf(alert, directory);
  const here = integrations.filter((one) => isFor(one, addresses));
  // A recipient that was just read has no integration yet.
  const isLost = ({ columns, receiver }: Route) => columns && !here.some((one) => one.receiver === receiver);
  const taken = routesWith(route, alert, addresses).map((matched) => (isLost(matched) ? route : matched));
  for (const matched of new Set(taken)) {
    const group = groupOf(matched, alert);
    for (const integration of here) {
      const { id, receiver, endpoint } = integration;
      const failing =
        alert.subject.kind === "integration" && (alert.subject.id === id || alert.facts.endpoint === endpoint);
      const afterMs = sendsAfter(matched, receiver);
      if (afterMs === undefined || failing) continue;
      const key = `${id}\n${group.id}`;
      const to = toDestination(
        integration,
        group,
        isOfLenswatch(alert) ? { ...matched, stormGroups: undefined } : matched,
      );
      if (!destinations.has(key)) destinations.set(key, afterMs === 0 ? to : { ...to, escalateAfterMs: afterMs });
    }
  }
  return [...destinations.values()];
}

/** True if the alert belongs to that group of the integration. */
export function isRoutedTo(
  alert: Viewed,
  root: Route,
  integration: Pick<Integration, "receiver" | "columns" | "recipient">,
  groupId: string,
  directory: DirectoryLookup = {},
) {
  const { receiver } = integration;
  const isHere = (route: Route) => sendsAfter(route, receiver) !== undefined && groupOf(route, alert).id === groupId;
  const addresses = addressesOf(alert, directory);
  const taken = routesWith(root, alert, addresses);
  const all = taken.some(({ columns }) => columns) ? [...taken, root] : taken;
  return isFor(integration, addresses) && all.some(isHere);
}

/** The time for which a route's alerts have to be unattended before they are sent to the receiver, ms; undefined: never are. */
function sendsAfter(route: Route, receiver: string): number | undefined {
  if (route.receiver === receiver) return 0;
  return route.escalate?.find((step) => step.receiver === receiver)?.afterMs;
}

/** The routes that send to a receiver, at once or by escalation. */
export function routesTo(route: Route, receiver: string): Route[] {
  const here = sendsAfter(route, receiver) === undefined ? [] : [route];
  return [...here, ...route.routes.flatMap((child) => routesTo(child, receiver))];
}

/** The receivers that some route notifies without escalating to them. */
export function directReceivers(route: Route): Set<string> {
  return new Set([route.receiver, ...route.routes.flatMap((child) => [...directReceivers(child)])]);
}

/** A receiver that groups and waits by itself gets everything at once, in as few messages as possible. */
const AT_ONCE = { groupWaitMs: 0, groupIntervalMs: 1_000, stormGroups: 1 } as const;

function toDestination({ id, everyGroup, resendMs }: Integration, group: Group, route: Route): Destination {
  const destination = { integration: id, group: group.id, labels: group.labels };
  if (resendMs !== undefined) return { ...destination, ...AT_ONCE, repeatIntervalMs: resendMs };
  const { groupWaitMs, groupIntervalMs, repeatIntervalMs, stormGroups } = route;
  return {
    ...destination,
    groupWaitMs,
    groupIntervalMs,
    repeatIntervalMs,
    stormGroups: everyGroup ? undefined : stormGroups,
  };
}
