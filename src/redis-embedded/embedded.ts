/**
 * An embedded redis-server, for installations without one: its data and its Unix socket are in one private directory.
 *
 * A process that gets no answer on the socket takes the directory's lock and starts a server, which inherits the lock.
 * So the server of a killed lenswatch is adopted, and two lenswatch on one directory share one.
 *
 * Every lenswatch keeps one connection named KEEPER; on a graceful stop it gives the name up, and shuts the server
 * down if no other connection has it. A killed lenswatch leaves the server running.
 */
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../lib/backoff.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { StoreError } from "../store/errors.ts";
import { isGone, liveServerIn, privateDirectory, socketDirectory, takeLock } from "./files.ts";
import {
  type Attached,
  attach,
  countOthersAndLeave,
  type Env,
  hangUp,
  isOver,
  launch,
  requireRedisServer,
  SOCKET,
} from "./launch.ts";

const LOADING_DEADLINE_MS = 120_000;
const SILENT_DEADLINE_MS = 10_000;
const RESTART = { baseMs: 200, capMs: 30_000 };

export type EmbeddedRedis = Awaited<ReturnType<typeof startEmbeddedRedis>>;

interface EmbeddedRedisOptions {
  /** Made where it is missing, closed to others where it is open. */
  readonly dir: string;
  readonly log: Logger;
  /** Where PATH is read from; the process' own by default. */
  readonly env?: Env;
  /** Called when the server ended by itself and runs again. */
  readonly onRestart?: (pid: number) => void;
  /** How long a server may give no answer before the start fails. */
  readonly silentMs?: number;
}

type Place = Readonly<{ dir: string; base: string; socket: string; binary: string; silentMs: number; log: Logger }>;
type Running = { attached: Attached; child?: ChildProcess };

/**
 * Starts or adopts the server of `dir`, and starts it again (with back-off) whenever it ends by itself.
 * Throws StoreError `no_server` or `unavailable`.
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions) {
  const { log } = options;
  const binary = await requireRedisServer(options.env ?? process.env);
  const dir = await privateDirectory(options.dir, log);
  const base = socketDirectory(dir);
  const socket = join(base, SOCKET);
  const place = { dir, base, socket, binary, silentMs: options.silentMs ?? SILENT_DEADLINE_MS, log };
  let running: Running = await startOrAdopt(place);
  const adopted = running.child === undefined;
  log.info({ pid: running.attached.pid, dir, adopted }, "embedded Redis is running");

  const stopping = new AbortController();
  let reviving: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  const watch = () => {
    running.attached.connection.once("end", () => {
      if (stopping.signal.aborted) return;
      log.warn({ pid: running.attached.pid }, "embedded Redis ended, restarting it");
      reviving = revive();
    });
  };
  const revive = async () => {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      try {
        running = await startOrAdopt(place);
        log.info({ pid: running.attached.pid }, "embedded Redis is running again");
        watch();
        options.onRestart?.(running.attached.pid);
        return;
      } catch (thrown) {
        log.error({ err: toError(thrown) }, "embedded Redis did not start");
        await sleep(backoffMs(RESTART, failures + 1), undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  };
  const stop = async () => {
    await reviving;
    const left = await leave(running.attached, dir, log);
    if (left === "shared") log.info("embedded Redis keeps running, another lenswatch uses it");
  };
  watch();

  return {
    /** Stays the same when the server is restarted. */
    url: `unix:${socket.split("/").map(encodeURIComponent).join("/")}`,
    get pid() {
      return running.attached.pid;
    },
    adopted,
    /** Shuts the server down unless another lenswatch still uses it. Bounded, never throws, may be called twice. */
    stop(): Promise<void> {
      stopping.abort();
      stopped ??= stop();
      return stopped;
    },
    /** Ends the server at once where this process started it, for a forced exit. */
    kill: () => void running.child?.kill("SIGKILL"),
  };
}

/** Waits for a server that is coming up, loading or leaving: two servers on one directory would ruin its data. */
async function startOrAdopt(place: Place): Promise<Running> {
  const began = Date.now();
  for (;;) {
    const answer = await attach(place.socket);
    if (typeof answer === "object") return { attached: answer };
    const lock = answer === "down" ? await takeLock(place.base) : undefined;
    if (lock) return await startLocked(place, lock);
    if (Date.now() - began > (answer === "loading" ? LOADING_DEADLINE_MS : place.silentMs)) {
      const pid = await liveServerIn(place.dir);
      throw new StoreError(
        "unavailable",
        `A redis-server${pid ? ` (pid ${pid})` : ""} uses ${place.dir} but does not answer: stop it or choose another directory.`,
      );
    }
    await sleep(20 + Math.random() * 30);
  }
}

async function startLocked(place: Place, lock: Awaited<ReturnType<typeof takeLock>> & object): Promise<Running> {
  try {
    const pid = await liveServerIn(place.dir);
    if (pid !== undefined)
      throw new StoreError(
        "unavailable",
        `A redis-server (pid ${pid}) uses ${place.dir}, perhaps that of an earlier lenswatch: stop that one first.`,
      );
    const started = await launch(place, lock);
    if (!(started instanceof Error)) return started;
    throw new StoreError(
      "unavailable",
      `The embedded Redis did not start in ${place.dir} (${started.message}); ` +
        "see redis.log there, or set redis.url to a running Redis.",
      { cause: started },
    );
  } catch (thrown) {
    lock.close();
    throw thrown;
  }
}

const STOP_DEADLINE_MS = 5_000;

/** Leaves the server of `dir`, and shuts it down where this was its last user. Bounded, never throws. */
async function leave({ connection, pid }: Attached, dir: string, log: Logger): Promise<"shared" | "stopped"> {
  if (isOver(connection)) return "stopped";
  try {
    if ((await withDeadline(countOthersAndLeave(connection), STOP_DEADLINE_MS)) > 0) return "shared";

    connection.shutdown().catch(() => {}); // ends without an answer; what is appended is on disk before
    await untilGone(pid);
  } catch (thrown) {
    const proven = await liveServerIn(dir);
    if (proven === undefined) return "stopped";
    log.warn({ pid: proven, err: toError(thrown) }, "embedded Redis did not shut down, killing it");
    process.kill(proven, "SIGKILL");
  } finally {
    hangUp(connection);
  }
  return "stopped";
}

async function untilGone(pid: number): Promise<void> {
  const deadline = Date.now() + STOP_DEADLINE_MS;
  while (!isGone(pid)) {
    if (Date.now() > deadline) throw new Error(`still running after ${STOP_DEADLINE_MS} ms`);
    await sleep(10);
  }
}
