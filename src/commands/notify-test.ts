/** `notify-test RECEIVER`: sends a marked test message through each integration of a receiver. */
import { randomUUID } from "node:crypto";
import { Command } from "commander";
import { fingerprint } from "../alerting/fingerprint.ts";
import type { Notification } from "../alerting/notification.ts";
import { createSenders } from "../app/integrations.ts";
import { configFile, loadConfig } from "../config/load.ts";
import type { Sender } from "../deliver/deliver.ts";
import { withTimeout } from "../lib/abort.ts";
import type { Instant } from "../lib/clock.ts";
import { silentLogger } from "../lib/log.ts";
import {
  asJson,
  attempt,
  type CommandIo,
  configOption,
  describeAttempt,
  fail,
  outputOption,
  withExample,
} from "./cli/command.ts";

const DEADLINE_MS = 10_000;

/** Exit code 0 when every integration accepted it, 1 when one did not, 2 for an unknown receiver. */
export function notifyTestCommand(io: CommandIo): Command {
  const command = new Command("notify-test")
    .description("Send a marked test message to each integration of a receiver.")
    .argument("<receiver>", "a receiver's name in the configuration")
    .addOption(configOption())
    .addOption(outputOption("text"));
  return withExample(command, "lenswatch notify-test ops").action(
    async (name: string, options: { config?: string; output: "text" | "json" }) => {
      const config = await loadConfig(configFile(options.config, io.env), io.env);
      if (!config.receivers.some((one) => one.name === name)) {
        const names = config.receivers.map((one) => one.name).join(", ");
        return fail(io, 2, `there is no receiver "${name}"; the configuration has ${names}`);
      }
      const channels = createSenders(config, silentLogger);
      try {
        const mine = [...channels.byId.values()].filter(({ integration }) => integration.receiver === name);
        const results: object[] = [];
        const print = (line: string) => options.output === "text" && io.stdout.write(line);
        if (mine.length === 0) print(`${name} has no integrations\n`);
        for (const sender of mine) {
          const notification = testNotification(sender, Date.now(), config.http.externalUrl);
          const result = await attempt(() =>
            sender.send(notification, { signal: withTimeout(io.signal, DEADLINE_MS) }),
          );
          const { id: integration } = sender.integration;
          print(describeAttempt(integration, result));
          results.push({ integration, ...result });
          if (!result.accepted) io.setExitCode(1);
        }
        if (options.output === "json") io.stdout.write(asJson(results));
      } finally {
        await channels.close();
      }
    },
  );
}

/** A made-up alert, marked as a test by its reason and its labels. */
function testNotification(sender: Sender, now: Instant, externalUrl: string | undefined): Notification {
  const labels = { alertname: "Test", severity: "info", receiver: sender.integration.receiver };
  return {
    reason: "test",
    receiver: sender.integration.receiver,
    integrationId: sender.integration.id,
    group: { id: "test", labels: {} },
    firing: [
      {
        id: `Test/service/test@${now}`,
        key: "Test/service/test",
        ruleId: "Test",
        subject: { kind: "service", id: "test" },
        labels,
        annotations: {
          summary: "This is a test message from lenswatch; nothing is wrong.",
          description: "It was asked for with `lenswatch notify-test`. Alerts for this receiver arrive here.",
        },
        state: "firing",
        startsAt: now,
        firedAt: now,
        updatedAt: now,
        facts: { timezone: "UTC" },
        fingerprint: fingerprint(labels),
        isNew: true,
      },
    ],
    resolved: [],
    now,
    externalUrl,
    messageId: randomUUID(),
  };
}
