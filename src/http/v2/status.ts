/** `GET /api/v2/status` as Alertmanager answers it; `amtool` asks for it before every command. */
import { stringify } from "yaml";
import { alertmanagerVersion } from "../../alerting/alertmanager.ts";
import { formatMatcher } from "../../alerting/matcher.ts";
import type { Route } from "../../alerting/route.ts";
import type { Instant } from "../../lib/clock.ts";
import { formatDuration } from "../../lib/duration.ts";
import type { HttpDeps } from "../deps.ts";

export interface StatusFacts {
  readonly routing: ReturnType<HttpDeps["routing"]>;
  /** Of lenswatch. */
  readonly version: string;
  readonly startedAt: Instant;
}

/** No cluster of Alertmanagers: `disabled`, without peers. */
export function alertmanagerStatus({ routing, version, startedAt }: StatusFacts) {
  return {
    cluster: { status: "disabled", peers: [] },
    versionInfo: {
      version: alertmanagerVersion,
      revision: `lenswatch ${version}`,
      branch: "",
      buildUser: "",
      buildDate: "",
      goVersion: "",
    },
    config: { original: alertmanagerConfig(routing) },
    uptime: new Date(startedAt).toISOString(),
  };
}

/**
 * The routing as Alertmanager's own configuration, which its strict loader accepts: `amtool config routes test`
 * works on it. Receivers are named and no more, so no secret can be in it.
 */
export function alertmanagerConfig({ route, receivers }: StatusFacts["routing"]): string {
  const names = [...new Set([route.receiver, ...receivers])];
  return stringify({ route: routeYaml(route, true), receivers: names.map((name) => ({ name })) });
}

/** The root may have neither matchers nor `continue`. */
function routeYaml(route: Route, isRoot: boolean): Record<string, unknown> {
  return {
    receiver: route.receiver,
    ...(isRoot ? {} : { matchers: route.matchers.map(formatMatcher), continue: route.continue }),
    group_by: route.groupBy === "..." ? ["..."] : [...route.groupBy],
    group_wait: formatDuration(route.groupWaitMs),
    group_interval: formatDuration(route.groupIntervalMs),
    repeat_interval: formatDuration(route.repeatIntervalMs),
    ...(route.routes.length === 0 ? {} : { routes: route.routes.map((child) => routeYaml(child, false)) }),
  };
}
