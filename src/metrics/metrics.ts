/** Counts events of this process: one method per event. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from "prom-client";
import { type NotifyErrorCode, notifyErrorCodes } from "../alerting/model.ts";
import { alertmanagerVersion, type Integration } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import { type MetricRow, processRows } from "./table.ts";

/** Label values known at the start. Their series start at 0, so that `rate()` works from the first scrape on. */
export interface KnownLabels {
  readonly endpoints: readonly string[];
  /** Outcomes of a request: `ok` and the codes of its errors. */
  readonly outcomes: readonly string[];
  readonly protocolErrors: readonly string[];
  readonly suppressReasons: readonly string[];
  readonly queues: readonly string[];
  /** Outcomes of the heartbeat; empty without a heartbeat. */
  readonly heartbeats: readonly string[];
  readonly integrations: readonly Pick<Integration, "receiver" | "type">[];
}

/** BullMQ's job states, by which the jobs of a queue are counted. */
const queueJobStates = ["waiting", "active", "delayed", "prioritized", "completed", "failed", "paused"] as const;
type QueueJobState = (typeof queueJobStates)[number];

/** One method per counted event; also serves as the observer of the analytics service's client. */
export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Registers every metric of `processRows`, and Node's own unless `processMetrics` is false. Throws where one of them is
 * registered already.
 */
export function createMetrics(
  registry: Registry,
  { version, known, processMetrics }: { version: string; known: KnownLabels; processMetrics?: boolean },
) {
  const own = registerAll(registry);
  own.build.set({ version, node: process.versions.node }, 1);
  own.alertmanagerBuild.set({ version: alertmanagerVersion }, 1);
  if (processMetrics !== false) collectProcessMetrics(registry);
  startAtZero(own, known);
  const metrics = methodsOf(own, known);
  metrics.knowIntegrations(known.integrations);
  metrics.alertsReceived({ firing: 0, resolved: 0, invalid: 0 });
  return metrics;
}

function methodsOf(own: Registered, known: KnownLabels) {
  return {
    /** A sweep of a shard succeeded. */
    sweepFinished: (seconds: number) => own.sweepDuration.observe(seconds),
    serviceUp: (endpoint: string, up: boolean) => own.serviceUp.set({ endpoint }, up ? 1 : 0),
    /** A request to the service ended; `outcome` is `ok` or the error's code. */
    request: (endpoint: string, outcome: string, seconds: number) =>
      own.requestDuration.observe({ endpoint, outcome }, seconds),
    protocolError: (kind: string) => own.protocolErrors.inc({ kind }),
    socketReconnect: () => own.socketReconnects.inc(),
    /** The expiry of the access token in use; undefined where that is unknown. */
    tokenExpiry: (at: Instant | undefined) =>
      at === undefined ? own.tokenExpiry.remove() : own.tokenExpiry.set(at / 1000),
    /** A receiver accepted a message. Latency: since its oldest flip; undefined for reminders and tests. */
    notified(receiver: string, integration: string, latencySeconds: number | undefined): void {
      own.notifications.inc({ receiver, integration });
      own.alertmanagerNotifications.inc({ integration });
      if (latencySeconds !== undefined) own.notificationLatency.observe(latencySeconds);
    },
    notifyFailed(receiver: string, integration: string, reason: NotifyErrorCode): void {
      own.notificationsFailed.inc({ receiver, integration, reason });
      own.alertmanagerNotifications.inc({ integration });
      own.alertmanagerNotificationsFailed.inc({ integration, reason: ALERTMANAGER_REASONS[reason] });
    },
    suppressed: (receiver: string, reason: string) => own.notificationsSuppressed.inc({ receiver, reason }),
    /** Resolved notifications that cannot be sent, because their integration is no longer configured. */
    resolvedOwed: (receiver: string, integration: string, count: number) =>
      own.notificationsOwed.set({ receiver, integration }, count),
    /** Visits that outages kept from being counted: an estimate. */
    visitsUncounted: (visits: number) => own.visitsUncounted.inc(visits),
    /** Undefined without an app token. */
    slackSocket: (isConnected: boolean | undefined) =>
      isConnected === undefined ? own.slackSocket.remove() : own.slackSocket.set(isConnected ? 1 : 0),
    heartbeat: (outcome: string) => own.heartbeats.inc({ outcome }),
    queueJobs: (queue: string, state: QueueJobState, count: number) => own.queueJobs.set({ queue, state }, count),
    configReloaded(successful: boolean): void {
      for (const gauge of [own.configReload, own.alertmanagerReload]) gauge.set(successful ? 1 : 0);
    },
    /** External alerts were posted; `invalid` were refused. */
    alertsReceived({ firing, resolved, invalid }: Readonly<Record<"firing" | "resolved" | "invalid", number>>): void {
      own.alertmanagerReceived.inc({ status: "firing", version: "v2" }, firing);
      own.alertmanagerReceived.inc({ status: "resolved", version: "v2" }, resolved);
      own.alertmanagerInvalid.inc({ version: "v2" }, invalid);
    },
    /** Sets the series of new integrations to 0, after a reload. */
    knowIntegrations: (integrations: KnownLabels["integrations"]) =>
      startIntegrationsAtZero(own, integrations, known.suppressReasons),
  };
}

