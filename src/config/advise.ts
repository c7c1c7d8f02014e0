/** What is allowed and probably not meant. */

import type { Route } from "../alerting/route.ts";
import { formatDuration } from "../lib/duration.ts";
import type { Config } from "./config.ts";
import type { Finding, Path } from "./finding.ts";
import type { ConfigInput } from "./schema.ts";

export function advise(config: Config, input: ConfigInput): Finding[] {
  const findings = reminders(config.route, ["route"]);
  if (input.rules.length === 0) {
    const expected = "at least one rule: without any, nothing is ever told";
    findings.push({ kind: "value", path: ["rules"], found: "an empty list", expected });
  }
  config.receivers.forEach((receiver, index) => {
    if (receiver.slack.length + receiver.email.length > 0) return;
    const expected = "slack_configs or email_configs: nobody is told what is routed here";
    findings.push({ kind: "value", path: ["receivers", index], found: "a receiver with neither", expected });
  });
  return findings;
}

function reminders(route: Route, path: Path): Finding[] {
  const below = route.routes.flatMap((child, index) => reminders(child, [...path, "routes", index]));
  if (route.repeatIntervalMs >= route.groupIntervalMs) return below;
  const found = `${formatDuration(route.repeatIntervalMs)}, less than group_interval`;
  const expected = `${formatDuration(route.groupIntervalMs)} or more: a group is looked at no more often`;
  return [{ kind: "value", path: [...path, "repeat_interval"], found, expected }, ...below];
}
