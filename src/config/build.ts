/** From the validated file to the configuration: names in camel case, inherited defaults, ids of rules and routes. */

import type { InhibitRule } from "../alerting/inhibit.ts";
import { formatMatcher } from "../alerting/matcher.ts";
import type { Route } from "../alerting/route.ts";
import type { NamedInterval } from "../alerting/time-interval.ts";
import type { Rule } from "../health/rule.ts";
import { buildChannels } from "./channel-schema.ts";
import { buildCondition } from "./condition-schema.ts";
import type { InhibitRuleInput } from "./inhibit-schema.ts";
import { type RouteInput, routeDefaults } from "./route-schema.ts";
import type { RuleInput } from "./rule-schema.ts";
import type { ConfigInput } from "./schema.ts";

/** The HTTP server's address and tokens. */
export function buildHttp(http: ConfigInput["http"]) {
  return {
    ...http.listen,
    externalUrl: http.external_url,
    adminToken: http.admin_token,
    readToken: http.read_token,
  };
}

/** The configuration of a validated file; `Config` is its type. */
export function buildConfig(input: ConfigInput) {
  const { smtp, heartbeat } = input;
  return {
    service: buildService(input.service),
    redis: buildRedis(input.redis),
    watch: buildWatch(input.watch),
    rules: buildRules(input.rules),
    route: buildRoot(input),
    receivers: input.receivers.map((receiver) => ({ name: receiver.name, ...buildChannels(receiver) })),
    inhibitRules: input.inhibit_rules.map(buildInhibitRule),
    smtp: smtp && {
      host: smtp.host,
      port: smtp.port,
      from: smtp.from,
      username: smtp.username,
      password: smtp.password,
      requireTls: smtp.require_tls,
      tls: smtp.tls,
    },
    digests: input.digests.map(buildDigest),
    http: buildHttp(input.http),
    /** A dead man's switch. */
    heartbeat: heartbeat && { url: heartbeat.url, intervalMs: heartbeat.interval },
    log: input.log,
  };
}

function buildService(service: ConfigInput["service"]) {
  return {
    /** Without a trailing slash, as the next two. */
    baseUrl: service.base_url,
    wsUrl: service.ws_url,
    authUrl: service.auth_url,
    clientId: service.client_id,
    clientSecret: service.client_secret,
    audience: service.audience,
    requestTimeoutMs: service.request_timeout,
    uptimeIndexTimezone: service.uptime_index_timezone,
    /** Undefined: the system's authorities and no client certificate. */
    tls: service.tls,
  };
}

/** At most one of `url`, `sentinels` and `cluster`; none: an embedded redis-server is started or adopted. */
function buildRedis(redis: ConfigInput["redis"]) {
  return {
    url: redis.url,
    sentinels: redis.sentinels,
    /** The master's name at the Sentinels. */
    name: redis.name,
    cluster: redis.cluster,
    /** For `sentinels` and `cluster`; a URL contains its own. */
    username: redis.username,
    password: redis.password,
    sentinelPassword: redis.sentinel_password,
    /** Undefined: no TLS unless the URL's scheme requires it. */
    tls: redis.tls,
    prefix: redis.prefix,
  };
}

function buildWatch(watch: ConfigInput["watch"]) {
  return {
    locations: watch.locations,
    /** Ids of recordings or locations that are not watched. */
    exclude: watch.exclude,
    forgetAfterMs: watch.forget_after,
    statusIntervalMs: watch.status_interval,
    uptimeIntervalMs: watch.uptime_interval,
    inventoryIntervalMs: watch.inventory_interval,
    locationsPerRequest: watch.locations_per_request,
    /** How long the decision log keeps an entry. */
    historyMs: watch.history,
  };
}

function buildDigest(input: ConfigInput["digests"][number]) {
  const { untrusted_below, unsubscribe_url, ...same } = input;
  return {
    ...same,
    /** 0–1; below it, a location's visitor counts of that day are not reliable. */
    untrustedBelow: untrusted_below,
    /** https; `{recipient}` stands for the reader's address, percent-encoded. */
    unsubscribeUrl: unsubscribe_url,
  };
}

/** A rule's id does not change when a rule with another name is added or removed. */
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

/** The routing tree; without one, a root with the first receiver. */
function buildRoot(input: ConfigInput): Route {
  const { route, receivers } = input;
  const base: Omit<Route, "routes"> = {
    key: "{}",
    receiver: receivers[0]?.name ?? "",
    matchers: [],
    continue: false,
    ...routeDefaults,
  };
  const intervals = new Map(input.time_intervals.map((interval) => [interval.name, interval]));
  return route ? inherit(base, route, "{}", intervals) : { ...base, routes: [] };
}

/** Mute and active time intervals are not inherited, as in Alertmanager. */
function inherit(
  parent: Omit<Route, "routes">,
  input: RouteInput,
  key: string,
  intervals: ReadonlyMap<string, NamedInterval>,
): Route {
  const named = (names: readonly string[]) => names.flatMap((name) => intervals.get(name) ?? []);
  const [muteTimes, activeTimes] = [named(input.mute_time_intervals), named(input.active_time_intervals)];
  const here: Omit<Route, "routes"> = {
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
  const routes = input.routes.map((child, index) =>
    inherit(here, child, childKey(key, child, index), intervals),
  );
  return { ...here, routes };
}

/** Alertmanager's route id: `{}/{severity="warning"}/0`. */
function childKey(parent: string, child: RouteInput, index: number): string {
  return `${parent}/{${child.matchers.map(formatMatcher).join(",")}}/${index}`;
}

function buildInhibitRule(input: InhibitRuleInput): InhibitRule {
  return {
    sourceMatchers: input.source_matchers,
    targetMatchers: input.target_matchers,
    equal: input.equal,
  };
}
