/** Where an alert goes: the routes that take it, and its group there (Alertmanager's routing tree). */
import { hash } from "node:crypto";
import type { Labels } from "../health/alert.ts";
import { quoteGo } from "./go-string.ts";
import { matchesAll } from "./matcher.ts";
import type { Route } from "./route.ts";

/** A group of a route: its id is stable over restarts, its labels are those grouped by. */
export interface Group {
  readonly id: string;
  readonly labels: Labels;
}

/**
 * The routes that take an alert, depth first: the first child that matches wins unless it says `continue`, and a
 * node none of whose children match takes it itself. The root takes whatever nobody else does.
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

/** The route a group belongs to; undefined where the configuration has it no more. */
export function groupRoute(root: Route, group: Group): Route | undefined {
  if (groupOf(root, group.labels).id === group.id) return root;
  for (const child of root.routes) {
    const found = groupRoute(child, group);
    if (found) return found;
  }
  return undefined;
}

/** The group an alert falls into at a route. Labels it does not have are left out, as Alertmanager does. */
export function groupOf(route: Pick<Route, "key" | "groupBy">, labels: Labels): Group {
  const names = (route.groupBy === "..." ? Object.keys(labels) : [...new Set(route.groupBy)]).sort();
  const grouped: [string, string][] = [];
  for (const name of names) {
    const value = Object.hasOwn(labels, name) ? labels[name] : undefined;
    if (value) grouped.push([name, value]);
  }
  const text = grouped.map(([name, value]) => `${quoteGo(name)}=${quoteGo(value)}`).join(", ");
  return { id: hash("sha256", `${route.key}:{${text}}`).slice(0, 16), labels: Object.fromEntries(grouped) };
}
