/** A real Redis for a test: a port and a temporary directory of its own, nothing left afterwards. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { describe } from "vitest";
import { isGone } from "../../src/redis-embedded/files.ts";
import { findRedisServer } from "../../src/redis-embedded/launch.ts";
import { lastingPort } from "./lasting-port.ts";

const binary = await findRedisServer(process.env);

/** `describe`, skipped with its reason where no redis-server is installed (`npm test` installs it where it may). */
export const describeWithRedis = (name: string, body: () => void): void => {
  if (binary === undefined) describe.skip(`${name} (skipped: redis-server is not installed)`, body);
  else describe(name, body);
};

export interface TestRedis {
  /** `redis://:password@127.0.0.1:port/0`; the same after `restart`. */
  readonly url: string;
  readonly pid: number;
  /** Ends the server and removes its directory. */
  stop(): Promise<void>;
  /** Ends the server as `kill -9` does; the data on disk stays. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, on the same port and data (kept only with `appendonly`). */
  restart(): Promise<void>;
}

export async function startTestRedis(options: { appendonly?: boolean } = {}): Promise<TestRedis> {
  if (binary === undefined) throw new Error("redis-server is not installed; see describeWithRedis");
  const dir = await realpath(await mkdtemp(join(tmpdir(), "lenswatch-test-")));
  const [port, password] = [await lastingPort(), randomBytes(24).toString("hex")];
  const url = `redis://:${password}@127.0.0.1:${port}/0`;
  // Without fsync what was answered is written first, always: `kill` loses none of it.
  const settings = `bind 127.0.0.1\nport ${port}\nrequirepass ${password}\nsave ""\nappendonly ${options.appendonly ? "yes" : "no"}\nappendfsync no\n`;
  const start = async (): Promise<ChildProcess> => {
    const child = spawn(binary, ["-"], { cwd: dir, stdio: ["pipe", "ignore", "ignore"], detached: true });
    child.stdin?.on("error", () => {}); // it ended before it read them
    child.stdin?.end(settings);
    child.unref();
    await untilAnswering(url, child);
    return child;
  };
  let child = await start();
  const kill = async () => {
    const { pid = 0 } = child;
    child.kill("SIGKILL");
    while (!isGone(pid)) await sleep(2);
  };
  return {
    url,
    get pid() {
      return child.pid ?? 0;
    },
    kill,
    async restart() {
      // Who looks for a free port may listen on this one for a moment.
      const again = () => sleep(200).then(start);
      child = await start().catch(again).catch(again);
    },
    async stop() {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function untilAnswering(url: string, child: ChildProcess): Promise<void> {
  const redis = new Redis(url, { retryStrategy: () => 10, maxRetriesPerRequest: null });
  redis.on("error", () => {});
  const ended = once(child, "exit").then(() => Promise.reject(new Error("redis-server ended at its start")));
  await Promise.race([redis.ping(), ended]).finally(() => redis.disconnect());
  ended.catch(() => {});
}
