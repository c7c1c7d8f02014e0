/** Finds redis-server or valkey-server, and installs it where the package manager needs no password. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { withTimeout } from "../lib/abort.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { StoreError } from "../store/errors.ts";

export type Env = Readonly<Record<string, string | undefined>>;

const INSTALL_DEADLINE_MS = 300_000;

/** Debian's package starts a service of its own unless a policy-rc.d forbids it, here for the length of the install. */
const APT_INSTALL = [
  "apt-get update -qq || exit",
  "policy=/usr/sbin/policy-rc.d",
  "trap 'exit 143' INT TERM",
  "if [ ! -e $policy ]; then",
  "  printf '#!/bin/sh\\nexit 101\\n' > $policy && chmod 755 $policy && trap 'rm -f $policy' EXIT",
  "fi",
  "apt-get install -y -qq --no-install-recommends redis-server",
].join("\n");

/** What installs a server, by package manager; all but brew need root. */
const INSTALLS = {
  "apt-get": APT_INSTALL,
  dnf: "dnf install -y -q redis || dnf install -y -q valkey",
  apk: "apk add --no-cache redis",
  pacman: "pacman -Sy --noconfirm --needed valkey",
  zypper: "zypper --non-interactive install redis",
  brew: "brew install redis",
};

/** The path of redis-server or valkey-server; undefined where there is none. */
export async function findRedisServer(env: Env): Promise<string | undefined> {
  return (await findCommand("redis-server", env)) ?? findCommand("valkey-server", env);
}

/**
 * The path of a Redis server, installed first where there is none and `install` allows it.
 * Throws StoreError `no_server`, which names the package to install.
 */
export async function ensureRedisServer(options: {
  install: boolean;
  log: Logger;
  env?: Env;
  signal?: AbortSignal;
}): Promise<string> {
  const env = options.env ?? process.env;
  const found = await findRedisServer(env);
  if (found) return found;
  const failure = options.install ? await install(env, options.log, options.signal) : undefined;
  const installed = await findRedisServer(env);
  if (installed) return installed;
  throw new StoreError(
    "no_server",
    `redis-server is not installed${failure ? ` (${failure.message})` : ""}; install it (Debian and Ubuntu: ` +
      "apt-get install redis-server, macOS: brew install redis) or set redis.url to a running Redis.",
    { cause: failure },
  );
}

async function install(env: Env, log: Logger, signal = new AbortController().signal): Promise<Error | undefined> {
  for (const [manager, script] of Object.entries(INSTALLS)) {
    if (!(await findCommand(manager, env))) continue;
    log.info({ with: manager }, "redis-server is missing, installing it");
    try {
      const prefix = manager === "brew" ? [] : await rootPrefix(env);
      return void (await run([...prefix, "/bin/sh", "-c", script], env, signal));
    } catch (thrown) {
      return toError(thrown);
    }
  }
  return new Error("no known package manager here");
}

async function rootPrefix(env: Env): Promise<readonly string[]> {
  const quiet = ["env", "DEBIAN_FRONTEND=noninteractive"];
  if (process.getuid?.() === 0) return quiet;
  if (!(await findCommand("sudo", env))) throw new Error("installing needs root");
  return ["sudo", "-n", ...quiet];
}

/** Runs to the end in its own process group, so that an abort ends all of it; on failure throws its last line of output. */
async function run([file = "", ...args]: readonly string[], env: Env, signal: AbortSignal): Promise<void> {
  const child = spawn(file, args, { env: { ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-400);
    });
  }
  const end = () => {
    try {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
    } catch {
      // It ended by itself in the meantime.
    }
  };
  const limit = withTimeout(signal, INSTALL_DEADLINE_MS);
  limit.addEventListener("abort", end, { once: true });
  if (limit.aborted) end();
  const [code] = await once(child, "close").finally(() => limit.removeEventListener("abort", end));
  if (code === 0) return;
  throw new Error(`the package manager ended with ${code ?? "a signal"}: ${output.trim().split("\n").at(-1)}`);
}

async function findCommand(name: string, env: Env): Promise<string | undefined> {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  for (const folder of folders) {
    const file = join(folder, name);
    const failure = await access(file, constants.X_OK).catch(toError);
    if (!failure) return file;
  }
  return undefined;
}
