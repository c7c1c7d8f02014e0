/** `notify-test RECEIVER`: sends a marked test message through each integration of a receiver. */
import { randomUUID } from "node:crypto";
import { Command } from "commander";
import { integrationName } from "../alerting/integration-name.ts";
import type { Notification } from "../alerting/model.ts";
import { createSenders } from "../app/integrations.ts";
import type { Config } from "../config/config.ts";
import { configFile, loadConfig } from "../config/load.ts";
import type { Sender } from "../deliver/model.ts";
import { withTimeout } from "../lib/abort.ts";
import type { Instant } from "../lib/clock.ts";
import { silentLogger } from "../lib/log.ts";
import { exampleAlert } from "../notify/example.ts";
import {
  asJson,
  attempt,
  type CommandIo,
  type ConfigOptions,
  describeAttempt,
  fail,
  readsConfig,
} from "./cli/command.ts";

const DEADLINE_MS = 10_000;

/** Exit code 0 when every integration accepted it, 1 when one did not, 2 for an unknown receiver. */
export function notifyTestCommand(io: CommandIo): Command {
  const command = new Command("notify-test")
    .description("Send a marked test message to each integration of a receiver.")
    .argument("<receiver>", "a receiver's name in the configuration");
  return readsConfig(command, "lenswatch notify-test ops").action(async (name: string, options: ConfigOptions) => {
    const config = await loadConfig(configFile(options.config, io.env), io.env);
    if (!config.receivers.some((one) => one.name === name)) {
      const names = config.receivers.map((one) => one.name).join(", ");
      return fail(io, 2, `there is no receiver "${name}"; the configuration has ${names}`);
    }
    const print = (line: string) => options.output === "text" && io.stdout.write(line);
    const results = await sendTestMessages(config, name, io.signal, (result) => {
      const { integration, warnings } = result;
      const name = integrationName(integration);
      print(describeAttempt(name, result));
      for (const warning of warnings) print(`${name}: warning: ${warning}\n`);
    });
    if (results.length === 0) print(`${name} has no integrations\n`);
    if (results.some(({ accepted }) => !accepted)) io.setExitCode(1);
    if (options.output === "json") io.stdout.write(asJson(results));
  });
}

type TestResult = Awaited<ReturnType<typeof attempt>> & {
  readonly integration: string;
  /** The problems beyond sending. */
  readonly warnings: readonly string[];
};

/** One test message to each integration of a receiver, in turn. Never throws. */
export async function sendTestMessages(
  config: Config,
  receiver: string,
  signal: AbortSignal,
  onResult: (result: TestResult) => void = () => {},
): Promise<readonly TestResult[]> {
  const senders = createSenders(config, silentLogger);
  try {
    const results: TestResult[] = [];
    for (const sender of senders.byId.values()) {
      const { id: integration, receiver: of } = sender.integration;
      if (of !== receiver) continue;
      const notification = testNotification(sender, Date.now(), config);
      const send = () => sender.send(notification, { signal: withTimeout(signal, DEADLINE_MS) });
      const sent = await attempt(send);
      const warnings = sent.accepted ? await sender.diagnose?.({ signal: withTimeout(signal, DEADLINE_MS) }) : [];
      const result = { integration, ...sent, warnings: warnings ?? [] };
      results.push(result);
      onResult(result);
    }
    return results;
  } finally {
    await senders.close();
  }
}

/** A made-up alert, marked as a test by its reason and its labels. */
function testNotification(sender: Sender, now: Instant, { http, display }: Config): Notification {
  const labels = { alertname: "Test", severity: "info", receiver: sender.integration.receiver };
  const annotations = {
    summary: "This is a test message from lenswatch; nothing is wrong.",
    description:
      "It was asked for with `lenswatch notify-test` or `lenswatch init`. Alerts for this receiver arrive here.",
  };
  return {
    reason: "test",
    receiver: sender.integration.receiver,
    integrationId: sender.integration.id,
    group: { id: "test", labels: {} },
    firing: [
      exampleAlert({ subject: { kind: "service", id: "test" }, labels, annotations, facts: { timezone: "UTC" } }, now),
    ],
    resolved: [],
    now,
    externalUrl: http.externalUrl,
    timezone: display.timezone,
    messageId: randomUUID(),
    trace: [],
    standing: [],
  };
}
