/** The configuration as loaded: defaults filled in, durations in ms, ratios 0–1, secrets resolved. */

import { scryptSync } from "node:crypto";
import type { Maintenance } from "../alerting/maintenance.ts";
import { formatMatcher } from "../alerting/matcher.ts";
import type { EscalationStep, Route } from "../alerting/route.ts";
import type { NamedInterval } from "../alerting/time-interval.ts";
import type { Rule } from "../health/model.ts";
import { buildChannels } from "./channel-schema.ts";
import { resolvePaths } from "./directory-schema.ts";
import { type RouteInput, routeDefaults } from "./route-schema.ts";
import type { ConfigInput } from "./schema.ts";

export type Config = Readonly<ReturnType<typeof buildConfig>>;
export type ReceiverConfig = Config["receivers"][number];
export type DigestConfig = Config["digests"][number];

/**
 * 32 hex digits, equal for replicas that would act the same: the listen address, Redis, metrics and the log level do not count.
 * The hash is stored in Redis and covers secrets, so it is deliberately slow (tens of ms) against guessing. With the ids
 * that its integrations are stored under.
 */
export function configHash(config: Config, recipients: readonly string[] = []): string {
  const { redis: _, log: __, metrics: ___, http, ...rest } = config;
  const decisive = { ...rest, externalUrl: http.externalUrl, recipients };
  return scryptSync(JSON.stringify(decisive), "lenswatch configuration", 16).toString("hex");
}

/** The configuration of a validated file in a directory; `Config` is its type. */
export function buildConfig({ slackApiUrl, timeIntervals, ...input }: ConfigInput, folder: string) {
  const intervals: Intervals = new Map(timeIntervals.map((interval) => [interval.name, interval]));
  return {
    ...input,
    directory: input.directory && {
      ...resolvePaths(input.directory, folder),
      recipients: [...new Set(input.receivers.flatMap(columnsOf))],
    },
    rules: withIds(input.rules),
    digests: input.digests.map(({ timezone = input.display.timezone ?? "UTC", ...one }) => ({ ...one, timezone })),
    route: buildRoot(input, intervals),
    receivers: input.receivers.map(({ name, ...entries }) => ({ name, ...buildChannels(entries, slackApiUrl) })),
    maintenance: input.maintenance.map(({ timeIntervals: names, comment = "", ...rest }): Maintenance => {
      return { ...rest, comment, timeIntervals: named(names, intervals) };
    }),
  };
}

/** Ids by name and order; `identify` gives rules at work those that are stored. */
function withIds(rules: ConfigInput["rules"]): Rule[] {
  const seen = new Map<string, number>();
  return rules.map((rule) => {
    const count = (seen.get(rule.alert) ?? 0) + 1;
    seen.set(rule.alert, count);
    return { id: count === 1 ? rule.alert : `${rule.alert}#${count}`, ...rule };
  });
}

type RouteBase = Omit<Route, "routes" | "escalate">;
type Intervals = ReadonlyMap<string, NamedInterval>;

function named(names: readonly string[], intervals: Intervals): NamedInterval[] {
  return names.flatMap((name) => intervals.get(name) ?? []);
}

type ReceiverInput = ConfigInput["receivers"][number];

/** The columns of the directory that recipients are in. */
function columnsOf({ emailConfigs }: ReceiverInput): string[] {
  return emailConfigs.flatMap(({ to }) => to.columns);
}

/** The same of receivers that have no other recipients. */
function ownColumns(receivers: readonly ReceiverInput[]): ReadonlyMap<string, readonly string[]> {
  const isOnly = ({ name: _, emailConfigs, ...others }: ReceiverInput) =>
    emailConfigs.every(({ to }) => to.addresses.length === 0) && Object.values(others).every((all) => all.length === 0);
  return new Map(
    receivers.filter((one) => isOnly(one) && columnsOf(one).length > 0).map((one) => [one.name, columnsOf(one)]),
  );
}

/** The routing tree; without one, a root with the first receiver. */
function buildRoot({ route, receivers }: Pick<ConfigInput, "route" | "receivers">, intervals: Intervals): Route {
  const receiver = receivers[0]?.name ?? "";
  const base: RouteBase = { key: "{}", receiver, matchers: [], continue: false, ...routeDefaults };
  const tree = route ? inherit(base, route, "{}", intervals) : { ...base, routes: [] };
  return withColumns(tree, ownColumns(receivers));
}

function withColumns(route: Route, columns: ReadonlyMap<string, readonly string[]>): Route {
  const own = columns.get(route.receiver);
  return { ...route, ...(own && { columns: own }), routes: route.routes.map((below) => withColumns(below, columns)) };
}

/** Mute and active time intervals are not inherited, as in Alertmanager. A step to the route's own receiver is none. */
function inherit(
  { muteTimes: _, activeTimes: __, ...parent }: RouteBase,
  { routes, storm, escalate, muteTimeIntervals, activeTimeIntervals, ...own }: RouteInput,
  key: string,
  intervals: Intervals,
  above: readonly EscalationStep[] = [],
): Route {
  const [muteTimes, activeTimes] = [named(muteTimeIntervals, intervals), named(activeTimeIntervals, intervals)];
  const here: RouteBase = {
    ...parent,
    ...given({ ...own, stormGroups: storm?.groups }),
    key,
    ...(muteTimes.length > 0 ? { muteTimes } : {}),
    ...(activeTimes.length > 0 ? { activeTimes } : {}),
  };
  const steps = escalate ?? above;
  const others = steps.filter(({ receiver }) => receiver !== here.receiver);
  const below = routes.map((child, i) => inherit(here, child, childKey(key, child, i), intervals, steps));
  return { ...here, ...(others.length > 0 ? { escalate: others } : {}), routes: below };
}

/** The values that are given: the others are inherited. */
function given<T extends object>(values: T): { readonly [K in keyof T]: NonNullable<T[K]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { readonly [K in keyof T]: NonNullable<T[K]> };
}

/** Alertmanager's route id: `{}/{severity="warning"}/0`. */
function childKey(parent: string, child: RouteInput, index: number): string {
  return `${parent}/{${child.matchers.map(formatMatcher).join(",")}}/${index}`;
}
