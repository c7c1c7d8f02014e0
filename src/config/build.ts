/** The validated file as the rest of the house knows it: defaults inherited, identities given. */

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

/** Where the daemon is asked, and with which tokens. */
export function buildHttp(http: ConfigInput["http"]) {
  return {
    ...http.listen,
    externalUrl: http.external_url,
    adminToken: http.admin_token,
    readToken: http.read_token,
  };
}

/** What each key is called in the house; `Config` is what this gives. */
export function buildConfig(input: ConfigInput) {
  const { service, redis, watch, smtp, http, heartbeat } = input;
  return {
    service: {
      /** Without a trailing slash, as the next two. */
      baseUrl: service.base_url,
      wsUrl: service.ws_url,
      authUrl: service.auth_url,
      clientId: service.client_id,
      clientSecret: service.client_secret,
      audience: service.audience,
      requestTimeoutMs: service.request_timeout,
      uptimeIndexTimezone: service.uptime_index_timezone,
      /** Undefined: the system's authorities, and no certificate of ours. */
      tls: service.tls,
    },
    /** One of `url`, `sentinels` and `cluster`; none: an embedded redis-server is started (or adopted). */
    redis: {
      url: redis.url,
      sentinels: redis.sentinels,
      /** What Sentinels call the master. */
      name: redis.name,
      cluster: redis.cluster,
      /** The login for `sentinels` and `cluster`; a URL has its own. */
      username: redis.username,
      password: redis.password,
      sentinelPassword: redis.sentinel_password,
      /** Undefined: no TLS unless the URL says so. */
      tls: redis.tls,
      prefix: redis.prefix,
    },
    watch: {
      locations: watch.locations,
      /** Recording or location ids never watched. */
      exclude: watch.exclude,
      forgetAfterMs: watch.forget_after,
      statusIntervalMs: watch.status_interval,
      uptimeIntervalMs: watch.uptime_interval,
      inventoryIntervalMs: watch.inventory_interval,
      locationsPerRequest: watch.locations_per_request,
      /** How long the incident log keeps a line. */
      historyMs: watch.history,
    },
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
    http: buildHttp(http),
    /** A dead man's switch. */
    heartbeat: heartbeat && { url: heartbeat.url, intervalMs: heartbeat.interval },
    log: input.log,
  };
}

function buildDigest(input: ConfigInput["digests"][number]) {
  const { untrusted_below, unsubscribe_url, ...same } = input;
  return {
    ...same,
    /** With less uptime on a day, a location's visitor counts of that day are not to be trusted; 0–1. */
    untrustedBelow: untrusted_below,
    /** https; `{recipient}` stands for the reader's address, percent-encoded. */
    unsubscribeUrl: unsubscribe_url,
  };
}

/** Ids stay what they are when a rule of another name is added or removed. */
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

/** The root as it would be with nothing said but its receiver. */
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

/** Mute and active times hold for their own route alone, as Alertmanager has it. */
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
