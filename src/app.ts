/**
 * The composition root: builds every part from the configuration, starts it, and knows how to stop it. Each
 * teardown stands beside its construction; they run last first, each with its deadline, 10 s in all.
 */
import type { Redis } from "ioredis";
import { Registry } from "prom-client";
import { quietReasons } from "./alerting/decide.ts";
import { fingerprint } from "./alerting/fingerprint.ts";
import type { Integration } from "./alerting/route.ts";
import { routesFor } from "./alerting/routing.ts";
import { type Channels, createChannels } from "./channels.ts";
import type { Config } from "./config/config.ts";
import type { FleetState } from "./health/judge-fleet.ts";
import { judgeReadiness, type Readiness } from "./http/readiness.ts";
import { createHttpServer } from "./http/server.ts";
import { createEngine, type Engine } from "./jobs/engine.ts";
import { heartbeatOutcomes } from "./jobs/heartbeat.ts";
import { createQueues, queueNames } from "./jobs/queues.ts";
import { type Clock, correctedClock, steadyClock } from "./lib/clock.ts";
import { Closer, withDeadline } from "./lib/closer.ts";
import { toError } from "./lib/errors.ts";
import type { Logger } from "./lib/log.ts";
import { readVersion } from "./lib/version.ts";
import { createExposition } from "./metrics/exposition.ts";
import type { FleetView } from "./metrics/fleet.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import { createHeartbeatCall } from "./notify/heartbeat.ts";
import {
  createService,
  protocolErrorKinds,
  type Service,
  serviceEndpoints,
  serviceErrorCodes,
} from "./service/service.ts";
import { createFleetStore, type FleetStore } from "./store/fleet.ts";
import { toIncident } from "./store/incidents.ts";
import { openRedis } from "./store/open.ts";
import { followRedisClock } from "./store/redis.ts";
import { createStore, type Store } from "./store/store.ts";

const PING_DEADLINE_MS = 1_000;
const CLOCK_MS = 60_000;
const WATCHED_ENDPOINTS = ["status_uptime", "uptimes", "locations"] as const;

export interface AppDeps {
  readonly config: Config;
  readonly log: Logger;
  /** Where a test owns the time: taken as it is, whatever Redis says. */
  readonly clock?: Clock;
}

export interface App {
  /** Where HTTP is served, a URL without a trailing slash. */
  readonly address: string;
  /** Resolves once Redis answered and the work has begun; it waits for Redis as long as it takes. */
  readonly working: Promise<void>;
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
async function build({ config, log, clock: own }: AppDeps, closer: Closer): Promise<App> {
  const clock = own ? { now: () => own.now(), correct: () => {} } : correctedClock(steadyClock());
  const opened = await openRedis(config.redis.url, log.child({ component: "redis" }));
  closer.add("embedded Redis", () => opened.close(), 2_500);
  const redis = opened.connect("lenswatch");
  closer.add("Redis", () => redis.disconnect());
  const store = createStore(redis, config.redis.prefix, { historyMs: config.watch.historyMs });

  const channels = createChannels(config, log.child({ component: "notify" }));
  closer.add("channels", () => channels.close(), 1_000);
  const registry = new Registry();
  const metrics = createMetrics(registry, { version: readVersion(), known: knownLabels(config, channels) });
  metrics.configReloaded(true);
  const up = new Map<string, boolean>();
  const service = createService({
    config: config.service,
    clock,
    log,
    observer: observe(metrics, up),
  });
  closer.add("service", () => service.close(), 1_500);

  const queues = createQueues({
    connect: opened.connect,
    prefix: store.keys.queuePrefix,
    log: log.child({ component: "queues" }),
    onFailed: (queue, err) => log.error({ err, queue }, "a job failed; the next one tries again"),
  });
  closer.add("queues", () => queues.close(), 4_500);
  const heartbeat = config.heartbeat && createHeartbeatCall(config.heartbeat);
  if (heartbeat) closer.add("heartbeat", () => heartbeat.close(), 1_000);
  const fleet = createFleetStore<FleetState>(redis, store.keys, {});
  const engine = createEngine({
    config,
    clock,
    log,
    service,
    store,
    fleet,
    queues,
    channels: channels.byId,
    metrics,
    callHeartbeat: heartbeat && ((signal) => heartbeat.call(signal)),
    toRefusal: channels.toRefusal,
    digestMail: channels.digestMail,
    isPassing: channels.isPassing,
  });
  closer.add("engine", () => engine.stop());

  const parts = { config, log, clock, redis, store, fleet, engine, registry, up };
  const http = createHttpServer({ ...httpDeps(parts), version: readVersion(), clock, log });
  closer.add("HTTP", () => http.close(), 1_500);
  const { address } = await http.start();
  log.info({ address }, "listening");
  const working = begin(parts, closer, service);
  return { address, working, stop: () => closer.close() };
}

interface Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: ReturnType<typeof correctedClock>;
  readonly redis: Redis;
  readonly store: Store;
  readonly fleet: FleetStore<FleetState>;
  readonly engine: Engine;
  readonly registry: Registry;
  readonly up: ReadonlyMap<string, boolean>;
}

