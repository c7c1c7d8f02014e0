/** `lenswatch notify-test RECEIVER`: one clearly marked message through each of a receiver's integrations. */
import { randomUUID } from "node:crypto";
import { Command } from "commander";
import { fingerprint } from "../alerting/fingerprint.ts";
import type { Notification } from "../alerting/notification.ts";
import { createSenders } from "../app/integrations.ts";
import { configFile, loadConfig } from "../config/load.ts";
import type { Sender } from "../deliver/deliver.ts";
import type { Instant } from "../lib/clock.ts";
import { toError } from "../lib/errors.ts";
import { silentLogger } from "../lib/log.ts";
import type { CommandIo } from "./cli/io.ts";
import { asJson, outputOption } from "./cli/output.ts";

const DEADLINE_MS = 10_000;

/** Exit code 0 when every integration accepted it, 1 when one refused, 2 for a receiver that is not there. */
export function notifyTestCommand(io: CommandIo): Command {
  return new Command("notify-test")
    .description("Send one clearly marked test message to a receiver, through the real path.")
    .argument("<receiver>", "a receiver's name in the configuration")
    .option("--config <file>", "the configuration (default: $LENSWATCH_CONFIG or config/lenswatch.yaml)")
    .addOption(outputOption("text"))
    .addHelpText("after", "\nExample:\n  lenswatch notify-test ops")
    .action(async (name: string, options: { config?: string; output: "text" | "json" }) => {
      const config = await loadConfig(configFile(options.config, io.env), io.env);
      if (!config.receivers.some((one) => one.name === name)) {
        const names = config.receivers.map((one) => one.name).join(", ");
        io.stderr.write(`lenswatch: there is no receiver "${name}"; the configuration has ${names}\n`);
        return io.setExitCode(2);
      }
      const channels = createSenders(config, silentLogger);
      try {
        const mine = [...channels.byId.values()].filter(({ integration }) => integration.receiver === name);
        const told: Told[] = [];
        const print = (line: string) => options.output === "text" && io.stdout.write(line);
        if (mine.length === 0) print(`${name} has no integrations: nobody would be told anything\n`);
        for (const sender of mine) {
          const one = await tell(sender, config.http.externalUrl, io);
          print(`${one.integration}: ${one.accepted ? "accepted" : `not accepted: ${one.problem}`}\n`);
          told.push(one);
        }
        if (options.output === "json") io.stdout.write(asJson(told));
        if (told.some(({ accepted }) => !accepted)) io.setExitCode(1);
      } finally {
        await channels.close();
      }
    });
}

interface Told {
  readonly integration: string;
  readonly accepted: boolean;
  readonly problem: string | null;
}

async function tell(sender: Sender, externalUrl: string | undefined, io: CommandIo): Promise<Told> {
  const { id: integration } = sender.integration;
  try {
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(DEADLINE_MS)]);
    await sender.send(testNotification(sender, Date.now(), externalUrl), { signal });
    return { integration, accepted: true, problem: null };
  } catch (thrown) {
    return { integration, accepted: false, problem: toError(thrown).message };
  }
}

/** An invented alert, marked as a test by its reason and its labels. */
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
