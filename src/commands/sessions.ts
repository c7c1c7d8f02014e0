/** `sessions revoke`: ends sessions of people who are signed in to a running daemon. */
import { Command } from "commander";
import { z } from "zod";
import { counted } from "../lib/format.ts";
import { type CommandIo, fail, print } from "./cli/command.ts";
import { asksDaemon, type DaemonOptions, withDaemon } from "./cli/daemon.ts";

type RevokeOptions = DaemonOptions & { readonly name?: string; readonly all?: true; readonly output: "text" | "json" };

/** Exit code 0; 1 where there is no such session. Throws DaemonError or ConfigError. */
export function sessionsCommand(io: CommandIo): Command {
  const revoke = new Command("revoke")
    .description("End sessions at once, at every replica: their people have to sign in again.")
    .option("--name <name>", "all sessions of a person or token")
    .option("--all", "all sessions");
  const asking = asksDaemon(revoke, "lenswatch sessions revoke --name dana", "text");
  asking.action(async ({ name, all, output, ...options }: RevokeOptions) => {
    if ((name === undefined) === (all === undefined)) return fail(io, 2, "give either --name or --all");
    const { revoked } = await withDaemon(options, io, (daemon) =>
      daemon.send("POST", "/api/v1/sessions/revoke", { name, all }, z.object({ revoked: z.array(z.string()) })),
    );
    const isUnknown = revoked.length === 0 && !all;
    print(io, output, { revoked }, () => (isUnknown ? "" : `${counted(revoked.length, "session")} revoked.\n`));
    if (isUnknown) fail(io, 1, "no session of that name; see `lenswatch audit --action sign_in`");
  });
  return new Command("sessions").description("Revoke sessions of the status page.").addCommand(revoke);
}
