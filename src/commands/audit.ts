/** `audit`: the audit log of a running daemon. */
import { Command, Option } from "commander";
import { z } from "zod";
import { auditActions } from "../alerting/audit.ts";
import { actorText } from "../alerting/audit-text.ts";
import { ApiAuditEntry } from "../http/v1/audit.ts";
import { type Clock, systemClock } from "../lib/clock.ts";
import { type CommandIo, sinceOption } from "./cli/command.ts";
import { asksDaemon, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { printList, type TableColumn } from "./cli/table.ts";

/** Without fields, and with actions and reasons, that a later daemon adds. */
const Entry = z.object({ ...ApiAuditEntry.unwrap().shape, action: z.string(), reason: z.string().nullable() });
type Entry = z.infer<typeof Entry>;

type AuditOptions = DaemonOptions & {
  readonly since: number;
  readonly person?: string;
  readonly action?: string;
  readonly output: "table" | "json";
};

/** Exit code 0. Throws DaemonError or ConfigError. */
export function auditCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const command = new Command("audit")
    .description("Print changes and refused attempts, the newest first. Needs a token with the scope admin.")
    .addOption(sinceOption())
    .option("--person <name>", "only those of a person or token")
    .addOption(new Option("--action <action>", "only this action").choices(auditActions));
  const asking = asksDaemon(command, "lenswatch audit --since 7d --person dana", "table");
  return asking.action(async ({ since, person, action, output, ...options }: AuditOptions) => {
    const parameters = {
      since: new Date(clock.now() - since).toISOString(),
      ...(person === undefined ? {} : { person }),
      ...(action === undefined ? {} : { action }),
    };
    const entries = await withDaemon(options, io, (daemon) => daemon.all("/api/v1/audit", parameters, Entry));
    printList(io, output, entries, COLUMNS, { noun: "line", none: "Nothing in that time." });
  });
}

const COLUMNS: readonly TableColumn<Entry>[] = [
  { head: "TIME", cell: ({ at }) => `${at.slice(0, 19).replace("T", " ")} UTC` },
  { head: "BY", cell: ({ actor }) => actorText({ actor: { ...actor, person: actor.person ?? undefined } }) },
  { head: "FROM", cell: ({ address }) => address ?? "–" },
  { head: "WHAT", cell: ({ text }) => text, wraps: true },
];
