/**
 * The composition root: builds every part from the configuration, starts it, and knows how to stop it. Each
 * teardown stands beside its construction; they run last first, each with its deadline, 10 s in all.
 */
import type { Redis } from "ioredis";
import { Registry } from "prom-client";
import { skipReasons } from "../alerting/needs-update.ts";
import { heartbeatOutcomes } from "../cluster/heartbeat.ts";
import { createQueues, queueNames } from "../cluster/queues.ts";
import { createReplicas, type RoleOption } from "../cluster/replicas.ts";
import type { Config } from "../config/config.ts";
import type { SelfAlertState } from "../health/evaluate-self.ts";
import type { LoadedAnew } from "../http/deps.ts";
import { createHttpServer } from "../http/server.ts";
import { type Clock, correctedClock, type Instant, steadyClock } from "../lib/clock.ts";
import { Closer } from "../lib/closer.ts";
import { toError } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import { readVersion } from "../lib/version.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { protocolErrorKinds, serviceEndpoints, serviceErrorCodes } from "../service/service.ts";
import { createConfirm } from "../store/confirm.ts";
import { followRedisClock } from "../store/redis.ts";
import { confirmWrites } from "../store/redis-client.ts";
import { createSelfAlertStore } from "../store/self-alerts.ts";
import { createStore, type Store } from "../store/store.ts";
import { httpDeps, type Parts } from "./http-deps.ts";
import { openRedis } from "./open-redis.ts";
import { createReloader, isSame, type Runtime } from "./reload.ts";

const CLOCK_MS = 60_000;
const ASK_REDIS_AGAIN_MS = 1_000;

export interface AppDeps {
  readonly config: Config;
  readonly log: Logger;
  /** What this replica does; `all` unless given. */
  readonly role?: RoleOption;
  /** Reads the configuration's file again and puts it in force; undefined where there is none. */
  readonly loadAnew?: (() => Promise<LoadedAnew>) | undefined;
  /** Where a test owns the time: taken as it is, whatever Redis says. */
  readonly clock?: Clock;
}

export interface App {
  /** Where HTTP is served, a URL without a trailing slash. */
  readonly address: string;
  /** Resolves once Redis answered and the work has begun; it waits for Redis as long as it takes. */
  readonly working: Promise<void>;
  /**
   * Puts another configuration in force and resolves once it is; timers are kept and nothing is told again. What
   * needs a restart (`redis`, `watch.history`, `http.listen`) stays as it was and is said in the log. Throws where it cannot be built:
   * then everything stays as it was.
   */
  reload(config: Config): Promise<void>;
  /** The configuration could not be loaded: the one in force stays, and the metric says so. */
  refused(): void;
  /** Ends everything within 10 s, even without Redis; the second call returns the first one's promise. */
  stop(): Promise<void>;
}

/**
 * Starts the daemon: HTTP at once, the work as soon as Redis answers. Throws where HTTP cannot listen or an
 * embedded Redis cannot be had; what was begun is closed again.
 */
export async function startApp(deps: AppDeps): Promise<App> {
  const closer = new Closer();
  try {
    return await build(deps, closer);
  } catch (thrown) {
    await closer.close().catch(() => {});
    throw thrown;
  }
}

/** Long because it is the list of all parts in the order they depend on each other. */
async function build(deps: AppDeps, closer: Closer): Promise<App> {
  const { config, log, clock: own, role = "all" } = deps;
  const clock = own ? { now: () => own.now(), correct: () => {} } : correctedClock(steadyClock());
  const opened = await openRedis(config.redis, log.child({ component: "redis" }));
  closer.add("embedded Redis", () => opened.close(), 2_500);
  const redis = opened.connect("lenswatch");
  closer.add("Redis", () => redis.disconnect());
  const confirm = opened.canFailOver
    ? createConfirm(() => confirmWrites(redis, store.keys.replicas), log)
    : undefined;
  const { historyMs } = config.watch;
  const store: Store = createStore(redis, config.redis.prefix, { confirm, historyMs });

  const registry = new Registry();
  const metrics = createMetrics(registry, { version: readVersion(), known: knownLabels(config) });
  metrics.configReloaded(true);
  const up = new Map<string, boolean>();
  const queues = createQueues({
    connect: opened.connect,
    prefix: store.keys.queuePrefix,
    log: log.child({ component: "queues" }),
    onFailed: (queue, err) => log.error({ err, queue }, "a job failed; the next one tries again"),
  });
  const selfAlerts = createSelfAlertStore<SelfAlertState>(redis, store.keys, {});
  const replicas = createReplicas({ store: store.replicas, clock, log, roleOption: role });
  closer.add("roll", () => (redis.status === "ready" ? replicas.leave() : undefined), 1_000);
  let lastAttemptAt: Instant | undefined;
  const runtime: Runtime = {
    log,
    clock,
    store,
    selfAlerts,
    queues,
    registry,
    metrics,
    up,
    replicas,
    attempted(at) {
      lastAttemptAt = Math.max(lastAttemptAt ?? at, at);
    },
  };
  const reloader = createReloader(runtime, config);
  metrics.knowIntegrations(reloader.current().integrations.integrations);
  closer.add("channels and service", () => reloader.close(), 2_000);
  closer.add("queues", () => queues.close(), 4_500);
  closer.add("engine", () => reloader.stop());

  const { loadAnew } = deps;
  const parts = { runtime, redis, clock, reloader, loadAnew, lastAttemptAt: () => lastAttemptAt };
  const http = createHttpServer(httpDeps(parts));
  closer.add("HTTP", () => http.close(), 1_500);
  const { address } = await http.start();
  log.info({ address }, "listening");
  const working = begin(parts, closer);
  return {
    address,
    working,
    reload: (next) => reload(parts, next),
    refused: () => metrics.configReloaded(false),
    stop: () => closer.close(),
  };
}

