/** What happens, counted: one method per event, named for what happened. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Registry } from "prom-client";
import { alertmanagerVersion } from "../alerting/alertmanager-version.ts";
import { type NotifyErrorCode, notifyErrorCodes } from "../alerting/notification.ts";
import type { Integration } from "../alerting/route.ts";
import type { Instant } from "../lib/clock.ts";
import { type MetricRow, processRows } from "./table.ts";

/** Label values known beforehand: their series start at 0, so that rates work from the first scrape on. */
export interface KnownLabels {
  /** Endpoints of the analytics service. */
  readonly endpoints: readonly string[];
  /** Outcomes of a request: `ok` and the codes of its errors. */
  readonly outcomes: readonly string[];
  /** Kinds of protocol error. */
  readonly protocolErrors: readonly string[];
  /** Reasons for holding a message back. */
  readonly suppressReasons: readonly string[];
  readonly queues: readonly string[];
  /** Outcomes of the heartbeat; none where there is no heartbeat. */
  readonly heartbeats: readonly string[];
  readonly integrations: readonly KnownIntegration[];
}
export type KnownIntegration = Pick<Integration, "receiver" | "type">;

/** The states a queue's jobs are counted by (BullMQ's). */
export const queueJobStates = [
  "waiting",
  "active",
  "delayed",
  "prioritized",
  "completed",
  "failed",
  "paused",
] as const;
export type QueueJobState = (typeof queueJobStates)[number];

/** Handles for everything counted; also an observer of the analytics service's client. */
export interface Metrics {
  /** A shard was swept well: how long it took, and when it ended. */
  sweepFinished(seconds: number, at: Instant): void;
  serviceUp(endpoint: string, up: boolean): void;
  /** A request to the service ended; `outcome` is `ok` or the error's code. */
  request(endpoint: string, outcome: string, seconds: number): void;
  protocolError(kind: string): void;
  socketReconnect(): void;
  /** When the token in use ends; undefined where that is not known. */
  tokenExpiry(at: Instant | undefined): void;
  /** A receiver accepted a message; the latency of the oldest flip it tells, undefined for reminders and tests. */
  notified(receiver: string, integration: string, latencySeconds: number | undefined): void;
  notifyFailed(receiver: string, integration: string, reason: NotifyErrorCode): void;
  suppressed(receiver: string, reason: string): void;
  /** Ends that cannot be told, because the integrations they are owed at are gone. */
  endsOwed(receiver: string, integration: string, count: number): void;
  /** A round of the heartbeat: called, refused, or not called. */
  heartbeat(outcome: string): void;
  queueJobs(queue: string, state: QueueJobState, count: number): void;
  configReloaded(successful: boolean): void;
  /** Alerts came from outside: those that fire, those that are over, and those that were refused. */
  alertsReceived(counts: {
    readonly firing: number;
    readonly resolved: number;
    readonly invalid: number;
  }): void;
  /** After a reload: the series of integrations not seen before start at 0. */
  knowIntegrations(integrations: readonly KnownIntegration[]): void;
}

export interface MetricsOptions {
  /** Of lenswatch. */
  readonly version: string;
  readonly known: KnownLabels;
  /** Whether Node's own process metrics are collected too; true by default. */
  readonly processMetrics?: boolean;
}

