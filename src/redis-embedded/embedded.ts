/**
 * An embedded redis-server, for installations without one: its data and its Unix socket are in one private directory.
 *
 * It has one owner, which holds the directory's lock from the start to the end of its server. The server inherits the
 * lock, and ends by itself when its owner is killed: no lock is left behind, and data never has two servers.
 */
import type { ChildProcess } from "node:child_process";
import type { Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../lib/backoff.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { StoreError } from "../store/errors.ts";
import { privateDirectory, serverIn, socketDirectory, takeLock } from "./files.ts";
import { type Env, ended, requireRedisServer, SOCKET, spawnServer, untilReady } from "./launch.ts";

const STOP_DEADLINE_MS = 5_000;
/** The server of a killed lenswatch ends within this time, unless it hangs. */
const LEAVING_MS = 10_000;
const RESTART = { baseMs: 200, capMs: 30_000 };

interface EmbeddedRedisOptions {
  /** Made where it is missing, closed to others where it is open. */
  readonly dir: string;
  readonly log: Logger;
  /** The environment that PATH is read from; the process' own by default. */
  readonly env?: Env;
  /** The time to wait for the server of a killed lenswatch. */
  readonly leavingMs?: number;
}

export type EmbeddedRedis = Awaited<ReturnType<typeof startEmbeddedRedis>>;

/** The URL of the server of `dir`, whether it runs or not. */
export function embeddedRedisUrl(dir: string): string {
  return `unix:${join(socketDirectory(dir), SOCKET).split("/").map(encodeURIComponent).join("/")}`;
}

/**
 * Starts the server of `dir`, and starts it again (with back-off) whenever it ends by itself.
 * Throws StoreError `no_server`, or `unavailable`, above all where another lenswatch has the directory.
 */
export async function startEmbeddedRedis({
  log,
  env = process.env,
  leavingMs = LEAVING_MS,
  ...given
}: EmbeddedRedisOptions) {
  const binary = await requireRedisServer(env);
  const dir = await privateDirectory(given.dir, log);
  const base = socketDirectory(dir);
  const lock = await lockOf(dir, base, leavingMs);
  const stopping = new AbortController();
  const { signal } = stopping;
  let child: ChildProcess;
  const start = async () => {
    child = spawnServer({ dir, binary, lock, signal });
    await untilReady(child, dir, join(base, SOCKET));
    log.info({ pid: child.pid, dir }, "embedded Redis is running");
  };
  const keepRunning = async () => {
    for (let failures = 0; !signal.aborted; ) {
      await ended(child);
      if (signal.aborted) return;
      log.warn({ pid: child.pid }, "embedded Redis ended, restarting it");
      try {
        await start();
        failures = 0;
      } catch (thrown) {
        log.error({ err: toError(thrown) }, "embedded Redis did not start");
        failures += 1;
        await sleep(backoffMs(RESTART, failures), undefined, { signal }).catch(() => {});
      }
    }
  };
  await start().catch((thrown: unknown) => {
    lock.close();
    throw thrown;
  });
  const running = keepRunning();
  const stop = async () => {
    stopping.abort(); // SIGTERM: what is appended is on disk before the server ends
    await withDeadline(
      running.then(() => ended(child)),
      STOP_DEADLINE_MS,
    ).catch(async () => {
      log.warn({ pid: child.pid }, "embedded Redis did not shut down, killing it");
      child.kill("SIGKILL");
      await ended(child);
    });
    lock.close();
  };
  let stopped: Promise<void> | undefined;
  return {
    /** Stays the same when the server is restarted. */
    url: embeddedRedisUrl(dir),
    get pid() {
      return child.pid ?? 0;
    },
    /** Shuts the server down. Bounded, never throws, may be called twice. */
    stop(): Promise<void> {
      stopped ??= stop();
      return stopped;
    },
    /** Ends the server at once, for a forced exit. */
    kill: () => void child.kill("SIGKILL"),
  };
}

/** The lock of `dir`; waits for the server of a killed lenswatch to end. Throws StoreError `unavailable`. */
async function lockOf(dir: string, base: string, leavingMs: number): Promise<Server> {
  const giveUpAt = Date.now() + leavingMs;
  for (;;) {
    const taken = await takeLock(base);
    const pid = await serverIn(dir);
    if ("lock" in taken && pid === undefined) return taken.lock;
    if ("lock" in taken) taken.lock.close();
    else if (taken.owner !== undefined) {
      const advice = "stop it, start this one in another directory, or set redis.url for both";
      throw new StoreError("unavailable", `Another lenswatch (pid ${taken.owner}) uses ${dir}: ${advice}.`);
    }
    if (Date.now() > giveUpAt) {
      const server = pid === undefined ? "A redis-server" : `A redis-server (pid ${pid})`;
      throw new StoreError("unavailable", `${server} that no running lenswatch started uses ${dir}: stop it first.`);
    }
    await sleep(20 + Math.random() * 30);
  }
}
