/** The daemon: builds every part, starts it and stops it in reverse order, each part with its deadline, 10 s in all. */
import { setFlagsFromString } from "node:v8";
import type { Redis } from "ioredis";
import type { RoleOption } from "../cluster/active-config.ts";
import { changedKeys } from "../config/changed-keys.ts";
import type { Config } from "../config/config.ts";
import type { HttpDeps } from "../http/deps.ts";
import { judgeReadiness } from "../http/readiness.ts";
import { createHttpServer } from "../http/server.ts";
import type { Clock } from "../lib/clock.ts";
import { Closer } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { followRedisClock } from "../store/redis.ts";
import { httpDeps, readinessFacts } from "./http-deps.ts";
import { Reloader } from "./reload.ts";
import { openRuntime, type Runtime } from "./runtime.ts";
import { isSame } from "./setup.ts";
import { createHangDetector, type Health } from "./systemd.ts";

const CLOCK_MS = 60_000;
const REDIS_RETRY_MS = 1_000;
/** The heap grows by so much of what lives in it before garbage is collected: V8 chooses up to three times as much as lives. */
const HEAP_GROWTH_PERCENT = 20;

interface AppOptions {
  readonly config: Config;
  readonly log: Logger;
  /** The work of this replica; `all` unless given. */
  readonly role?: RoleOption;
  /** Reads the configuration's file again and reloads; undefined where there is none. */
  readonly loadAnew?: HttpDeps["reload"];
  /** The clock of a test: taken as it is, whatever Redis says. */
  readonly clock?: Clock;
}

export type App = Awaited<ReturnType<typeof build>>;

/**
 * Starts the daemon: HTTP at once, the work as soon as Redis answers. Throws where HTTP cannot listen or an
 * embedded Redis cannot be had; what was begun is closed again.
 */
export async function startApp(options: AppOptions): Promise<App> {
  const closer = new Closer();
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  try {
    return await build(options, closer);
  } catch (thrown) {
    await closer.close().catch(() => {});
    throw thrown;
  }
}

async function build(options: AppOptions, closer: Closer) {
  const { config, log, loadAnew } = options;
  const runtime = await openRuntime({ ...options, role: options.role ?? "all" }, closer);
  const { metrics, queues, directory } = runtime;
  metrics.configReloaded(true);
  const reloader = new Reloader(runtime, config);
  directory.onRecipients = () => {
    reloader.change(reloader.current().config).catch((thrown: unknown) => {
      log.error({ err: toError(thrown) }, "new recipients of the directory could not be put in force");
    });
  };
  metrics.knowIntegrations(reloader.current().senders.list);
  closer.add("integrations and service", () => reloader.close(), 2_000);
  closer.add("queues", () => queues.close(), 4_500);
  closer.add("engine", () => reloader.stop());
  const http = createHttpServer(httpDeps(runtime, reloader, loadAnew));
  closer.add("HTTP", () => http.close(), 1_500);
  const { address, metricsAddress } = await http.start();
  log.info({ address, metricsAddress, externalUrl: config.http.externalUrl }, "listening");
  return {
    /** The URL at which HTTP is served, without a trailing slash. */
    address,
    /** Resolves once Redis answered and the work has begun; it waits for Redis as long as it takes. */
    working: begin(runtime, reloader, closer),
    /**
     * Puts another configuration in force and resolves once it is; timers are kept and nothing is notified again. What
     * needs a restart (`redis`, `watch.history`, `http.listen`, `http.metrics_listen`, TLS at all) stays as it was and is logged.
     * Gives the names of the keys that changed. Throws where it cannot be built: then everything stays as it was.
     */
    reload: (next: Config) => reload(runtime, reloader, next),
    audit: runtime.audit,
    /** The configuration could not be loaded: the active one stays, and the metric shows it. */
    refused: () => metrics.configReloaded(false),
    /** In a sentence, and whether only a restart helps. */
    health: healthOf(runtime, reloader),
    /** Ends everything within 10 s, even without Redis; the second call returns the first one's promise. */
    stop: () => closer.close(),
  };
}