/** Waits for Redis, then begins the work; never rejects: what fails here is logged and tried again. */
async function begin(
  { config, log, clock, redis, engine }: Parts,
  closer: Closer,
  service: Service,
): Promise<void> {
  let stopped = false;
  closer.add("start", () => {
    stopped = true;
  });
  void service.checkStatus().catch((thrown: unknown) => {
    log.warn(
      { err: toError(thrown) },
      "the service does not say that it is healthy; watching begins all the same",
    );
  });
  for (let attempt = 1; !stopped; attempt++) {
    try {
      if (redis.status === "wait") await redis.connect().catch(() => {});
      await followRedisClock(redis, clock);
      await warnOfSettings(redis, log);
      await engine.start();
      log.info({ statusIntervalMs: config.watch.statusIntervalMs }, "watching");
      break;
    } catch (thrown) {
      if (stopped) return;
      log.error({ err: toError(thrown), attempt }, "the start failed; it is tried again");
      await new Promise((resolve) => setTimeout(resolve, Math.min(30_000, 500 * attempt)).unref());
    }
  }
  const following = setInterval(() => void followRedisClock(redis, clock).catch(() => {}), CLOCK_MS);
  closer.add("clock", () => clearInterval(following));
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

function knownLabels({ heartbeat }: Config, channels: Channels) {
  return {
    endpoints: serviceEndpoints,
    outcomes: ["ok", ...serviceErrorCodes],
    protocolErrors: protocolErrorKinds,
    suppressReasons: quietReasons,
    queues: queueNames,
    heartbeats: heartbeat ? heartbeatOutcomes : [],
    integrations: channels.integrations.map(({ receiver, type }: Integration) => ({ receiver, type })),
  };
}

/** The metrics as the service's observer; which endpoints answer is kept beside them for readiness. */
function observe(metrics: Metrics, up: Map<string, boolean>) {
  return {
    ...metrics,
    request(endpoint: string, outcome: string, seconds: number) {
      metrics.request(endpoint, outcome, seconds);
      const answers = outcome === "ok" || outcome === "bad_request";
      if (outcome === "closed") return;
      up.set(endpoint, answers);
      metrics.serviceUp(endpoint, answers);
    },
  };
}

function httpDeps(parts: Parts) {
  const { config, log, store, engine, registry } = parts;
  const receiversOf = (labels: Readonly<Record<string, string>>) => [
    ...new Set(routesFor(config.route, labels).map(({ receiver }) => receiver)),
  ];
  return {
    listen: config.http,
    readToken: config.http.readToken,
    adminToken: config.http.adminToken,
    externalUrl: config.http.externalUrl,
    ready: () => readiness(parts),
    fleet: () => engine.fleet(),
    alerts: async () =>
      (await engine.held()).map((held) => ({
        ...held,
        receivers: receiversOf(held.alert.labels),
        inhibitedBy: held.inhibitedBy.map(({ labels }) => fingerprint(labels)),
      })),
    ...engine.changes,
    timeline: store.log.read,
    incidents: async (since: number) => [
      ...(await store.incidents.endedSince(since)),
      ...(await store.shards.alerts()).filter(({ state }) => state === "firing").map(toIncident),
    ],
    routing: () => ({ route: config.route, receivers: config.receivers.map(({ name }) => name) }),
    metrics: createExposition({ registry, log, fleet: () => fleetView(parts) }),
  };
}

async function fleetView({ config, engine, fleet }: Parts): Promise<FleetView> {
  const [snapshot, { state }] = await Promise.all([engine.fleet(), fleet.read()]);
  const otherAlerts = Object.values(state).flatMap((alerts) => Object.values(alerts));
  return { snapshot, rules: config.rules, otherAlerts };
}

async function readiness({ config, clock, redis, engine, up }: Parts): Promise<Readiness> {
  const redisReachable =
    redis.status === "ready" &&
    (await withDeadline(redis.ping(), PING_DEADLINE_MS).then(
      () => true,
      () => false,
    ));
  return judgeReadiness(
    {
      configLoaded: true,
      redisReachable,
      sweeps: { lastAttemptAt: engine.lastAttemptAt(), statusIntervalMs: config.watch.statusIntervalMs },
      endpointsDown: WATCHED_ENDPOINTS.filter((endpoint) => up.get(endpoint) === false),
    },
    clock.now(),
  );
}
