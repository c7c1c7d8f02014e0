/** `ack FINGERPRINT`: acknowledge an alert, which stops its reminders until it resolves. */
import { Command } from "commander";
import { z } from "zod";
import { stripControls } from "../lib/text.ts";
import { type CommandIo, hexIdParser, outputOption, print, withExample } from "./cli/command.ts";
import {
  addDaemonOptions,
  authorFrom,
  type Daemon,
  DaemonError,
  type DaemonOptions,
  withDaemon,
} from "./cli/daemon.ts";

type AckOptions = DaemonOptions & Readonly<{ comment?: string; author?: string; output: "text" | "json" }>;

/** Exit code 0; 1 where no firing alert has the fingerprint; else throws DaemonError or ConfigError. */
export function ackCommand(io: CommandIo): Command {
  const ack = new Command("ack")
    .description("Stop reminders of an alert until it resolves. The resolved notification is still sent.")
    .argument("<fingerprint>", "as printed by `lenswatch alerts`", hexIdParser("lenswatch alerts"))
    .option("--comment <text>", "the reason")
    .option("--author <name>", "the author (default: $USER)")
    .addOption(outputOption("text"));
  withExample(addDaemonOptions(ack), 'lenswatch ack 5b1c5a3b0e9f7d21 --comment "an electrician is on the way"');
  return ack.action(async (fingerprint: string, options: AckOptions) => {
    const body = { author: authorFrom(options, io.env), ...(options.comment ? { comment: options.comment } : {}) };
    const { alerts, replaced } = await withDaemon(options, io, async (daemon) => {
      const before = await acknowledgedBy(daemon, fingerprint);
      const path = `/api/v1/alerts/${fingerprint}/ack`;
      const done = await daemon.send("POST", path, body, z.object({ alerts: z.number() }), IF_MISSING);
      return { ...done, replaced: before };
    });
    const instead = replaced === undefined ? "" : ` This replaces the acknowledgement of ${stripControls(replaced)}.`;
    const text = `Acknowledged ${fingerprint}: no reminders until it resolves.${instead}\n`;
    print(io, options.output, { fingerprint, alerts }, () => text);
  });
}

const IF_MISSING = "`lenswatch alerts --silenced --inhibited` lists those that fire";

const Acknowledged = z.object({
  fingerprint: z.string(),
  status: z.object({ acknowledgement: z.object({ author: z.string() }).optional() }),
});

/** Undefined also where the token may acknowledge and not read. */
async function acknowledgedBy(daemon: Daemon, fingerprint: string): Promise<string | undefined> {
  const parameters = { silenced: "true", inhibited: "true" };
  try {
    const alerts = await daemon.get("/api/v2/alerts", parameters, z.array(Acknowledged));
    return alerts.find((alert) => alert.fingerprint === fingerprint)?.status.acknowledgement?.author;
  } catch (thrown) {
    if (thrown instanceof DaemonError) return undefined;
    throw thrown;
  }
}