type Rows = typeof processRows;
type LabelOf<R extends MetricRow> = R["labels"][number];
type Registered = {
  readonly [K in keyof Rows]: Rows[K]["type"] extends "counter"
    ? Counter<LabelOf<Rows[K]>>
    : Rows[K]["type"] extends "gauge"
      ? Gauge<LabelOf<Rows[K]>>
      : Histogram<LabelOf<Rows[K]>>;
};

function registerAll(registry: Registry): Registered {
  const registered = Object.entries<MetricRow>(processRows).map(([key, row]) => {
    const { name, help, labels: labelNames, buckets = [] } = row;
    const options = { name, help, labelNames, registers: [registry] };
    if (row.type === "counter") return [key, new Counter(options)];
    if (row.type === "histogram") return [key, new Histogram({ ...options, buckets: [...buckets] })];
    return [key, new Gauge(options)];
  });
  return Object.fromEntries(registered);
}

/** Sets the series of all known labels to 0. A timestamp at 0 would mean 1970, so those start without a series. */
function startAtZero(own: Registered, known: KnownLabels): void {
  own.tokenExpiry.remove();
  own.slackSocket.remove();
  for (const endpoint of known.endpoints)
    for (const outcome of known.outcomes) own.requestDuration.zero({ endpoint, outcome });
  for (const outcome of known.heartbeats) own.heartbeats.inc({ outcome }, 0);
  for (const kind of known.protocolErrors) own.protocolErrors.inc({ kind }, 0);
  for (const queue of known.queues) for (const state of queueJobStates) own.queueJobs.set({ queue, state }, 0);
}

function startIntegrationsAtZero(
  own: Registered,
  integrations: KnownLabels["integrations"],
  suppressReasons: readonly string[],
): void {
  for (const { receiver, type: integration } of integrations) {
    own.notifications.inc({ receiver, integration }, 0);
    own.alertmanagerNotifications.inc({ integration }, 0);
    for (const reason of notifyErrorCodes) {
      own.notificationsFailed.inc({ receiver, integration, reason }, 0);
      own.alertmanagerNotificationsFailed.inc({ integration, reason: ALERTMANAGER_REASONS[reason] }, 0);
    }
    for (const reason of suppressReasons) own.notificationsSuppressed.inc({ receiver, reason }, 0);
  }
}

/** Failure reasons as Alertmanager's notify/util.go names them; its mixin's alerts and dashboards use these. */
const ALERTMANAGER_REASONS: Readonly<Record<NotifyErrorCode, string>> = {
  network: "other",
  timeout: "contextDeadlineExceeded",
  rate_limited: "rateLimited",
  server_error: "serverError",
  auth: "authError",
  not_found: "clientError",
  bad_request: "clientError",
  recipient_refused: "clientError",
  conversation_gone: "clientError",
  other: "other",
};

/** prom-client's gauges that end in `_total`, which only counters may; each also exists as a sum without it. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
