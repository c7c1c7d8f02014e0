/** A real Redis for a test: a port and a temporary directory of its own, nothing left afterwards. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe } from "vitest";
import { isGone, redisEndpoint } from "../../src/redis-embedded/files.ts";
import { findRedisServer } from "../../src/redis-embedded/find-server.ts";
import { launch } from "../../src/redis-embedded/launch.ts";

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
  const place = { dir, binary, appendonly: options.appendonly ?? false };
  const endpoint = await redisEndpoint(dir);
  const start = async (): Promise<number> => {
    const started = await launch(place, endpoint);
    if (started instanceof Error) throw started;
    started.attached.connection.disconnect();
    return started.attached.pid;
  };
  let pid = await start();
  const kill = async () => {
    if (!isGone(pid)) process.kill(pid, "SIGKILL");
    while (!isGone(pid)) await sleep(2);
  };
  return {
    url: `redis://:${endpoint.password}@127.0.0.1:${endpoint.port}/0`,
    get pid() {
      return pid;
    },
    kill,
    async restart() {
      pid = await start();
    },
    async stop() {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
