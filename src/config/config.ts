/** The configuration as loaded: defaults filled in, durations in ms, ratios 0–1, secrets resolved. */

import { scryptSync } from "node:crypto";
import type { InhibitRule } from "../alerting/inhibit.ts";
import type { Maintenance } from "../alerting/maintenance.ts";
import { formatMatcher } from "../alerting/matcher.ts";
import type { EscalationStep, Route } from "../alerting/route.ts";
import type { NamedInterval } from "../alerting/time-interval.ts";
import type { Rule } from "../health/model.ts";
import { buildChannels } from "./channel-schema.ts";
import { buildCondition } from "./condition-schema.ts";
import { buildHttp } from "./http-schema.ts";
import { camelKeys } from "./key.ts";
import { type RouteInput, routeDefaults } from "./route-schema.ts";
import type { RuleInput } from "./rule-schema.ts";
import type { ConfigInput } from "./schema.ts";

export type Config = Readonly<ReturnType<typeof buildConfig>>;
export type ReceiverConfig = Config["receivers"][number];
export type DigestConfig = Config["digests"][number];

/**
 * 32 hex digits, equal for replicas that would act the same: the listen address, Redis, metrics and the log level do not count.
 * The hash is stored in Redis and covers secrets, so it is deliberately slow (tens of ms) against guessing. With the ids
 * that its integrations are stored under.
 */
export function configHash(config: Config, integrationIds: readonly string[] = []): string {
  const { redis: _, log: __, metrics: ___, http, ...rest } = config;
  const decisive = { ...rest, externalUrl: http.externalUrl, integrationIds };
  return scryptSync(JSON.stringify(decisive), "lenswatch configuration", 16).toString("hex");
}

/** The configuration of a validated file; `Config` is its type. */
export function buildConfig(input: ConfigInput) {
  const { request_timeout: requestTimeoutMs, ...service } = input.service;
  const { interval: intervalMs, ...rest } = input.counts;
  const intervals: Intervals = new Map(input.time_intervals.map((interval) => [interval.name, interval]));
  return {
    service: { ...camelKeys(service), requestTimeoutMs },
    /** At most one of `url`, `sentinels` and `cluster`; none: an embedded redis-server is started. */
    redis: camelKeys(input.redis),
    watch: buildWatch(input.watch),
    counts: { ...camelKeys(rest), intervalMs },
    rules: buildRules(input.rules),
    route: buildRoot(input, intervals),
    receivers: input.receivers.map(({ name, ...written }) => ({
      name,
      ...buildChannels(written, input.slack_api_url),
    })),
    inhibitRules: input.inhibit_rules.map((rule): InhibitRule => camelKeys(rule)),
    maintenance: input.maintenance.map(({ time_intervals: names, comment = "", ...rest }): Maintenance => {
      return { ...rest, comment, timeIntervals: names.flatMap((name) => intervals.get(name) ?? []) };
    }),
    smtp: input.smtp && camelKeys(input.smtp),
    digests: input.digests.map((digest) => camelKeys(digest)),
    http: buildHttp(input.http),
    metrics: camelKeys(input.metrics),
    heartbeat: input.heartbeat && { url: input.heartbeat.url, intervalMs: input.heartbeat.interval },
    log: input.log,
  };
}

function buildWatch(watch: ConfigInput["watch"]) {
  return {
    locations: watch.locations,
    exclude: watch.exclude,
    forgetAfterMs: watch.forget_after,
    statusIntervalMs: watch.status_interval,
    uptimeIntervalMs: watch.uptime_interval,
    inventoryIntervalMs: watch.inventory_interval,
    locationsPerRequest: watch.locations_per_request,
    historyMs: watch.history,
  };
}

/** Ids by name and order; `identify` gives rules at work those that are stored. */
function buildRules(rules: readonly RuleInput[]): Rule[] {
  const seen = new Map<string, number>();
  return rules.map((rule) => {
    const count = (seen.get(rule.alert) ?? 0) + 1;
    seen.set(rule.alert, count);
    return {
      id: count === 1 ? rule.alert : `${rule.alert}#${count}`,
      alert: rule.alert,
      when: buildCondition(rule.when),
      forMs: rule.for,
      keepFiringForMs: rule.keep_firing_for,
      respectSchedule: rule.respect_schedule,
      labels: rule.labels,
      annotations: rule.annotations,
    };
  });
}

type RouteBase = Omit<Route, "routes" | "escalate">;
type Steps = readonly EscalationStep[];
type Intervals = ReadonlyMap<string, NamedInterval>;

/** The routing tree; without one, a root with the first receiver. */
function buildRoot(input: ConfigInput, intervals: Intervals): Route {
  const { route, receivers } = input;
  const receiver = receivers[0]?.name ?? "";
  const base: RouteBase = { key: "{}", receiver, matchers: [], continue: false, ...routeDefaults };
  return route ? inherit(base, route, "{}", intervals) : { ...base, routes: [] };
}

/** Mute and active time intervals are not inherited, as in Alertmanager. A step to the route's own receiver is none. */
function inherit(parent: RouteBase, input: RouteInput, key: string, intervals: Intervals, above: Steps = []): Route {
  const named = (names: readonly string[]) => names.flatMap((name) => intervals.get(name) ?? []);
  const [muteTimes, activeTimes] = [named(input.mute_time_intervals), named(input.active_time_intervals)];
  const here: RouteBase = {
    key,
    receiver: input.receiver ?? parent.receiver,
    matchers: input.matchers,
    continue: input.continue,
    groupBy: input.group_by ?? parent.groupBy,
    groupWaitMs: input.group_wait ?? parent.groupWaitMs,
    groupIntervalMs: input.group_interval ?? parent.groupIntervalMs,
    repeatIntervalMs: input.repeat_interval ?? parent.repeatIntervalMs,
    stormGroups: input.storm?.groups ?? parent.stormGroups,
    ...(muteTimes.length > 0 ? { muteTimes } : {}),
    ...(activeTimes.length > 0 ? { activeTimes } : {}),
  };
  const steps = input.escalate?.map(({ after, receiver }) => ({ afterMs: after, receiver })) ?? above;
  const escalate = steps.filter(({ receiver }) => receiver !== here.receiver);
  const routes = input.routes.map((child, i) => inherit(here, child, childKey(key, child, i), intervals, steps));
  return { ...here, ...(escalate.length > 0 ? { escalate } : {}), routes };
}

/** Alertmanager's route id: `{}/{severity="warning"}/0`. */
function childKey(parent: string, child: RouteInput, index: number): string {
  return `${parent}/{${child.matchers.map(formatMatcher).join(",")}}/${index}`;
}