/** Creates every metric of `processRows` on the registry handed in. Throws where one is already there. */
export function createMetrics(registry: Registry, options: MetricsOptions): Metrics {
  const counter = <L extends string>(row: MetricRow<L>) =>
    new Counter({ name: row.name, help: row.help, labelNames: row.labels, registers: [registry] });
  const gauge = <L extends string>(row: MetricRow<L>) =>
    new Gauge({ name: row.name, help: row.help, labelNames: row.labels, registers: [registry] });
  const histogram = <L extends string>(row: MetricRow<L> & { readonly buckets: readonly number[] }) =>
    new Histogram({
      name: row.name,
      help: row.help,
      labelNames: row.labels,
      buckets: [...row.buckets],
      registers: [registry],
    });

  const sweepDuration = histogram(processRows.sweepDuration);
  const lastSweep = withoutValue(gauge(processRows.lastSweep));
  const serviceUp = gauge(processRows.serviceUp);
  const requestDuration = histogram(processRows.requestDuration);
  const socketReconnects = counter(processRows.socketReconnects);
  const protocolErrors = counter(processRows.protocolErrors);
  const tokenExpiry = withoutValue(gauge(processRows.tokenExpiry));
  const notifications = counter(processRows.notifications);
  const notificationsFailed = counter(processRows.notificationsFailed);
  const notificationLatency = histogram(processRows.notificationLatency);
  const suppressed = counter(processRows.notificationsSuppressed);
  const notificationsOwed = gauge(processRows.notificationsOwed);
  const heartbeats = counter(processRows.heartbeats);
  const queueJobs = gauge(processRows.queueJobs);
  const configReload = gauge(processRows.configReload);
  const alertmanager = {
    reload: gauge(processRows.alertmanagerReload),
    notifications: counter(processRows.alertmanagerNotifications),
    failed: counter(processRows.alertmanagerNotificationsFailed),
    received: counter(processRows.alertmanagerReceived),
    invalid: counter(processRows.alertmanagerInvalid),
  };
  gauge(processRows.build).set({ version: options.version, node: process.versions.node }, 1);
  gauge(processRows.alertmanagerBuild).set({ version: alertmanagerVersion }, 1);
  if (options.processMetrics !== false) collectProcessMetrics(registry);

  const { known } = options;
  for (const endpoint of known.endpoints) {
    for (const outcome of known.outcomes) requestDuration.zero({ endpoint, outcome });
  }
  for (const outcome of known.heartbeats) heartbeats.inc({ outcome }, 0);
  for (const kind of known.protocolErrors) protocolErrors.inc({ kind }, 0);
  for (const queue of known.queues) {
    for (const state of queueJobStates) queueJobs.set({ queue, state }, 0);
  }

  const metrics: Metrics = {
    sweepFinished(seconds, at) {
      sweepDuration.observe(seconds);
      lastSweep.set(at / 1000);
    },
    serviceUp: (endpoint, up) => serviceUp.set({ endpoint }, up ? 1 : 0),
    request: (endpoint, outcome, seconds) => requestDuration.observe({ endpoint, outcome }, seconds),
    protocolError: (kind) => protocolErrors.inc({ kind }),
    socketReconnect: () => socketReconnects.inc(),
    tokenExpiry(at) {
      if (at === undefined) withoutValue(tokenExpiry);
      else tokenExpiry.set(at / 1000);
    },
    notified(receiver, integration, latencySeconds) {
      notifications.inc({ receiver, integration });
      alertmanager.notifications.inc({ integration });
      if (latencySeconds !== undefined) notificationLatency.observe(latencySeconds);
    },
    notifyFailed(receiver, integration, reason) {
      notificationsFailed.inc({ receiver, integration, reason });
      alertmanager.notifications.inc({ integration });
      alertmanager.failed.inc({ integration, reason: ALERTMANAGER_REASONS[reason] });
    },
    suppressed: (receiver, reason) => suppressed.inc({ receiver, reason }),
    endsOwed: (receiver, integration, count) => notificationsOwed.set({ receiver, integration }, count),
    heartbeat: (outcome) => heartbeats.inc({ outcome }),
    queueJobs: (queue, state, count) => queueJobs.set({ queue, state }, count),
    configReloaded(successful) {
      configReload.set(successful ? 1 : 0);
      alertmanager.reload.set(successful ? 1 : 0);
    },
    alertsReceived({ firing, resolved, invalid }) {
      alertmanager.received.inc({ status: "firing", version: "v2" }, firing);
      alertmanager.received.inc({ status: "resolved", version: "v2" }, resolved);
      alertmanager.invalid.inc({ version: "v2" }, invalid);
    },
    knowIntegrations(integrations) {
      for (const { receiver, type: integration } of integrations) {
        notifications.inc({ receiver, integration }, 0);
        for (const reason of notifyErrorCodes) {
          notificationsFailed.inc({ receiver, integration, reason }, 0);
          alertmanager.failed.inc({ integration, reason: ALERTMANAGER_REASONS[reason] }, 0);
        }
        alertmanager.notifications.inc({ integration }, 0);
        for (const reason of known.suppressReasons) suppressed.inc({ receiver, reason }, 0);
      }
    },
  };
  metrics.knowIntegrations(known.integrations);
  metrics.alertsReceived({ firing: 0, resolved: 0, invalid: 0 });
  return metrics;
}

/** Alertmanager's reasons for a failure (its notify/util.go), as its mixin's alerts and dashboards know them. */
const ALERTMANAGER_REASONS: Readonly<Record<NotifyErrorCode, string>> = {
  network: "other",
  timeout: "contextDeadlineExceeded",
  rate_limited: "rateLimited",
  server_error: "serverError",
  auth: "authError",
  not_found: "clientError",
  bad_request: "clientError",
  recipient_refused: "clientError",
  other: "other",
};

/** A gauge without labels starts at 0, which for a timestamp is 1970: no series says more. */
function withoutValue(gauge: Gauge): Gauge {
  gauge.remove();
  return gauge;
}

/** Gauges of prom-client that end in `_total`, a name only counters may have; each has a sum without it. */
const MISNAMED = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
}
