/** Where an alert is to be told. Pure. */

import type { Alert } from "../health/alert.ts";
import type { Integration, Route } from "./route.ts";
import { groupOf, routesFor } from "./routing.ts";

/** Where a firing alert is to be told: one group at one integration, with the timers of its route. */
export interface Destination {
  readonly integration: string;
  readonly group: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  readonly repeatIntervalMs: number;
  /** More groups than this due at once are told as one; undefined: never. */
  readonly stormGroups?: number | undefined;
}

/**
 * Every group an alert belongs to. An alert about an integration that fails is never sent through that one.
 * Two routes that lead to the same group of the same integration count once, the first with its timers.
 */
export function destinationsOf(
  alert: Pick<Alert, "labels" | "subject">,
  route: Route,
  integrations: readonly Integration[],
): Destination[] {
  const destinations = new Map<string, Destination>();
  for (const matched of routesFor(route, alert.labels)) {
    const group = groupOf(matched, alert.labels);
    for (const integration of integrations) {
      const { id, receiver } = integration;
      const failing = alert.subject.kind === "integration" && alert.subject.id === id;
      if (receiver !== matched.receiver || failing) continue;
      const key = `${id}\n${group.id}`;
      if (!destinations.has(key)) destinations.set(key, toDestination(integration, group, matched));
    }
  }
  return [...destinations.values()];
}

function toDestination(
  { id, everyGroup, resendMs }: Integration,
  group: { id: string; labels: Destination["labels"] },
  route: Route,
): Destination {
  const place = { integration: id, group: group.id, labels: group.labels };
  if (resendMs !== undefined) return { ...place, ...AT_ONCE, repeatIntervalMs: resendMs };
  return {
    ...place,
    groupWaitMs: route.groupWaitMs,
    groupIntervalMs: route.groupIntervalMs,
    repeatIntervalMs: route.repeatIntervalMs,
    stormGroups: everyGroup ? undefined : route.stormGroups,
  };
}

/** To whoever groups and waits by itself everything goes as it comes, in as few messages as there are. */
const AT_ONCE = { groupWaitMs: 0, groupIntervalMs: 1_000, stormGroups: 1 } as const;
