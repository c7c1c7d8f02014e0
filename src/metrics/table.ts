/** Every metric lenswatch exposes, one row each. Dashboards and alert rules depend on the names. */
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

/** Metrics of the fleet, rendered at each scrape from a snapshot. */
export const fleetRows = {
  online: gauge(
    "lenswatch_recording_online",
    "Whether the recording is online or degraded (1) or offline (0).",
    recordingLabels,
  ),
  quality: gauge(
    "lenswatch_recording_average_quality_ratio",
    "Average quality in the last good reading.",
    recordingLabels,
  ),
  lastSeen: gauge(
    "lenswatch_recording_last_seen_timestamp_seconds",
    "Last contact of the service with the recording.",
    recordingLabels,
  ),
  uptime: gauge(
    "lenswatch_recording_overall_uptime_ratio",
    "Overall uptime ratio within the schedule over the window.",
    [...recordingLabels, "window"],
  ),
  locationRecordings: gauge(
    "lenswatch_location_recordings",
    "Recordings at the location by status; statuses other than online only where there are any.",
    ["location_id", "location", "status"],
  ),
  locationInfo: gauge("lenswatch_location_info", "1, with the directory's labels of the location.", [
    "location_id",
    "location",
  ]),
  locationQuality: gauge(
    "lenswatch_location_average_quality_ratio",
    "Mean over the location's recordings of the average quality in their last good reading.",
    ["location_id", "location"],
  ),
  locationUptime: gauge(
    "lenswatch_location_overall_uptime_ratio",
    "Mean over the location's recordings of the overall uptime ratio within the schedule over the window.",
    ["location_id", "location", "window"],
  ),
  organisationRecordings: gauge(
    "lenswatch_organisation_recordings",
    "Recordings of the organisation by status; statuses other than online only where there are any.",
    ["organisation", "status"],
  ),
  cameraServerRecordings: gauge(
    "lenswatch_camera_server_recordings",
    "Recordings of the camera server by status; statuses other than online only where there are any.",
    ["camera_server", "status"],
  ),
  entriesExpected: gauge(
    "lenswatch_location_entries_expected",
    "Entries usual at the location in the last local hour that is over; absent where its history is too thin.",
    ["location_id", "location"],
  ),
  entriesCounted: gauge(
    "lenswatch_location_entries_counted",
    "Entries counted at the location in that hour; absent where the service has no data.",
    ["location_id", "location"],
  ),
  recordingsRead: gauge(
    "lenswatch_last_sweep_timestamp_seconds",
    "Last good sweep of the shard where it is longest ago; absent while one was never swept.",
  ),
  uptimeRead: gauge(
    "lenswatch_last_uptime_timestamp_seconds",
    "Last time that uptime figures were read, of the shard where it is longest ago; absent before the first.",
  ),
  countsRead: gauge(
    "lenswatch_last_counts_timestamp_seconds",
    "Last time that counts were read, of the shard where it is longest ago; absent where counts are not read.",
  ),
  recordings: gauge("lenswatch_recordings", "Recordings by status; unknown means no good reading for 3 intervals.", [
    "status",
  ]),
  omitted: gauge(
    "lenswatch_exposition_omitted",
    "Locations, organisations and camera servers without series because there are too many.",
    ["kind"],
  ),
  alerts: gauge("lenswatch_alerts", "Alerts by name, severity and state.", ["alertname", "severity", "state"]),
} as const;