/** Waits for Redis, then begins the work; never rejects: what fails here is logged and tried again. */
async function begin(
  { runtime: { log, replicas }, redis, clock, reloader }: Parts,
  closer: Closer,
): Promise<void> {
  let stopped = false;
  closer.add("start", () => {
    stopped = true;
  });
  const first = reloader.current();
  void first.service.checkStatus().catch((thrown: unknown) => {
    log.warn(
      { err: toError(thrown) },
      "the service does not say that it is healthy; watching begins all the same",
    );
  });
  while (!stopped) {
    try {
      if (redis.status === "wait") await redis.connect().catch(() => {});
      await followRedisClock(redis, clock);
      await warnOfSettings(redis, log);
      break;
    } catch (thrown) {
      if (stopped) return;
      log.error({ err: toError(thrown) }, "Redis could not be asked; it is tried again");
      await new Promise((resolve) => setTimeout(resolve, ASK_REDIS_AGAIN_MS).unref());
    }
  }
  closer.add(
    "roll call",
    replicas.follow(() => void reloader.assign()),
  );
  await reloader.begin();
  if (stopped) return;
  const { statusIntervalMs } = reloader.current().config.watch;
  log.info({ statusIntervalMs, role: replicas.roleOption, roles: [...replicas.active()] }, "watching");
  const following = setInterval(() => void followRedisClock(redis, clock).catch(() => {}), CLOCK_MS);
  closer.add("clock", () => clearInterval(following));
}

/** What the house was built with stays until the next start. */
async function reload({ runtime: { log, metrics }, reloader }: Parts, asked: Config): Promise<void> {
  const before = reloader.current().config;
  const { host, port } = before.http;
  const { historyMs } = before.watch;
  const next: Config = {
    ...asked,
    redis: before.redis,
    watch: { ...asked.watch, historyMs },
    http: { ...asked.http, host, port },
  };
  const later = [
    ...(isSame(asked.redis, before.redis) ? [] : ["redis"]),
    ...(asked.watch.historyMs === historyMs ? [] : ["watch.history"]),
    ...(isSame(asked.http, next.http) ? [] : ["http.listen"]),
  ];
  if (later.length > 0) {
    log.warn({ keys: later }, "these keys changed too: they take effect at the next start");
  }
  if (isSame(before, next)) {
    log.info("the configuration was read again and says the same");
  } else {
    try {
      await reloader.change(next);
    } catch (thrown) {
      metrics.configReloaded(false);
      throw thrown;
    }
    if (next.log.level !== before.log.level) log.level = next.log.level;
    log.info("the configuration was loaded anew and is in force");
  }
  metrics.configReloaded(true);
}

/** What is promised holds for a Redis that keeps what it was given. */
async function warnOfSettings(redis: Redis, log: Logger): Promise<void> {
  const info = await redis.info("persistence", "memory").catch(() => "");
  if (/aof_enabled:0/.test(info)) {
    log.warn("Redis keeps no append-only file: a crash of Redis loses messages. Set appendonly yes");
  }
  if (/maxmemory:[1-9]/.test(info) && !/maxmemory_policy:noeviction/.test(info)) {
    log.warn("Redis may evict keys: alerts would be lost. Set maxmemory-policy noeviction");
  }
}

function knownLabels({ heartbeat }: Config) {
  return {
    endpoints: serviceEndpoints,
    outcomes: ["ok", ...serviceErrorCodes],
    protocolErrors: protocolErrorKinds,
    suppressReasons: skipReasons,
    queues: queueNames,
    heartbeats: heartbeat ? heartbeatOutcomes : [],
    integrations: [],
  };
}
