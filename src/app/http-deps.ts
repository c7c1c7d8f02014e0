/** What HTTP shows: everything is asked of the shift in force at each request. */
import type { Redis } from "ioredis";
import { toAlert } from "../alerting/external-alerts.ts";
import { fingerprint } from "../alerting/fingerprint.ts";
import { routesFor } from "../alerting/routing.ts";
import { dutiesOf } from "../cluster/replicas.ts";
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
import type { House, Shifts } from "./reload.ts";

const PING_DEADLINE_MS = 1_000;
const WATCHED_ENDPOINTS = ["status_uptime", "uptimes", "locations"] as const;

export interface Parts {
  readonly house: House;
  readonly redis: Redis;
  readonly clock: ReturnType<typeof correctedClock>;
  readonly shifts: Shifts;
  readonly loadAnew: (() => Promise<LoadedAnew>) | undefined;
  lastAttemptAt(): Instant | undefined;
}

/** What the HTTP server asks for. */
export function httpDeps(parts: Parts): HttpDeps {
  const { shifts } = parts;
  const { log, clock, store, registry } = parts.house;
  const annotate = createAnnotate({ ...store, log });
  const config = () => shifts.current().config;
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
    fleet: () => shifts.current().engine.fleet(),
    uptimes: (ids) => shifts.current().engine.uptimes.kept(ids),
    recallUptime: (id, timezone) => shifts.current().engine.uptimes.recall(id, timezone),
    alerts: () => activeAlerts(parts, annotate),
    alertsReceived: parts.house.metrics.alertsReceived,
    takeAlerts: (sent) => shifts.current().engine.takeAlerts(sent),
    ...shifts.current().engine.changes,
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
  { clock, shifts }: Parts,
  annotate: ReturnType<typeof createAnnotate>,
): Promise<ActiveAlert[]> {
  const { engine, config } = shifts.current();
  const receivers = ({ labels }: Alert) => [
    ...new Set(routesFor(config.route, labels).map(({ receiver }) => receiver)),
  ];
  const [held, outside] = await Promise.all([engine.held(), engine.outside()]);
  const alerts = await annotate(
    held.map(({ alert }) => alert),
    clock.now(),
  );
  const firing = held.map((one, i): ActiveAlert => {
    const { inhibitedBy } = one;
    const alert = alerts[i] ?? one.alert;
    const sent = alert.subject.kind === "outside" ? outside.get(alert.subject.id) : undefined;
    return {
      ...one,
      alert,
      receivers: receivers(alert),
      inhibitedBy: inhibitedBy.map(({ labels }) => fingerprint(labels)),
      outside: sent && { ...sent, unprocessed: false },
    };
  });
  const unprocessed = [...outside].flatMap(([print, sent]): ActiveAlert[] => {
    if (sent.firedAt !== undefined) return [];
    const alert = toAlert(print, sent, clock.now());
    return [{ alert, receivers: receivers(alert), outside: { ...sent, unprocessed: true } }];
  });
  return [...firing, ...unprocessed];
}

/** One replica at a time exposes the fleet; the others only themselves. */
async function fleetView({ house, shifts }: Parts): Promise<FleetView | undefined> {
  if (!house.roll.exposes()) return undefined;
  const { engine, config } = shifts.current();
  const [snapshot, { state }] = await Promise.all([engine.fleet(), house.fleet.read()]);
  const outside = [...(await engine.outside()).values()];
  const otherAlerts = [
    ...Object.values(state).flatMap((alerts) => Object.values(alerts)),
    ...outside.map(({ labels }) => ({ labels, state: "firing" as const })),
  ];
  return { snapshot, rules: config.rules, otherAlerts };
}

async function readiness({ house, clock, redis, shifts, lastAttemptAt }: Parts): Promise<Readiness> {
  const redisReachable =
    redis.status === "ready" &&
    (await withDeadline(redis.ping(), PING_DEADLINE_MS).then(
      () => true,
      () => false,
    ));
  const { statusIntervalMs } = shifts.current().config.watch;
  return judgeReadiness(
    {
      configLoaded: true,
      redisReachable,
      sweeps: dutiesOf(house.roll.role).includes("poll")
        ? { lastAttemptAt: lastAttemptAt(), statusIntervalMs }
        : undefined,
      resting: house.roll.resting(),
      endpointsDown: WATCHED_ENDPOINTS.filter((endpoint) => house.up.get(endpoint) === false),
    },
    clock.now(),
  );
}