/** Metrics of this process. */
export const processRows = {
  sweepDuration: histogram(
    "lenswatch_sweep_duration_seconds",
    "Duration of successful sweeps of a shard.",
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60],
  ),
  serviceUp: gauge("lenswatch_service_up", "Whether the endpoint of the analytics service answers (1) or not (0).", [
    "endpoint",
  ]),
  requestDuration: histogram(
    "lenswatch_service_request_duration_seconds",
    "Duration of requests to the analytics service.",
    [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    ["endpoint", "outcome"],
  ),
  socketReconnects: counter("lenswatch_socket_reconnects_total", "Reconnections of the Metrics WebSocket."),
  protocolErrors: counter("lenswatch_protocol_errors_total", "Invalid answers of the analytics service.", ["kind"]),
  tokenExpiry: gauge(
    "lenswatch_token_expiry_timestamp_seconds",
    "Expiry of the access token in use; absent without a token or where its expiry is unknown.",
  ),
  notifications: counter("lenswatch_notifications_total", "Notifications accepted by a receiver.", [
    "receiver",
    "integration",
  ]),
  notificationsFailed: counter("lenswatch_notifications_failed_total", "Failed attempts to send a notification.", [
    "receiver",
    "integration",
    "reason",
  ]),
  notificationLatency: histogram(
    "lenswatch_notification_latency_seconds",
    "Time from an observed change of state to the acceptance of its notification.",
    [1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600],
  ),
  notificationsSuppressed: counter(
    "lenswatch_notifications_suppressed_total",
    "Alerts that were due at a receiver and suppressed.",
    ["receiver", "reason"],
  ),
  notificationsOwed: gauge(
    "lenswatch_notifications_owed",
    "Resolved notifications owed to integrations that are no longer configured, counted at start.",
    ["receiver", "integration"],
  ),
  visitsUncounted: counter(
    "lenswatch_visits_uncounted_total",
    "Visits that outages kept from being counted, an estimate; added once the service corrects its counts no more.",
  ),
  slackSocket: gauge(
    "lenswatch_slack_socket_connected",
    "Whether Slack's buttons reach this process (1) or not (0); absent without an app token.",
  ),
  heartbeats: counter(
    "lenswatch_heartbeat_total",
    "Heartbeats: ok, failed, or skipped because a component of lenswatch failed.",
    ["outcome"],
  ),
  queueJobs: gauge("lenswatch_queue_jobs", "Jobs in a queue by state.", ["queue", "state"]),
  configReload: gauge(
    "lenswatch_config_last_reload_successful",
    "Whether the last configuration reload succeeded (1) or failed (0).",
  ),
  build: gauge("lenswatch_build_info", "A metric with a constant value of 1; the labels name the build.", [
    "version",
    "node",
  ]),
  alertmanagerBuild: gauge(
    "alertmanager_build_info",
    "A metric with a constant value of 1; the version of Alertmanager whose API v2 is served.",
    ["version"],
  ),
  alertmanagerReload: gauge(
    "alertmanager_config_last_reload_successful",
    "Same as lenswatch_config_last_reload_successful, under Alertmanager's name.",
  ),
  alertmanagerNotifications: counter(
    "alertmanager_notifications_total",
    "Attempts to send a notification, under Alertmanager's name.",
    ["integration"],
  ),
  alertmanagerNotificationsFailed: counter(
    "alertmanager_notifications_failed_total",
    "Failed attempts to send a notification, under Alertmanager's name and with its reasons.",
    ["integration", "reason"],
  ),
  alertmanagerReceived: counter("alertmanager_alerts_received_total", "External alerts received, firing or resolved.", [
    "status",
    "version",
  ]),
  alertmanagerInvalid: counter("alertmanager_alerts_invalid_total", "External alerts refused as invalid.", ["version"]),
} as const;

function gauge<const L extends string = never>(name: string, help: string, labels: readonly L[] = []) {
  return { type: "gauge", name, help, labels } as const satisfies MetricRow<L>;
}

function counter<const L extends string = never>(name: string, help: string, labels: readonly L[] = []) {
  return { type: "counter", name, help, labels } as const satisfies MetricRow<L>;
}

function histogram<const L extends string = never>(
  name: string,
  help: string,
  buckets: readonly number[],
  labels: readonly L[] = [],
) {
  return { type: "histogram", name, help, labels, buckets } as const satisfies MetricRow<L>;
}
