/** Warnings: settings that are valid and probably not intended. */
import { type Matcher, matchesAll } from "../alerting/matcher.ts";
import type { Route } from "../alerting/route.ts";
import { ownLabels } from "../health/directory.ts";
import { formatDuration } from "../lib/duration.ts";
import { closestWord } from "../lib/suggest.ts";
import { clearText } from "./clear-text.ts";
import type { Config } from "./config.ts";
import type { Environment } from "./document.ts";
import { type Finding, type Path, quoted, warning } from "./problem.ts";
import { enumerate } from "./scalars.ts";

/** `fromEnvironment` is whether anything at or below a path was read from a variable: that is not shown. */
export function advise(
  config: Config,
  { env, fromEnvironment }: { readonly env: Environment; readonly fromEnvironment: (path: Path) => boolean },
): Finding[] {
  const routes = routesIn(config.route, ["route"]);
  return [
    ...clearText(config, env),
    ...slowRequests(config),
    ...routes.flatMap(([route, path]) => reminders(route, path)),
    ...unreached(config.route, ["route"], []),
    ...config.rules.flatMap(({ labels }, index) => (labels.severity === undefined ? [noSeverity(index)] : [])),
    ...unknownLabels(config, routes).map((finding) =>
      fromEnvironment(finding.path) ? { ...finding, found: "an unknown label", suggestion: undefined } : finding,
    ),
    ...(config.rules.length === 0 ? [noRules] : []),
    ...countsRules(config),
    ...groupRules(config, routes),
    ...idleReceivers(config, routes),
    ...(config.route.columns ? [rootByColumn] : []),
  ];
}

const noRules = warning(["rules"], "an empty list", "at least one rule; without any, no alert ever fires");

const rootByColumn = warning(
  ["route"],
  "a receiver with recipients from the directory only",
  "one with others too: it is the receiver of locations without recipients, and of the service",
);

const FEWEST_VISITS = 10;

function countsRules({ rules, counts }: Config): Finding[] {
  const isWatched = rules.some(({ when }) => when.kind === "counts");
  return rules.flatMap(({ when }, index): Finding[] => {
    if (when.kind !== "counts" && when.kind !== "counts_together") return [];
    const path = ["rules", index, "when", when.kind];
    if (!counts.read)
      return [warning(path, "counts.read is false", "true: without counts the rule is never evaluated")];
    if (when.kind === "counts_together")
      return isWatched ? [] : [warning(path, "no rule on counts", "one, whose alerts this replaces")];
    const found = `${when.sensitivity}, which chance often explains`;
    return when.sensitivity < FEWEST_VISITS
      ? [warning([...path, "sensitivity"], found, `${FEWEST_VISITS} or more; the default is 30`)]
      : [];
  });
}

const OF_LOCATIONS = ["location_id", "location"];
const EACH_NOTIFIED = "one; without it each recording of the group is notified as well";
const ROUTE_WITHOUT = "a route for that as well, or no inhibit rule with it: it replaces the alerts of its recordings";

/** A group's alert that repeats those of its recordings, or replaces them where a route by location does not match it. */
function groupRules({ rules, inhibitRules }: Config, routes: readonly Placed[]): Finding[] {
  const groups = rules.filter(({ when }) => when.kind === "group_offline");
  const inhibits = ({ alert, labels }: (typeof rules)[number]) =>
    inhibitRules.some(({ sourceMatchers }) => matchesAll(sourceMatchers, { ...labels, alertname: alert }));
  const silent = groups.find(inhibits);
  const repeated = inhibitRules.length > 0 ? groups.filter((rule) => !inhibits(rule)) : [];
  const byLocation = ([{ matchers }]: Placed) =>
    matchers.some(({ name, operator, value }) => OF_LOCATIONS.includes(name) && operator === "=" && value !== "");
  return [
    ...repeated.map(({ alert }) => warning(["inhibit_rules"], `no source ${alert}`, EACH_NOTIFIED)),
    ...routes.filter(byLocation).flatMap(([, path]) => {
      const found = `a location, which ${silent?.alert} of several locations has not`;
      return silent ? [warning([...path, "matchers"], found, ROUTE_WITHOUT)] : [];
    }),
  ];
}

function noSeverity(index: number): Finding {
  return warning(["rules", index], "a rule without severity", "one in labels: lists and mentions go by it");
}

/** A route with its place and, below the root, the route above it. */
type Placed = readonly [route: Route, path: Path, above: Route | undefined];

function routesIn(route: Route, path: Path, above?: Route): Placed[] {
  const below = route.routes.flatMap((child, index) => routesIn(child, [...path, "routes", index], route));
  return [[route, path, above], ...below];
}

function idleReceivers({ receivers }: Config, routes: readonly Placed[]): Finding[] {
  const steps = routes.flatMap(([route]) => [route, ...(route.escalate ?? [])]);
  const routed = new Set(steps.map(({ receiver }) => receiver));
  return receivers.flatMap(({ name, ...integrations }, index): Finding[] => {
    const path = ["receivers", index];
    if (Object.values(integrations).every((entries) => entries.length === 0)) {
      const keys = enumerate(Object.keys(integrations).map((type) => `${type}_configs`));
      return [warning(path, "a receiver without integrations", `${keys}; alerts routed here notify nobody`)];
    }
    if (routed.has(name)) return [];
    return [warning(path, "a receiver without a route", "a route to it; no alert reaches it")];
  });
}

