/** `check-config`: validates a configuration and summarises it. All problems are printed at once. */
import { Command } from "commander";
import { formatMatcher } from "../alerting/matcher.ts";
import type { Route } from "../alerting/route.ts";
import type { Config, ReceiverConfig } from "../config/config.ts";
import { configFile, type LoadedConfig, loadWithWarnings } from "../config/load.ts";
import { ConfigError, type ConfigProblem, formatProblem } from "../config/problem.ts";
import { formatDuration } from "../lib/duration.ts";
import { counted } from "../lib/format.ts";
import { checkDirectory, type DirectoryReport, describeDirectory } from "./check-directory.ts";
import { type CommandIo, type ConfigOptions, print, readsConfig } from "./cli/command.ts";

/** Exit code 0 valid, 1 invalid. Throws ConfigError for a file that cannot be read. */
export function checkConfigCommand(io: CommandIo): Command {
  const command = new Command("check-config").description(
    "Validate a configuration and print every problem with its position and what is expected.",
  );
  const example = "lenswatch check-config --config /etc/lenswatch/lenswatch.yaml";
  return readsConfig(command, example).action(async (options: ConfigOptions) => {
    const file = configFile(options.config, io.env);
    const checked = await check(file, io.env);
    const directory = "problems" in checked ? undefined : await checkDirectory(checked.config);
    if ("problems" in checked || directory?.problem !== undefined) io.setExitCode(1);
    print(io, options.output, { ...answerOf(file, checked), directory }, () => asText(file, checked, directory));
  });
}

type Checked = LoadedConfig | { readonly problems: readonly ConfigProblem[] };

async function check(file: string, env: CommandIo["env"]): Promise<Checked> {
  try {
    return await loadWithWarnings(file, env);
  } catch (thrown) {
    if (thrown instanceof ConfigError && thrown.code === "invalid") return { problems: thrown.problems };
    throw thrown;
  }
}

function answerOf(file: string, checked: Checked): object {
  return "problems" in checked
    ? { file, valid: false, problems: checked.problems }
    : { file, valid: true, warnings: checked.warnings, ...summarise(checked.config) };
}

function summarise(config: Config) {
  return {
    rules: config.rules.map(({ id }) => id),
    receivers: config.receivers.map(({ name, ...channels }) => ({
      name,
      ...Object.fromEntries(Object.entries(channels).map(([type, entries]) => [type, entries.length])),
      email: channels.email.flatMap(({ to }) => to),
    })),
    digests: config.digests.map(({ name }) => name),
    route: summariseRoute(config.route),
  };
}

function summariseRoute({ key, receiver, routes }: Route): object {
  return { key, receiver, routes: routes.map(summariseRoute) };
}

function asText(file: string, checked: Checked, directory: DirectoryReport | undefined): string {
  const lines =
    "problems" in checked
      ? [...checked.problems.map(formatProblem), `${file}: ${counted(checked.problems.length, "problem")}`]
      : [...describe(file, checked), ...(directory ? describeDirectory(directory) : [])];
  return `${lines.join("\n")}\n`;
}

function describe(file: string, { config, warnings }: LoadedConfig): string[] {
  const { rules, receivers, digests } = config;
  const counts = Object.entries({ rule: rules, receiver: receivers, digest: digests });
  return [
    `${file}: valid, with ${counts.map(([noun, { length }]) => counted(length, noun)).join(", ")}`,
    ...warnings.map((warning) => `warning: ${formatProblem(warning)}`),
    `rules: ${rules.map(({ id }) => id).join(", ")}`,
    ...receivers.map((receiver) => `receiver ${receiver.name}: ${describeReceiver(receiver)}`),
    ...describeRoute(config.route, ""),
  ];
}

const NOUNS: Readonly<Record<string, string>> = {
  alertmanager: "Alertmanager",
  pagerduty: "PagerDuty service",
  msteamsv2: "Teams workflow",
};

function describeReceiver({ name: _, ...channels }: ReceiverConfig): string {
  const parts = Object.entries(channels).flatMap(([type, entries]) => {
    if (type === "slack") return describeSlack(channels.slack);
    if (type === "email")
      return channels.email.map(
        ({ to, columns }) => `e-mail to ${[...to, ...columns.map((name) => `the directory's ${name}`)].join(", ")}`,
      );
    return entries.length > 0 ? [counted(entries.length, NOUNS[type] ?? type)] : [];
  });
  return parts.join("; ") || "no integrations";
}

function describeSlack(slack: ReceiverConfig["slack"]): string[] {
  const webhooks = slack.filter(({ app }) => app === undefined).length;
  const apps = slack.flatMap(({ app }) => (app ? [`Slack app in ${app.channel}`] : []));
  return [...(webhooks > 0 ? [counted(webhooks, "Slack webhook")] : []), ...apps];
}

function describeRoute(route: Route, indent: string): string[] {
  const matching = route.matchers.length === 0 ? "all" : route.matchers.map(formatMatcher).join(", ");
  const by = route.groupBy === "..." ? "ungrouped" : `by ${route.groupBy.join(", ") || "nothing"}`;
  const repeat = formatDuration(route.repeatIntervalMs);
  const steps = (route.escalate ?? []).map(
    ({ afterMs, receiver }) => `, ${receiver} after ${formatDuration(afterMs)} unattended`,
  );
  const more = `${steps.join("")}${route.continue ? ", continue" : ""}`;
  return [
    `${indent}${indent === "" ? "route: " : "└ "}${matching} → ${route.receiver} (${by}, repeat after ${repeat}${more})`,
    ...route.routes.flatMap((child) => describeRoute(child, `${indent}  `)),
  ];
}
