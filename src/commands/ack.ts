/** `ack FINGERPRINT`: acknowledge an alert, which stops its reminders until it resolves. */
import { Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import { type CommandIo, outputOption, print, withExample } from "./cli/command.ts";
import { addDaemonOptions, type DaemonOptions, withDaemon } from "./cli/daemon.ts";

type AckOptions = DaemonOptions & Readonly<{ comment?: string; author?: string; output: "text" | "json" }>;

/** Exit code 0; 1 where no firing alert has the fingerprint; else throws DaemonError or ConfigError. */
export function ackCommand(io: CommandIo): Command {
  const ack = new Command("ack")
    .description("Stop reminders of an alert until it resolves. The resolved notification is still sent.")
    .argument("<fingerprint>", "as printed by `lenswatch alerts`", parseFingerprint)
    .option("--comment <text>", "the reason")
    .option("--author <name>", "the author (default: $USER)")
    .addOption(outputOption("text"));
  withExample(addDaemonOptions(ack), 'lenswatch ack 5b1c5a3b0e9f7d21 --comment "an electrician is on the way"');
  return ack.action(async (fingerprint: string, options: AckOptions) => {
    const author = options.author ?? io.env.USER;
    const body = { ...(author ? { author } : {}), ...(options.comment ? { comment: options.comment } : {}) };
    const { alerts } = await withDaemon(options, io, (daemon) =>
      daemon.send("POST", `/api/v1/alerts/${fingerprint}/ack`, body, z.object({ alerts: z.number() })),
    );
    const text = `Acknowledged ${fingerprint}: no reminders until it resolves.\n`;
    print(io, options.output, { fingerprint, alerts }, () => text);
  });
}

function parseFingerprint(text: string): string {
  if (!/^[0-9a-f]{16}$/i.test(text))
    throw new InvalidArgumentError("It must be 16 hex digits, as printed by `lenswatch alerts`.");
  return text.toLowerCase();
}