function reminders(route: Route, path: Path): Finding[] {
  if (route.repeatIntervalMs >= route.groupIntervalMs) return [];
  const found = `${formatDuration(route.repeatIntervalMs)}, less than group_interval`;
  const expected = `${formatDuration(route.groupIntervalMs)} or more: groups are notified no more often`;
  return [warning([...path, "repeat_interval"], found, expected)];
}

/** Nothing is known while a request hangs: that should not last longer than a few sweeps. */
function slowRequests({ service, watch }: Config): Finding[] {
  const mostMs = 3 * Math.max(watch.statusIntervalMs, 5_000);
  if (service.requestTimeoutMs <= mostMs) return [];
  const found = `${formatDuration(service.requestTimeoutMs)}, more than three times watch.status_interval`;
  const expected = `${formatDuration(mostMs)} or less: a service that hangs is detected only after it`;
  return [warning(["service", "request_timeout"], found, expected)];
}

/**
 * Routes that an earlier one keeps every alert from, or whose matchers contradict each other or those of a parent.
 * Only `=` shows that for certain: it gives the value that the others match or not.
 */
function unreached({ routes }: Route, path: Path, above: readonly Matcher[]): Finding[] {
  return routes.flatMap((route, index): Finding[] => {
    const [at, all] = [
      [...path, "routes", index],
      [...above, ...route.matchers],
    ];
    if (all.some((one) => valuesOf(one.name, all).some((value) => !one.matches(value))))
      return [warning([...at, "matchers"], "matchers that no alert has all of", "some that one alert can match")];
    const takes = (earlier: Route) => !earlier.continue && earlier.matchers.every((one) => isImplied(one, all));
    const first = routes.slice(0, index).findIndex(takes);
    if (first < 0) return unreached(route, at, all);
    const expected = `a place before routes[${first}], which takes all that it matches and has no continue`;
    return [warning(at, "a route that no alert reaches", expected)];
  });
}

function isImplied(one: Matcher, by: readonly Matcher[]): boolean {
  const isSame = (other: Matcher) => other.operator === one.operator && other.value === one.value;
  return by.some((other) => other.name === one.name && isSame(other)) || valuesOf(one.name, by).some(one.matches, one);
}

function valuesOf(label: string, matchers: readonly Matcher[]): string[] {
  return matchers.flatMap(({ name, operator, value }) => (name === label && operator === "=" ? [value] : []));
}

/**
 * A label that no alert has is probably misspelt. External alerts, and locations of a directory, may have any: a name in a
 * matcher has to be close to a known one, while by one in `group_by` nothing of lenswatch is grouped.
 */
function unknownLabels(config: Config, routes: readonly Placed[]): Finding[] {
  const ruleLabels = config.rules.flatMap(({ labels }) => Object.keys(labels));
  const ofAlerts = [...new Set([...ownLabels, "receiver", "integration", "severity", ...ruleLabels])];
  const ofRecordings = ownLabels.filter((label) => label !== "alertname");
  const ofLocations = ["location_id", "location", "organisation", "timezone"];
  const named = (names: readonly string[]) => names.map((name) => ({ name }));
  const unknown = config.directory?.locations ? misspelt : unknownIn;
  const chosen = [
    [["maintenance"], config.maintenance, ofAlerts],
    [["digests"], config.digests, ofRecordings],
    [["counts", "closed_days"], config.counts.closedDays, ofLocations],
  ] as const;
  return [
    ...routes.flatMap(([{ matchers }, path]) => misspelt(matchers, [...path, "matchers"], ofAlerts)),
    ...routes.flatMap(([{ groupBy }, path, above]) => {
      const isInherited = groupBy === "..." || groupBy === above?.groupBy;
      return isInherited ? [] : unknown(named(groupBy), [...path, "group_by"], ofAlerts);
    }),
    ...config.inhibitRules.flatMap(({ sourceMatchers, targetMatchers, equal }, index) => {
      const all = { source_matchers: sourceMatchers, target_matchers: targetMatchers, equal: named(equal) };
      return Object.entries(all).flatMap(([key, some]) => misspelt(some, ["inhibit_rules", index, key], ofAlerts));
    }),
    ...chosen.flatMap(([path, all, known]) =>
      all.flatMap(({ matchers }, at) => unknown(matchers, [...path, at, "matchers"], known)),
    ),
  ];
}

function misspelt(matchers: readonly Pick<Matcher, "name">[], path: Path, known: readonly string[]): Finding[] {
  const near = matchers.filter(({ name }) => closestWord(name, known) !== undefined);
  return unknownIn(near, path, known);
}

function unknownIn(matchers: readonly Pick<Matcher, "name">[], path: Path, known: readonly string[]): Finding[] {
  const unknown = matchers.find(({ name }) => !known.includes(name));
  if (!unknown) return [];
  const found = `the unknown label ${quoted(unknown.name)}`;
  const suggestion = closestWord(unknown.name, known);
  return [{ ...warning(path, found, `one of ${known.join(", ")}`), suggestion }];
}
