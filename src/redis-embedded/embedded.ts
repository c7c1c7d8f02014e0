/**
 * A redis-server of our own, for those who have none: data, port, password and pid live in one directory.
 *
 * The TCP port is the lock. `redis.json` says port and password and is written once per directory; whoever
 * finds nobody answering there starts a server on that very port, and of two that try at once the system lets
 * one bind, before it has touched any data. So a server left behind by a killed lenswatch is adopted, and two
 * lenswatch on one directory share one server.
 *
 * Who stops it: every lenswatch keeps one connection named KEEPER; on a graceful stop each gives the name up
 * first and looks then, and who sees no other keeper shuts the server down. A killed lenswatch leaves it running.
 */
import { mkdir, realpath } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { backoffMs } from "../lib/backoff.ts";
import { withDeadline } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { StoreError } from "../store/errors.ts";
import { type Attached, attach, giveUpKeeping } from "./attach.ts";
import { dropEndpoint, type Endpoint, endpointOf, isGone, liveServerIn } from "./files.ts";
import { type Env, ensureRedisServer } from "./find-server.ts";
import { launch, type Place } from "./launch.ts";

export { ensureRedisServer, findRedisServer } from "./find-server.ts";

const STOP_DEADLINE_MS = 5_000;
const LOADING_DEADLINE_MS = 120_000;
const STRANGER_DEADLINE_MS = 1_500;
const RESTART = { baseMs: 200, capMs: 30_000 };

export interface EmbeddedRedis {
  /** With the password in it: never to be printed. Stays the same when the server is restarted. */
  readonly url: string;
  /** Of the server running now. */
  readonly pid: number;
  /** True when the server was already running when we came. */
  readonly adopted: boolean;
  /** Shuts the server down unless another lenswatch still uses it. Bounded, never throws, may be called twice. */
  stop(): Promise<void>;
}

export interface EmbeddedRedisOptions {
  /** Made where it is missing, readable by its owner only. */
  readonly dir: string;
  readonly log: Logger;
  /** Append-only file, synced every second; true unless said otherwise. */
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
export async function startEmbeddedRedis(options: EmbeddedRedisOptions): Promise<EmbeddedRedis> {
  const { log } = options;
  const binary = await ensureRedisServer({ install: false, log, env: options.env ?? process.env });
  await mkdir(options.dir, { recursive: true, mode: 0o700 });
  const place: Place = {
    dir: await realpath(options.dir),
    binary,
    appendonly: options.appendonly ?? true,
  };
  let { attached, endpoint, adopted } = await startOrAdopt(place);
  log.info({ pid: attached.pid, port: endpoint.port, adopted }, "embedded Redis is running");

  const stopping = new AbortController();
  let reviving: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  const watch = () => {
    attached.connection.once("end", () => {
      if (stopping.signal.aborted) return;
      log.warn({ pid: attached.pid }, "embedded Redis ended by itself, starting it again");
      reviving = revive();
    });
  };
  const revive = async () => {
    for (let failures = 0; !stopping.signal.aborted; failures += 1) {
      try {
        attached = (await startOrAdopt(place, endpoint)).attached;
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
    url: `redis://:${endpoint.password}@127.0.0.1:${endpoint.port}/0`,
    get pid() {
      return attached.pid;
    },
    adopted,
    stop() {
      stopping.abort();
      stopped ??= (async () => {
        await reviving;
        await stopServer(attached, log);
      })();
      return stopped;
    },
  };
}

/** `fixed`: the endpoint clients already hold, which must not change. */
async function startOrAdopt(place: Place, fixed?: Endpoint) {
  let failure: Error | undefined;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const endpoint = fixed ?? (await endpointOf(place.dir));
    const answer = await patientAttach(endpoint, place.dir);
    if (typeof answer === "object") return { attached: answer, endpoint, adopted: true };
    if (answer === "down") {
      const started = await launch(place, endpoint);
      if (!(started instanceof Error)) return { ...started, endpoint };
      failure = started;
    }
    if (!fixed) await dropEndpoint(place.dir, endpoint);
  }
  throw new StoreError(
    "unavailable",
    `The embedded Redis did not start in ${place.dir} (${failure?.message ?? "its port is taken"}); ` +
      "see redis.log there, or set redis.url to a running Redis.",
    { cause: failure },
  );
}

/**
 * Waits for a server that is coming up, loading or leaving. One that stays and does not answer is refused: two
 * servers on one directory would ruin its data.
 */
async function patientAttach(endpoint: Endpoint, dir: string): Promise<Attached | "down" | "not_ours"> {
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
    const others = await withDeadline(giveUpKeeping(connection), STOP_DEADLINE_MS);
    if (others > 0) {
      log.info({ pid }, "embedded Redis stays, another lenswatch uses it");
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
