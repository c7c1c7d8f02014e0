/** Launches redis-server in its directory and waits until it answers. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Attached, attach } from "./attach.ts";
import type { RedisEndpoint } from "./files.ts";

const START_DEADLINE_MS = 60_000;

/** The program, and where its data is. */
export interface LaunchOptions {
  readonly dir: string;
  readonly binary: string;
  readonly appendonly: boolean;
}

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
