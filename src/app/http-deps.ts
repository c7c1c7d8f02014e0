/** What HTTP shows: everything is asked of the shift in force at each request. */
import type { Redis } from "ioredis";
import { toAlert } from "../alerting/external-alerts.ts";
import { fingerprint } from "../alerting/fingerprint.ts";
import { routesFor } from "../alerting/routing.ts";
import { rolesOf } from "../cluster/replicas.ts";
import { createAnnotate } from "../deliver/annotate.ts";
import type { Alert } from "../health/alert.ts";
import type { ActiveAlert, HttpDeps, LoadedAnew } from "../http/deps.ts";
import { judgeReadiness, type Readiness } from "../http/readiness.ts";
import type { correctedClock, Instant } from "../lib/clock.ts";
import { withDeadline } from "../lib/closer.ts";
import { readVersion } from "../lib/version.ts";
import { createExposition } from "../metrics/exposition.ts";
import type { FleetView } from "../metrics/fleet.ts";
import { toIncident } from "../store/incidents.ts";
import type { Reloader, Runtime } from "./reload.ts";

const PING_DEADLINE_MS = 1_000;
const WATCHED_ENDPOINTS = ["status_uptime", "uptimes", "locations"] as const;

export interface Parts {
  readonly runtime: Runtime;
  readonly redis: Redis;
  readonly clock: ReturnType<typeof correctedClock>;
  readonly reloader: Reloader;
  readonly loadAnew: (() => Promise<LoadedAnew>) | undefined;
  lastAttemptAt(): Instant | undefined;
}

/** What the HTTP server asks for. */
export function httpDeps(parts: Parts): HttpDeps {
  const { reloader } = parts;
  const { log, clock, store, registry } = parts.runtime;
  const annotate = createAnnotate({ ...store, log });
  const config = () => reloader.current().config;
  return {
    log,
    clock,
    version: readVersion(),
    listen: config().http,
    get readToken() {
      return config().http.readToken;
    },
    get adminToken() {
      return config().http.adminToken;
    },
    get externalUrl() {
      return config().http.externalUrl;
    },
    ready: () => readiness(parts),
    fleet: () => reloader.current().engine.fleet(),
    uptimes: (ids) => reloader.current().engine.uptimes.kept(ids),
    recallUptime: (id, timezone) => reloader.current().engine.uptimes.recall(id, timezone),
    alerts: () => activeAlerts(parts, annotate),
    alertsReceived: parts.runtime.metrics.alertsReceived,
    acceptAlerts: (sent) => reloader.current().engine.acceptAlerts(sent),
    ...reloader.current().engine.changes,
    timeline: store.log.read,
    zones: store.zones.read,
    incidents: async (since: number) => [
      ...(await store.incidents.endedSince(since)),
      ...(await store.shards.alerts()).filter(({ state }) => state === "firing").map(toIncident),
    ],
    config,
    loadAnew: parts.loadAnew,
    metrics: createExposition({ registry, log, fleet: () => fleetView(parts) }),
  };
}

/** Everything that fires, and what was sent from outside and is still to be judged. */
async function activeAlerts(
  { clock, reloader }: Parts,
  annotate: ReturnType<typeof createAnnotate>,
): Promise<ActiveAlert[]> {
  const { engine, config } = reloader.current();
  const receivers = ({ labels }: Alert) => [
    ...new Set(routesFor(config.route, labels).map(({ receiver }) => receiver)),
  ];
  const [suppressed, externalAlerts] = await Promise.all([engine.suppressed(), engine.externalAlerts()]);
  const alerts = await annotate(
    suppressed.map(({ alert }) => alert),
    clock.now(),
  );
  const firing = suppressed.map((one, i): ActiveAlert => {
    const { inhibitedBy } = one;
    const alert = alerts[i] ?? one.alert;
    const sent = alert.subject.kind === "external" ? externalAlerts.get(alert.subject.id) : undefined;
    return {
      ...one,
      alert,
      receivers: receivers(alert),
      inhibitedBy: inhibitedBy.map(({ labels }) => fingerprint(labels)),
      external: sent && { ...sent, unprocessed: false },
    };
  });
  const unprocessed = [...externalAlerts].flatMap(([print, sent]): ActiveAlert[] => {
    if (sent.firedAt !== undefined) return [];
    const alert = toAlert(print, sent, clock.now());
    return [{ alert, receivers: receivers(alert), external: { ...sent, unprocessed: true } }];
  });
  return [...firing, ...unprocessed];
}

/** One replica at a time exposes the fleet; the others only themselves. */
async function fleetView({ runtime, reloader }: Parts): Promise<FleetView | undefined> {
  if (!runtime.replicas.exposes()) return undefined;
  const { engine, config } = reloader.current();
  const [snapshot, { state }] = await Promise.all([engine.fleet(), runtime.selfAlerts.read()]);
  const externalAlerts = [...(await engine.externalAlerts()).values()];
  const otherAlerts = [
    ...Object.values(state).flatMap((alerts) => Object.values(alerts)),
    ...externalAlerts.map(({ labels }) => ({ labels, state: "firing" as const })),
  ];
  return { snapshot, rules: config.rules, otherAlerts };
}

async function readiness({ runtime, clock, redis, reloader, lastAttemptAt }: Parts): Promise<Readiness> {
  const redisReachable =
    redis.status === "ready" &&
    (await withDeadline(redis.ping(), PING_DEADLINE_MS).then(
      () => true,
      () => false,
    ));
  const { statusIntervalMs } = reloader.current().config.watch;
  return judgeReadiness(
    {
      configLoaded: true,
      redisReachable,
      sweeps: rolesOf(runtime.replicas.roleOption).includes("poll")
        ? { lastAttemptAt: lastAttemptAt(), statusIntervalMs }
        : undefined,
      standby: runtime.replicas.standby(),
      endpointsDown: WATCHED_ENDPOINTS.filter((endpoint) => runtime.up.get(endpoint) === false),
    },
    clock.now(),
  );
}