function healthOf(runtime: Runtime, reloader: Reloader): () => Promise<Health> {
  const isHung = createHangDetector(runtime.clock.now());
  return async () => {
    const facts = await readinessFacts(runtime, reloader);
    const now = runtime.clock.now();
    return { status: judgeReadiness(facts, now).reasons.join(" ") || "Ready.", hung: isHung(facts, now) };
  };
}

async function begin(runtime: Runtime, reloader: Reloader, closer: Closer): Promise<void> {
  const { log, replicas, redis, clock } = runtime;
  const stopping = new AbortController();
  closer.add("start", () => stopping.abort());
  await untilRedisAnswers(runtime, stopping.signal);
  if (stopping.signal.aborted) return;
  const unfollow = replicas.follow(() => void reloader.assign());
  closer.add("membership", unfollow);
  await reloader.begin();
  if (stopping.signal.aborted) return;
  const { statusIntervalMs } = reloader.current().config.watch;
  log.info({ statusIntervalMs, role: replicas.roleOption, roles: [...replicas.active()] }, "started");
  const following = setInterval(() => void followRedisClock(redis, clock).catch(() => {}), CLOCK_MS);
  closer.add("clock", () => clearInterval(following));
}

async function untilRedisAnswers({ redis, clock, log }: Runtime, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      if (redis.status === "wait") await redis.connect().catch(() => {});
      await followRedisClock(redis, { now: clock.now, correct: clock.begin });
      await warnOfSettings(redis, log);
      return;
    } catch (thrown) {
      if (signal.aborted) return;
      log.error({ err: toError(thrown) }, "Redis does not answer, retrying");
      await new Promise((resolve) => setTimeout(resolve, REDIS_RETRY_MS).unref());
    }
  }
}

async function reload(
  { log, metrics, directory }: Runtime,
  reloader: Reloader,
  asked: Config,
): Promise<readonly string[]> {
  const before = reloader.current().config;
  const { next, ignored } = withoutRestart(before, asked);
  if (ignored.length > 0) log.warn({ keys: ignored }, "these keys changed: they take effect at the next start");
  const areOthers = await directory.follow(next.directory);
  if (!areOthers && isSame(withoutIds(before), withoutIds(next))) {
    log.info("configuration reloaded, nothing changed");
  } else {
    try {
      await reloader.change(next);
    } catch (thrown) {
      metrics.configReloaded(false);
      throw thrown;
    }
    if (next.log.level !== before.log.level) log.level = next.log.level;
    log.info("configuration reloaded");
  }
  metrics.configReloaded(true);
  return changedKeys(withoutIds(before), withoutIds(asked));
}

/** The configuration without ids of rules: those in force are stored ones. */
function withoutIds(config: Config): Config {
  return { ...config, rules: config.rules.map((rule) => ({ ...rule, id: "" })) };
}

/** The configuration asked for, but for keys that need a restart; `ignored` names those that differ. */
function withoutRestart(before: Config, asked: Config): { next: Config; ignored: string[] } {
  const { host, port, metricsListen } = before.http;
  const watch = { ...asked.watch, historyMs: before.watch.historyMs };
  const tls = before.http.tls && (asked.http.tls ?? before.http.tls);
  const next: Config = {
    ...asked,
    redis: before.redis,
    watch,
    http: { ...asked.http, host, port, metricsListen, tls },
  };
  return { next, ignored: changedKeys(next, asked) };
}

/** The promises hold for a Redis that keeps what it was given. */
async function warnOfSettings(redis: Redis, log: Logger): Promise<void> {
  const info = await redis.info("persistence", "memory").catch(() => "");
  if (/aof_enabled:0/.test(info)) {
    log.warn("Redis has no append-only file: a crash of Redis loses notifications. Set appendonly yes");
  }
  if (/maxmemory:[1-9]/.test(info) && !/maxmemory_policy:noeviction/.test(info)) {
    log.warn("Redis may evict keys: alerts would be lost. Set maxmemory-policy noeviction");
  }
}
