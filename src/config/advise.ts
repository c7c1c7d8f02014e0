/** Warnings: settings that are valid and probably not intended. */
import type { Matcher, Route } from "../alerting/route.ts";
import { formatDuration } from "../lib/duration.ts";
import { closestWord } from "../lib/suggest.ts";
import { clearText } from "./clear-text.ts";
import type { Config } from "./config.ts";
import type { Environment } from "./document.ts";
import { type Finding, type Path, quoted, warning } from "./problem.ts";
import { reservedLabels } from "./rule-schema.ts";
import { enumerate } from "./scalars.ts";
import type { ConfigInput } from "./schema.ts";

/** `fromEnvironment` is whether anything at or below a path was read from a variable: that is not shown. */
export function advise(
  config: Config,
  input: ConfigInput,
  { env, fromEnvironment }: { readonly env: Environment; readonly fromEnvironment: (path: Path) => boolean },
): Finding[] {
  const routes = routesIn(config.route, ["route"]);
  return [
    ...clearText(input, env),
    ...slowRequests(config),
    ...routes.flatMap(([route, path]) => reminders(route, path)),
    ...unknownLabels(config, routes).map((finding) =>
      fromEnvironment(finding.path) ? { ...finding, found: "an unknown label", suggestion: undefined } : finding,
    ),
    ...(input.rules.length === 0 ? [noRules] : []),
    ...idleReceivers(
      config,
      new Set(
        routes.flatMap(([{ receiver, escalate }]) => [receiver, ...(escalate ?? []).map((step) => step.receiver)]),
      ),
    ),
  ];
}

const noRules = warning(["rules"], "an empty list", "at least one rule; without any, no alert ever fires");

function routesIn(route: Route, path: Path): (readonly [Route, Path])[] {
  const below = route.routes.flatMap((child, index) => routesIn(child, [...path, "routes", index]));
  return [[route, path], ...below];
}

function idleReceivers({ receivers }: Config, routed: ReadonlySet<string>): Finding[] {
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

/** A matcher on a label that no alert has never matches: probably a misspelling. */
function unknownLabels(config: Config, routes: readonly (readonly [Route, Path])[]): Finding[] {
  const ruleLabels = config.rules.flatMap(({ labels }) => Object.keys(labels));
  const ofAlerts = [...new Set([...reservedLabels, "receiver", "integration", ...ruleLabels])];
  const ofRecordings = reservedLabels.filter((label) => label !== "alertname");
  return [
    ...routes.flatMap(([{ matchers }, path]) => unknownIn(matchers, [...path, "matchers"], ofAlerts)),
    ...config.inhibitRules.flatMap(({ sourceMatchers, targetMatchers, equal }, index) => {
      const named = { source_matchers: sourceMatchers, target_matchers: targetMatchers };
      const all = { ...named, equal: equal.map((name) => ({ name })) };
      return Object.entries(all).flatMap(([key, some]) => unknownIn(some, ["inhibit_rules", index, key], ofAlerts));
    }),
    ...config.maintenance.flatMap(({ matchers }, at) => unknownIn(matchers, ["maintenance", at, "matchers"], ofAlerts)),
    ...config.digests.flatMap(({ matchers }, at) => unknownIn(matchers, ["digests", at, "matchers"], ofRecordings)),
  ];
}

function unknownIn(matchers: readonly Pick<Matcher, "name">[], path: Path, known: readonly string[]): Finding[] {
  const unknown = matchers.find(({ name }) => !known.includes(name));
  if (!unknown) return [];
  const found = `the unknown label ${quoted(unknown.name)}`;
  const suggestion = closestWord(unknown.name, known);
  return [{ ...warning(path, found, `one of ${known.join(", ")}`), suggestion }];
}
