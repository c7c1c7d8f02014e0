/** `check-config`: whether a configuration would be taken, and what it says. Every problem at once. */
import { Command } from "commander";
import { formatMatcher } from "../alerting/matcher.ts";
import type { Route } from "../alerting/route.ts";
import type { Config, ReceiverConfig } from "../config/config.ts";
import { configFile, type LoadedConfig, loadWithWarnings } from "../config/load.ts";
import { ConfigError, type ConfigProblem, formatProblem } from "../config/problem.ts";
import { formatDuration } from "../lib/duration.ts";
import type { CommandIo } from "./cli/io.ts";
import { outputOption } from "./cli/output.ts";

/** Exit code 0 fine, 1 any problem; a file that cannot be read throws ConfigError. */
export function checkConfigCommand(io: CommandIo): Command {
  return new Command("check-config")
    .description("Check a configuration and print every problem with its place and what would be right.")
    .option("--config <file>", "the configuration (default: $LENSWATCH_CONFIG or config/lenswatch.yaml)")
    .addOption(outputOption("text"))
    .addHelpText("after", "\nExample:\n  lenswatch check-config --config /etc/lenswatch/lenswatch.yaml")
    .action(async (options: { config?: string; output: "text" | "json" }) => {
      const file = configFile(options.config, io.env);
      const checked = await check(file, io.env);
      if ("problems" in checked) io.setExitCode(1);
      io.stdout.write(options.output === "json" ? asJson(file, checked) : asText(file, checked));
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

function asJson(file: string, checked: Checked): string {
  const answer =
    "problems" in checked
      ? { file, valid: false, problems: checked.problems }
      : { file, valid: true, warnings: checked.warnings, ...summarise(checked.config) };
  return `${JSON.stringify(answer, null, 2)}\n`;
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

interface RouteSummary {
  readonly key: string;
  readonly receiver: string;
  readonly routes: readonly RouteSummary[];
}

function summariseRoute({ key, receiver, routes }: Route): RouteSummary {
  return { key, receiver, routes: routes.map(summariseRoute) };
}

function asText(file: string, checked: Checked): string {
  const lines =
    "problems" in checked
      ? [...checked.problems.map(formatProblem), `${file}: ${count(checked.problems.length, "problem")}`]
      : fine(file, checked);
  return `${lines.join("\n")}\n`;
}

function fine(file: string, { config, warnings }: LoadedConfig): string[] {
  const { rules, receivers, digests } = config;
  const counts = [
    count(rules.length, "rule"),
    count(receivers.length, "receiver"),
    count(digests.length, "digest"),
  ];
  return [
    `${file}: fine, with ${counts.join(", ")}`,
    ...warnings.map((warning) => `warning: ${formatProblem(warning)}`),
    `rules: ${rules.map(({ id }) => id).join(", ")}`,
    ...receivers.map((receiver) => `receiver ${receiver.name}: ${describeReceiver(receiver)}`),
    ...describeRoute(config.route, ""),
  ];
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

const NOUNS: Readonly<Record<string, string>> = { slack: "Slack webhook", alertmanager: "Alertmanager" };

function describeReceiver({ name: _, ...channels }: ReceiverConfig): string {
  const parts = Object.entries(channels).flatMap(([type, entries]) => {
    if (type === "email") return channels.email.map(({ to }) => `e-mail to ${to.join(", ")}`);
    return entries.length > 0 ? [count(entries.length, NOUNS[type] ?? type)] : [];
  });
  return parts.join("; ") || "nobody";
}

function describeRoute(route: Route, indent: string): string[] {
  const who = route.matchers.length === 0 ? "all" : route.matchers.map(formatMatcher).join(", ");
  const by = route.groupBy === "..." ? "each alone" : `by ${route.groupBy.join(", ") || "nothing"}`;
  const repeat = formatDuration(route.repeatIntervalMs);
  const more = route.continue ? ", and on" : "";
  return [
    `${indent}${indent === "" ? "route: " : "└ "}${who} → ${route.receiver} (${by}, again after ${repeat}${more})`,
    ...route.routes.flatMap((child) => describeRoute(child, `${indent}  `)),
  ];
}
