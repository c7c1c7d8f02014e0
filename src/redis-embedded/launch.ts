/** Launches redis-server in its directory and attaches to it. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { access, constants, readFile } from "node:fs/promises";
import type { Server } from "node:net";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { toError } from "../lib/errors.ts";
import { StoreError } from "../store/errors.ts";
import { privately } from "./files.ts";

const START_DEADLINE_MS = 60_000;
export const SOCKET = "redis.sock";

const SETTINGS = {
  port: "0",
  unixsocket: SOCKET,
  unixsocketperm: "700",
  daemonize: "no",
  pidfile: "redis.pid",
  "maxmemory-policy": "noeviction",
  save: "",
  appendonly: "yes",
  appendfsync: "everysec",
};

/**
 * The server once it answers; an Error when it ended before that. It lives in a session of its own: a terminal's
 * Ctrl-C does not reach it. It inherits `lock`, which is closed here when it ends.
 */
export async function launch(
  { dir, binary, socket }: { readonly dir: string; readonly binary: string; readonly socket: string },
  lock: Server,
): Promise<{ attached: Attached; child: ChildProcess } | Error> {
  const child = spawnServer(dir, binary, lock);
  child.unref();
  let ended: string | undefined;
  const end = (why: string) => {
    ended ??= why;
    lock.close();
  };
  child.once("error", (error) => end(error.message));
  child.once("exit", (code) => end(`it ended with code ${code}`));
  let deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline) {
    const over = ended;
    const answer = await attach(socket);
    if (typeof answer === "object") return { attached: answer, child };
    if (over !== undefined) return new Error(`${over}${await lastLine(dir)}`);
    if (answer === "loading") deadline = Date.now() + START_DEADLINE_MS;
    await sleep(20);
  }
  child.kill("SIGKILL");
  return new Error(`it did not answer within ${START_DEADLINE_MS / 1000} s`);
}

/** Nothing of our environment reaches it, and what it writes is its owner's alone. */
function spawnServer(dir: string, binary: string, lock: Server): ChildProcess {
  const args = Object.entries(SETTINGS).flatMap(([name, value]) => [`--${name}`, value]);
  const output = openSync(join(dir, "redis.log"), "a", 0o600);
  // Node has no public name for the descriptor of a listening socket.
  const { fd } = Reflect.get(lock, "_handle") as { fd: number };
  const stdio = ["ignore" as const, output, output, fd];
  try {
    return privately(() => spawn(binary, args, { cwd: dir, env: {}, stdio, detached: true }));
  } finally {
    closeSync(output);
  }
}

async function lastLine(dir: string): Promise<string> {
  const text = await readFile(join(dir, "redis.log"), "utf8").catch(() => "");
  const line = text.trim().split("\n").at(-1) ?? "";
  return line === "" ? "" : `: ${line.slice(-200)}`;
}

/** The connection name by which every lenswatch that uses the server is counted. */
const KEEPER = "lenswatch-keeper";

export interface Attached {
  /** Emits "end" when the server ends; never reconnects. */
  readonly connection: Redis;
  /** As the server says: to be shown and waited for, never to be killed. */
  readonly pid: number;
}

/** `down`: nothing listens; `loading`: the server reads its data; `silent`: it does not answer as it should. */
type NoAnswer = "down" | "loading" | "silent";

/** Connects to the socket, and counts this process among the server's users. */
export async function attach(path: string): Promise<Attached | NoAnswer> {
  let refused = false;
  const connection = new Redis({
    path,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
  });
  connection.on("error", ({ code }: NodeJS.ErrnoException) => {
    refused ||= code === "ECONNREFUSED" || code === "ENOENT";
  });
  try {
    await connection.connect();
    if ((await connection.ping()) !== "PONG") throw new Error("no PONG");
    await connection.client("SETNAME", KEEPER);
    const info = await connection.info("server");
    return { connection, pid: Number(/process_id:(\d+)/.exec(info)?.[1]) };
  } catch (thrown) {
    hangUp(connection);
    if (refused) return "down";
    return toError(thrown).message.startsWith("LOADING") ? "loading" : "silent"; // Redis' error code is its first word
  }
}

/** Whether the server has ended the connection. */
export const isOver = ({ status }: Redis): boolean => status === "end" || status === "close";

/** On a connection that is over, `disconnect` would hold the process for its own time limit. */
export function hangUp(connection: Redis): void {
  if (!isOver(connection)) connection.disconnect();
}

/** Removes this connection from the count; gives how many others there are. */
export async function countOthersAndLeave(connection: Redis): Promise<number> {
  await connection.client("SETNAME", "");
  const clients = String(await connection.client("LIST"));
  return clients.split("\n").filter((line) => line.includes(` name=${KEEPER} `)).length;
}

export type Env = Readonly<Record<string, string | undefined>>;

/** The path of redis-server or valkey-server; undefined where there is none. */
export async function findRedisServer(env: Env): Promise<string | undefined> {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const files = ["redis-server", "valkey-server"].flatMap((name) => folders.map((folder) => join(folder, name)));
  const found = await Promise.allSettled(files.map((file) => access(file, constants.X_OK)));
  return files.find((_, i) => found[i]?.status === "fulfilled");
}

/** The path of a Redis server. Throws StoreError `no_server`, which names the package to install. */
export async function requireRedisServer(env: Env): Promise<string> {
  const found = await findRedisServer(env);
  if (found) return found;
  throw new StoreError(
    "no_server",
    "redis-server is not installed; install it (Debian and Ubuntu: apt-get install redis-server, Fedora: dnf install " +
      "valkey, macOS: brew install redis) or, for the daemon, set redis.url to a running Redis.",
  );
}
