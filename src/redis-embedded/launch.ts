/** Launches redis-server in its directory and attaches to it; a kept connection proves whose server it is. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { toError } from "../lib/errors.ts";
import type { RedisEndpoint } from "./files.ts";

const START_DEADLINE_MS = 60_000;

/** The program, and where its data is. */
export type LaunchOptions = { readonly dir: string; readonly binary: string; readonly appendonly: boolean };

/**
 * The server once it answers (`adopted`: another process was first and its server answers instead); an Error when
 * it ended before that. It lives in a session of its own: a terminal's Ctrl-C does not reach it.
 */
export async function launch(
  options: LaunchOptions,
  endpoint: RedisEndpoint,
): Promise<{ attached: Attached; adopted: boolean } | Error> {
  const child = spawnServer(options, endpoint);
  let ended: string | undefined;
  child.once("error", (error) => {
    ended = error.message;
  });
  child.once("exit", (code) => {
    ended ??= `it ended with code ${code}`;
  });
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline) {
    const over = ended;
    const answer = await attach(endpoint, options.dir);
    if (typeof answer === "object") return { attached: answer, adopted: answer.pid !== child.pid };
    if (over !== undefined) return new Error(`${over}${await lastLine(options.dir)}`);
    await sleep(20);
  }
  child.kill("SIGKILL");
  return new Error(`it did not answer within ${START_DEADLINE_MS / 1000} s`);
}

/** Passes settings through stdin: every user of the machine can read a command line. */
function spawnServer({ dir, binary, appendonly }: LaunchOptions, { port, password }: RedisEndpoint): ChildProcess {
  const output = openSync(join(dir, "redis.log"), "a", 0o600);
  const child = spawn(binary, ["-"], { cwd: dir, stdio: ["pipe", output, output], detached: true });
  closeSync(output);
  child.unref();
  child.stdin?.on("error", () => {}); // it ended before it read them, and emits "exit"
  child.stdin?.end(
    [
      "bind 127.0.0.1",
      `port ${port}`,
      `requirepass ${password}`,
      "daemonize no",
      "pidfile redis.pid",
      "maxmemory-policy noeviction",
      'save ""',
      `appendonly ${appendonly ? "yes" : "no"}`,
      "appendfsync everysec",
      "",
    ].join("\n"),
  );
  return child;
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
  readonly pid: number;
}

/** `down`: nothing listens; `loading`: a server with our password reads its data; `not_ours`: another server listens. */
type NoAnswer = "down" | "loading" | "not_ours";

/** Connects and checks password and data directory. */
export async function attach(endpoint: RedisEndpoint, dir: string): Promise<Attached | NoAnswer> {
  let refused = false;
  const connection = new Redis({
    host: "127.0.0.1",
    port: endpoint.port,
    password: endpoint.password,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: 2_000,
  });
  connection.on("error", (error: NodeJS.ErrnoException) => {
    refused ||= error.code === "ECONNREFUSED";
  });
  try {
    await connection.connect();
    if ((await connection.ping()) !== "PONG") throw new Error("no PONG");
    const [, served] = (await connection.config("GET", "dir")) as string[];
    if (served !== dir) throw new Error("another directory's server");
    await connection.client("SETNAME", KEEPER);
    const info = await connection.info("server");
    return { connection, pid: Number(/process_id:(\d+)/.exec(info)?.[1]) };
  } catch (thrown) {
    connection.disconnect();
    if (refused) return "down";
    return toError(thrown).message.startsWith("LOADING") ? "loading" : "not_ours"; // Redis' error code is its first word
  }
}

/** Removes this connection from the count; gives how many others there are. */
export async function countOthersAndLeave(connection: Redis): Promise<number> {
  await connection.client("SETNAME", "");
  const clients = String(await connection.client("LIST"));
  return clients.split("\n").filter((line) => line.includes(` name=${KEEPER} `)).length;
}
