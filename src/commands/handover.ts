/** `handover`: what one shift tells the next, of a running daemon; or a note for it. */
import { Command } from "commander";
import { z } from "zod";
import { isoTime } from "../http/query.ts";
import { ApiHandover } from "../http/v1/handover.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { PAST_EXAMPLES } from "../lib/moment.ts";
import { stripControls } from "../lib/text.ts";
import { type CommandIo, type PastIn, pastOption, print } from "./cli/command.ts";
import { asksDaemon, authorFrom, type Daemon, type DaemonOptions, readerZone, withDaemon } from "./cli/daemon.ts";

type HandoverOptions = DaemonOptions &
  Readonly<{ since?: PastIn; until?: PastIn; timezone?: string; note?: string; author?: string; output: string }>;

const Added = z.looseObject({ author: z.string() });

/** Exit code 0. Throws DaemonError or ConfigError. */
export function handoverCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("handover")
    .description("Print what one shift tells the next: incidents, who has them, what ends soon, and notes.")
    .addOption(pastOption("--since <time>", `its beginning: ${PAST_EXAMPLES} (default: 12h)`, clock.now()))
    .addOption(pastOption("--until <time>", "its end (default: now)", clock.now()))
    .option("--timezone <zone>", "of its times (default: `display.timezone`, or this machine's)")
    .option("--note <text>", "add a note for the next shift instead")
    .option("--by, --author <name>", "the author of the note (default: $USER)");
  return asksDaemon(command, "lenswatch handover --since 20:00", "text").action(
    async ({ since, until, timezone: given, note, ...options }: HandoverOptions) => {
      if (note !== undefined) {
        const body = { author: authorFrom(options, io.env), text: note };
        const add = (daemon: Daemon) => daemon.send("POST", "/api/v1/handover/notes", body, Added);
        const added = await withDaemon(options, io, add);
        return print(io, options.output, added, () => `noted by ${stripControls(added.author)}\n`);
      }
      const answer = await withDaemon(options, io, async (daemon) => {
        const timezone = given ?? (await readerZone(daemon, io));
        const from = since && { since: isoTime(since(timezone).start) };
        const to = until && { until: isoTime(until(timezone).end) };
        return daemon.get("/api/v1/handover", { timezone, ...from, ...to }, ApiHandover);
      });
      print(io, options.output, answer, () => `${answer.title}\n\n${answer.text}\n`);
    },
  );
}
