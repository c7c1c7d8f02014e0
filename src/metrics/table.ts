/** Every metric lenswatch exposes, one row each. Names are a promise: dashboards and alert rules hang on them. */
import type { MetricType } from "./text.ts";

export interface MetricRow<Label extends string = string> {
  readonly type: MetricType;
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds, histograms only. */
  readonly buckets?: readonly number[];
}

const recordingLabels = ["recording_id", "recording", "location_id", "location"] as const;

/** Per recording and per fleet, written at each scrape from a snapshot of the fleet. */
export const fleetRows = {
  online: gauge(
    "lenswatch_recording_online",
    "1 while the recording delivers (online or degraded), 0 while it is offline.",
    recordingLabels,
  ),
  quality: gauge(
    "lenswatch_recording_average_quality_ratio",
    "Average quality of the last good reading.",
    recordingLabels,
  ),
  lastSeen: gauge(
    "lenswatch_recording_last_seen_timestamp_seconds",
    "When the service last had contact with the recording.",
    recordingLabels,
  ),
  uptime: gauge(
    "lenswatch_recording_overall_uptime_ratio",
    "Overall uptime within schedule over the window.",
    [...recordingLabels, "window"],
  ),
  recordings: gauge(
    "lenswatch_recordings",
    "Recordings by status; unknown are those without a good reading for 3 intervals.",
    ["status"],
  ),
  alerts: gauge("lenswatch_alerts", "Alerts by name, severity and state.", [
    "alertname",
    "severity",
    "state",
  ]),
} as const;

/** What this process itself does and meets. */
export const processRows = {
  sweepDuration: histogram(
    "lenswatch_sweep_duration_seconds",
    "How long a good sweep of one shard took.",
    [],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60],
  ),
  lastSweep: gauge(
    "lenswatch_last_sweep_timestamp_seconds",
    "When this process last ended a good sweep; absent before the first.",
    [],
  ),
  serviceUp: gauge(
    "lenswatch_service_up",
    "1 while the analytics service answers at the endpoint, 0 while it does not.",
    ["endpoint"],
  ),
  requestDuration: histogram(
    "lenswatch_service_request_duration_seconds",
    "How long requests to the analytics service took.",
    ["endpoint", "outcome"],
    [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  ),
  socketReconnects: counter(
    "lenswatch_socket_reconnects_total",
    "Times the Metrics WebSocket was connected again.",
    [],
  ),
  protocolErrors: counter(
    "lenswatch_protocol_errors_total",
    "Answers of the analytics service that could not be understood.",
    ["kind"],
  ),
  tokenExpiry: gauge(
    "lenswatch_token_expiry_timestamp_seconds",
    "When the access token in use expires; absent while there is none or its end is not known.",
    [],
  ),
  notifications: counter("lenswatch_notifications_total", "Messages accepted by a receiver.", [
    "receiver",
    "integration",
  ]),
  notificationsFailed: counter(
    "lenswatch_notifications_failed_total",
    "Attempts to send a message that failed.",
    ["receiver", "integration", "reason"],
  ),
  notificationLatency: histogram(
    "lenswatch_notification_latency_seconds",
    "From the observed flip to the receiver's acceptance of the message that tells it.",
    [],
    [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
  ),
  notificationsSuppressed: counter(
    "lenswatch_notifications_suppressed_total",
    "Times an alert was due at a receiver and was held back.",
    ["receiver", "reason"],
  ),
  notificationsOwed: gauge(
    "lenswatch_notifications_owed",
    "Ends owed at integrations that are configured no more, counted at the start.",
    ["receiver", "integration"],
  ),
  heartbeats: counter(
    "lenswatch_heartbeat_total",
    "Rounds of the heartbeat: ok, failed, or held because a part of lenswatch did not work.",
    ["outcome"],
  ),
  queueJobs: gauge("lenswatch_queue_jobs", "Jobs in a queue by state.", ["queue", "state"]),
  configReload: gauge(
    "lenswatch_config_last_reload_successful",
    "1 when the last attempt to load the configuration succeeded, else 0.",
    [],
  ),
  build: gauge("lenswatch_build_info", "Always 1; the labels name the build.", ["version", "node"]),
  alertmanagerBuild: gauge(
    "alertmanager_build_info",
    "Always 1; the version of Alertmanager whose API v2 is spoken here.",
    ["version"],
  ),
  alertmanagerReload: gauge(
    "alertmanager_config_last_reload_successful",
    "As lenswatch_config_last_reload_successful, under Alertmanager's name.",
    [],
  ),
  alertmanagerNotifications: counter(
    "alertmanager_notifications_total",
    "Attempts to send a message, accepted or not, under Alertmanager's name.",
    ["integration"],
  ),
  alertmanagerNotificationsFailed: counter(
    "alertmanager_notifications_failed_total",
    "Attempts to send a message that failed, under Alertmanager's name and by its reasons.",
    ["integration", "reason"],
  ),
  alertmanagerReceived: counter(
    "alertmanager_alerts_received_total",
    "Alerts sent from outside: firing or resolved.",
    ["status", "version"],
  ),
  alertmanagerInvalid: counter(
    "alertmanager_alerts_invalid_total",
    "Alerts sent from outside that were refused.",
    ["version"],
  ),
} as const;

function gauge<const L extends string>(name: string, help: string, labels: readonly L[]): MetricRow<L> {
  return { type: "gauge", name, help, labels };
}

function counter<const L extends string>(name: string, help: string, labels: readonly L[]): MetricRow<L> {
  return { type: "counter", name, help, labels };
}

function histogram<const L extends string>(
  name: string,
  help: string,
  labels: readonly L[],
  buckets: readonly number[],
): MetricRow<L> & { readonly buckets: readonly number[] } {
  return { type: "histogram", name, help, labels, buckets };
}
