/** What is allowed and probably not meant. */

import type { InhibitRule } from "../alerting/inhibit.ts";
import type { Route } from "../alerting/route.ts";
import { formatDuration } from "../lib/duration.ts";
import type { Config } from "./config.ts";
import { type Finding, type Path, quoted } from "./finding.ts";
import { reservedLabels } from "./rule-schema.ts";
import { nearest } from "./scalars.ts";
import type { ConfigInput } from "./schema.ts";

/** `fromEnvironment` says whether anything at or below a path was read from a variable: that is not shown. */
export function advise(
  config: Config,
  input: ConfigInput,
  fromEnvironment: (path: Path) => boolean,
): Finding[] {
  const findings = [
    ...clearText(input),
    ...slowQuestions(config),
    ...reminders(config.route, ["route"]),
    ...hideNames(strangeLabels(config), fromEnvironment),
  ];
  if (input.rules.length === 0) {
    const expected = "at least one rule: without any, nothing is ever told";
    findings.push({ kind: "value", path: ["rules"], found: "an empty list", expected });
  }
  const routed = receiversOf(config.route);
  config.receivers.forEach(({ name, slack, email, webhook, alertmanager }, index) => {
    const point = (found: string, expected: string) =>
      findings.push({ kind: "value", path: ["receivers", index], found, expected });
    const tellsNobody = [slack, email, webhook, alertmanager].every((entries) => entries.length === 0);
    if (tellsNobody) {
      point(
        "a receiver with none",
        "slack_configs, email_configs, webhook_configs or alertmanager_configs: nobody is told what is routed here",
      );
    } else if (!routed.has(name)) {
      point("a receiver that no route leads to", "a route to it: it is told of no alert");
    }
  });
  return findings;
}

/** Every receiver a tree of routes names. */
function receiversOf({ receiver, routes }: Route): Set<string> {
  return new Set([receiver, ...routes.flatMap((child) => [...receiversOf(child)])]);
}

function reminders(route: Route, path: Path): Finding[] {
  const below = route.routes.flatMap((child, index) => reminders(child, [...path, "routes", index]));
  if (route.repeatIntervalMs >= route.groupIntervalMs) return below;
  const found = `${formatDuration(route.repeatIntervalMs)}, less than group_interval`;
  const expected = `${formatDuration(route.groupIntervalMs)} or more: a group is looked at no more often`;
  return [{ kind: "value", path: [...path, "repeat_interval"], found, expected }, ...below];
}

/** While a question hangs nothing is known: that should not last longer than a few sweeps. */
function slowQuestions({ service, watch }: Config): Finding[] {
  const mostMs = 3 * Math.max(watch.statusIntervalMs, 5_000);
  if (service.requestTimeoutMs <= mostMs) return [];
  const found = `${formatDuration(service.requestTimeoutMs)}, more than three times watch.status_interval`;
  const expected = `${formatDuration(mostMs)} or less: a service that hangs is noticed only after it`;
  return [{ kind: "value", path: ["service", "request_timeout"], found, expected }];
}

const HERE = /^(?:localhost|127\.|\[::1\])/;

function clearText({ service }: ConfigInput): Finding[] {
  return (["base_url", "ws_url", "auth_url"] as const).flatMap((key): Finding[] => {
    const { protocol, hostname } = new URL(service[key]);
    if (protocol.endsWith("s:") || HERE.test(hostname)) return [];
    const expected = `${protocol.slice(0, -1)}s:// so that credentials are not sent in the clear`;
    return [{ kind: "value", path: ["service", key], found: `${protocol}//`, expected }];
  });
}

/** A matcher on a label that nothing ever has is a slip of the pen: its route would wait for ever. */
function strangeLabels(config: Config): Finding[] {
  const ofAlerts = [
    ...reservedLabels,
    "receiver",
    "integration",
    ...config.rules.flatMap(({ labels }) => Object.keys(labels)),
  ];
  const ofRecordings = reservedLabels.filter((label) => label !== "alertname");
  return [
    ...inRoutes(config.route, ["route"], ofAlerts),
    ...config.inhibitRules.flatMap((rule, index) => inInhibitRule(rule, ["inhibit_rules", index], ofAlerts)),
    ...config.digests.flatMap(({ matchers }, index) => unknownIn(matchers, ["digests", index], ofRecordings)),
  ];
}

function hideNames(findings: readonly Finding[], fromEnvironment: (path: Path) => boolean): Finding[] {
  return findings.map((finding) =>
    fromEnvironment(finding.path)
      ? { ...finding, found: "a label that nothing has", suggestion: undefined }
      : finding,
  );
}

function inRoutes(route: Route, path: Path, known: readonly string[]): Finding[] {
  const below = route.routes.flatMap((child, index) => inRoutes(child, [...path, "routes", index], known));
  return [...unknownIn(route.matchers, path, known), ...below];
}

function inInhibitRule(rule: InhibitRule, path: Path, known: readonly string[]): Finding[] {
  return [
    ...unknownIn(rule.sourceMatchers, path, known, "source_matchers"),
    ...unknownIn(rule.targetMatchers, path, known, "target_matchers"),
    ...unknownIn(
      rule.equal.map((name) => ({ name })),
      path,
      known,
      "equal",
    ),
  ];
}

function unknownIn(
  matchers: readonly { readonly name: string }[],
  path: Path,
  known: readonly string[],
  key = "matchers",
): Finding[] {
  const strange = matchers.filter(({ name }) => !known.includes(name));
  return strange.slice(0, 1).map(({ name }) => ({
    kind: "value",
    path: [...path, key],
    found: `the label ${quoted(name)}, which nothing has`,
    expected: `one of ${[...new Set(known)].join(", ")}`,
    suggestion: nearest(name, known),
  }));
}
