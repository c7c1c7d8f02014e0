/**
 * An embedded redis-server, for installations without one: data, port, password and pid are in one directory.
 *
 * The TCP port is the lock. `redis.json` has port and password and is written once per directory. A process that
 * gets no answer there starts a server on that port, and of two at once the system lets one bind, before it has
 * touched any data. So the server of a killed lenswatch is adopted, and two lenswatch on one directory share one.
 *
 * Every lenswatch keeps one connection named KEEPER; on a graceful stop it gives the name up, and shuts the server
 * down if no other connection has it. A killed lenswatch leaves the server running.
 */
import { mkdir, realpath } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../lib/backoff.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { StoreError } from "../store/errors.ts";
import { dropEndpoint, isGone, liveServerIn, type RedisEndpoint, redisEndpoint } from "./files.ts";
import { type Env, ensureRedisServer } from "./find-server.ts";
import { type Attached, attach, countOthersAndLeave, type LaunchOptions, launch } from "./launch.ts";

export { ensureRedisServer, findRedisServer } from "./find-server.ts";

const STOP_DEADLINE_MS = 5_000;
const LOADING_DEADLINE_MS = 120_000;
const STRANGER_DEADLINE_MS = 1_500;
const RESTART = { baseMs: 200, capMs: 30_000 };

export type EmbeddedRedis = Awaited<ReturnType<typeof startEmbeddedRedis>>;

interface EmbeddedRedisOptions {
  /** Made where it is missing, readable by its owner only. */
  readonly dir: string;
  readonly log: Logger;
  /** Append-only file, synced every second; true by default. */
  readonly appendonly?: boolean;
  /** Where PATH is read from; the process' own by default. */
  readonly env?: Env;
  /** Called when the server ended by itself and runs again. */
  readonly onRestart?: (pid: number) => void;
}

/**
 * Starts or adopts the server of `dir`, and starts it again (with back-off) whenever it ends by itself.
 * Throws StoreError `no_server` or `unavailable`.
 */
export async function startEmbeddedRedis(options: EmbeddedRedisOptions) {
  const { log, appendonly = true } = options;
  const binary = await ensureRedisServer({ install: false, log, env: options.env ?? process.env });
  await mkdir(options.dir, { recursive: true, mode: 0o700 });
  const launchOptions = { dir: await realpath(options.dir), binary, appendonly };
  let { attached, endpoint, adopted } = await startOrAdopt(launchOptions);
  log.info({ pid: attached.pid, port: endpoint.port, adopted }, "embedded Redis is running");

  const stopping = new AbortController();
  let reviving: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  const watch = () => {
    attached.connection.once("end", () => {
      if (stopping.signal.aborted) return;
      log.warn({ pid: attached.pid }, "embedded Redis ended, restarting it");
      reviving = revive();
    });
  };
  const revive = async () => {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      try {
        attached = (await startOrAdopt(launchOptions, endpoint)).attached;
        log.info({ pid: attached.pid }, "embedded Redis is running again");
        watch();
        options.onRestart?.(attached.pid);
        return;
      } catch (thrown) {
        log.error({ err: toError(thrown) }, "embedded Redis did not start");
        await sleep(backoffMs(RESTART, failures + 1), undefined, { signal: stopping.signal }).catch(() => {});
      }
    }
  };
  watch();

  return {
    /** With the password in it: never to be printed. Stays the same when the server is restarted. */
    url: `redis://:${endpoint.password}@127.0.0.1:${endpoint.port}/0`,
    get pid() {
      return attached.pid;
    },
    adopted,
    /** Shuts the server down unless another lenswatch still uses it. Bounded, never throws, may be called twice. */
    stop(): Promise<void> {
      stopping.abort();
      stopped ??= Promise.resolve(reviving).then(() => stopServer(attached, log));
      return stopped;
    },
  };
}

/** `fixed`: the endpoint that clients already have, which must not change. */
async function startOrAdopt(launchOptions: LaunchOptions, fixed?: RedisEndpoint) {
  let failure: Error | undefined;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const endpoint = fixed ?? (await redisEndpoint(launchOptions.dir));
    const answer = await patientAttach(endpoint, launchOptions.dir);
    if (typeof answer === "object") return { attached: answer, endpoint, adopted: true };
    if (answer === "down") {
      const started = await launch(launchOptions, endpoint);
      if (!(started instanceof Error)) return { ...started, endpoint };
      failure = started;
    }
    if (!fixed) await dropEndpoint(launchOptions.dir, endpoint);
  }
  throw new StoreError(
    "unavailable",
    `The embedded Redis did not start in ${launchOptions.dir} (${failure?.message ?? "its port is taken"}); ` +
      "see redis.log there, or set redis.url to a running Redis.",
    { cause: failure },
  );
}

/**
 * Waits for a server that is coming up, loading or leaving. One that stays and does not answer is refused: two
 * servers on one directory would ruin its data.
 */
async function patientAttach(endpoint: RedisEndpoint, dir: string): Promise<Attached | "down" | "not_ours"> {
  const began = Date.now();
  for (;;) {
    const answer = await attach(endpoint, dir);
    if (typeof answer === "object") return answer;
    const pid = await liveServerIn(dir);
    if (answer !== "loading" && pid === undefined) return answer;
    if (Date.now() - began > (answer === "loading" ? LOADING_DEADLINE_MS : STRANGER_DEADLINE_MS)) {
      throw new StoreError(
        "unavailable",
        `A redis-server (pid ${pid}) uses ${dir} but does not answer to its redis.json; stop it or choose another directory.`,
      );
    }
    await sleep(25);
  }
}

async function stopServer({ connection, pid }: Attached, log: Logger): Promise<void> {
  const isOver = () => connection.status === "end" || connection.status === "close";
  if (isOver()) return; // it died, and its pid may be another's by now
  try {
    const others = await withDeadline(countOthersAndLeave(connection), STOP_DEADLINE_MS);
    if (others > 0) {
      log.info({ pid }, "embedded Redis keeps running, another lenswatch uses it");
      return;
    }
    process.kill(pid, "SIGTERM"); // as SHUTDOWN: what is appended is on disk before it ends
    await untilGone(pid);
  } catch (thrown) {
    if (isGone(pid)) return;
    log.warn({ pid, err: toError(thrown) }, "embedded Redis did not shut down, killing it");
    process.kill(pid, "SIGKILL");
  } finally {
    // On an ended connection it would hold the process for its own time limit.
    if (!isOver()) connection.disconnect();
  }
}

async function untilGone(pid: number): Promise<void> {
  const deadline = Date.now() + STOP_DEADLINE_MS;
  while (!isGone(pid)) {
    if (Date.now() > deadline) throw new Error(`still running after ${STOP_DEADLINE_MS} ms`);
    await sleep(10);
  }
}
