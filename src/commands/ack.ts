/** `ack FINGERPRINT`: somebody knows, so no more reminders of that alert until it resolves. */
import { Command, InvalidArgumentError } from "commander";
import { z } from "zod";
import { addDaemonOptions, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import type { CommandIo } from "./cli/io.ts";
import { asJson, outputOption } from "./cli/output.ts";

interface AckOptions extends DaemonOptions {
  readonly comment?: string;
  readonly author?: string;
  readonly output: "text" | "json";
}

/** Exit code 0; 1 where nothing that fires has the fingerprint; else throws DaemonError or ConfigError. */
export function ackCommand(io: CommandIo): Command {
  const ack = new Command("ack")
    .description("Stops reminders of an alert until it resolves. Its end is told all the same.")
    .argument("<fingerprint>", "as `lenswatch alerts` prints it", parseFingerprint)
    .option("--comment <text>", "why")
    .option("--author <name>", "who (default: $USER)")
    .addOption(outputOption("text"))
    .addHelpText(
      "after",
      '\nExample:\n  lenswatch ack 5b1c5a3b0e9f7d21 --comment "the electrician is on his way"',
    );
  return addDaemonOptions(ack).action(async (fingerprint: string, options: AckOptions) => {
    const author = options.author ?? io.env.USER;
    const body = { ...(author ? { author } : {}), ...(options.comment ? { comment: options.comment } : {}) };
    const { alerts } = await withDaemon(options, io, (daemon) =>
      daemon.send("POST", `/api/v1/alerts/${fingerprint}/ack`, body, z.object({ alerts: z.number() })),
    );
    io.stdout.write(
      options.output === "json"
        ? asJson({ fingerprint, alerts })
        : `Acknowledged ${fingerprint}: no reminders until it resolves.\n`,
    );
  });
}

function parseFingerprint(text: string): string {
  if (!/^[0-9a-f]{16}$/i.test(text)) {
    throw new InvalidArgumentError("It should be 16 hex digits, as `lenswatch alerts` prints them.");
  }
  return text.toLowerCase();
}
