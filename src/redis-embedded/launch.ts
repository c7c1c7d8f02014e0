/** Finds and launches redis-server. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { access, constants, readFile } from "node:fs/promises";
import type { Server } from "node:net";
import { delimiter, join } from "node:path";
import { Redis } from "ioredis";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import { StoreError } from "../store/errors.ts";
import { privately } from "./files.ts";

const START_DEADLINE_MS = 120_000;
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

/** Ends the server when its stdin ends, whose other end only this process has. The server inherits the lock as 3. */
const RUN = 'exec 4<&0 </dev/null; (read -r line <&4 || kill $$ 2>&-) 3>&- & exec "$0" "$@" 4<&-';

interface Place {
  readonly dir: string;
  readonly binary: string;
  readonly lock: Server;
  /** Ends the server with SIGTERM. */
  readonly signal: AbortSignal;
}

/**
 * The server, in a session of its own: a terminal's Ctrl-C does not reach it. Nothing of our environment does, and
 * what it writes is its owner's alone. It ends when this process does, however that ends.
 */
export function spawnServer({ dir, binary, lock, signal }: Place): ChildProcess {
  const args = Object.entries(SETTINGS).flatMap(([name, value]) => [`--${name}`, value]);
  const output = openSync(join(dir, "redis.log"), "a", 0o600);
  // Node has no public name for the descriptor of a listening socket.
  const { fd } = Reflect.get(lock, "_handle") as { fd: number };
  const options = { cwd: dir, env: {}, stdio: ["pipe" as const, output, output, fd], detached: true, signal };
  try {
    const child = privately(() => spawn("/bin/sh", ["-c", RUN, binary, ...args], options));
    child.on("error", () => {}); // the signal's
    return child;
  } finally {
    closeSync(output);
  }
}

/** Resolves when the child has ended, or never began. The error of its signal, which comes first, is no end. */
export function ended(child: ChildProcess): Promise<void> {
  const isOver = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  return isOver ? Promise.resolve() : new Promise((resolve) => child.once("exit", () => resolve()));
}

/** Resolves when the server answers on `socket`. Throws StoreError `unavailable`, after ending the server. */
export async function untilReady(child: ChildProcess, dir: string, socket: string): Promise<void> {
  const redis = new Redis({ path: socket, retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on("error", () => {}); // of a server that is not there yet
  const gone = ended(child).then(() =>
    Promise.reject(new Error(`it ended with ${child.signalCode ?? child.exitCode}`)),
  );
  try {
    await withDeadline(Promise.race([redis.ping(), gone]), START_DEADLINE_MS);
  } catch (thrown) {
    child.kill("SIGKILL");
    throw new StoreError(
      "unavailable",
      `The embedded Redis did not start in ${dir} (${toError(thrown).message}${await lastLine(dir)}); ` +
        "see redis.log there, or set redis.url to a running Redis.",
      { cause: thrown },
    );
  } finally {
    gone.catch(() => {});
    redis.disconnect();
  }
}

async function lastLine(dir: string): Promise<string> {
  const text = await readFile(join(dir, "redis.log"), "utf8").catch(() => "");
  const line = text.trim().split("\n").at(-1) ?? "";
  return line === "" ? "" : `: ${line.slice(-200)}`;
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
