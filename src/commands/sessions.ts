/** `sessions`: people who are signed in to a running daemon; `sessions revoke` ends their sessions. */
import { Command } from "commander";
import { z } from "zod";
import { ApiSession } from "../http/v1/sessions.ts";
import { type Clock, type Instant, systemClock } from "../lib/clock.ts";
import { counted } from "../lib/format.ts";
import { type CommandIo, fail, hexIdParser, print } from "./cli/command.ts";
import { asksDaemon, type DaemonOptions, withDaemon } from "./cli/daemon.ts";
import { printList, type TableColumn } from "./cli/table.ts";
import { sinceUtc } from "./status.ts";

const Session = z.object(ApiSession.unwrap().shape);
type Session = z.infer<typeof Session>;

type Options = DaemonOptions & { readonly output: "table" | "json" };
type RevokeOptions = Options & { readonly name?: string; readonly all?: true };

/** Exit code 0; 1 where there is no such session. Throws DaemonError or ConfigError. */
export function sessionsCommand(io: CommandIo, clock: Clock = systemClock): Command {
  const sessions = new Command("sessions").description("List and revoke sessions of the status page.");
  const list = new Command("list").description("List sessions, the newest first.");
  asksDaemon(list, "lenswatch sessions list", "table").action(async (options: Options) => {
    const all = await withDaemon(options, io, (daemon) => daemon.all("/api/v1/sessions", {}, Session));
    printList(io, options.output, all, columnsAt(clock.now()), { noun: "session", none: "Nobody is signed in." });
  });
  return sessions.addCommand(list, { isDefault: true }).addCommand(revokeCommand(io));
}

const parseId = hexIdParser("lenswatch sessions");

function revokeCommand(io: CommandIo): Command {
  const revoke = new Command("revoke")
    .description("End sessions at once, at every replica: their people have to sign in again.")
    .argument("[id...]", "as printed by `lenswatch sessions`", (id, before: readonly string[] = []) => [
      ...before,
      parseId(id),
    ])
    .option("--name <name>", "all sessions of a person or token")
    .option("--all", "all sessions");
  const asking = asksDaemon(revoke, "lenswatch sessions revoke --name dana", "table");
  return asking.action(async (ids: readonly string[] = [], { name, all, output, ...options }: RevokeOptions) => {
    const given = [ids.length > 0 && { ids }, name !== undefined && { name }, all && { all }].filter((one) => !!one);
    const [body] = given;
    if (!body || given.length > 1) return fail(io, 2, "give either ids, --name or --all");
    const { revoked } = await withDaemon(options, io, (daemon) =>
      daemon.send("POST", "/api/v1/sessions/revoke", body, z.object({ revoked: z.array(z.string()) })),
    );
    const isNone = revoked.length === 0 && !all;
    print(io, output, { revoked }, () => (isNone ? "" : `${counted(revoked.length, "session")} revoked.\n`));
    const unknown = ids.filter((id) => !revoked.includes(id));
    if (unknown.length > 0) fail(io, 1, `no session has the id ${unknown.join(", ")}; see \`lenswatch sessions\``);
    else if (name !== undefined && revoked.length === 0)
      fail(io, 1, `no session of that name; see \`lenswatch sessions\``);
  });
}

const columnsAt = (now: Instant): readonly TableColumn<Session>[] => [
  { head: "ID", cell: ({ id }) => id },
  { head: "PERSON", cell: ({ person }) => person, wraps: true },
  { head: "TOKEN", cell: ({ token }) => token, wraps: true },
  { head: "FROM", cell: ({ address }) => address },
  { head: "SIGNED IN", cell: ({ createdAt }) => sinceUtc(createdAt, now) },
  { head: "LAST SEEN", cell: ({ seenAt }) => sinceUtc(seenAt, now) },
];
