/** The configuration of the replicas in a chaos run: quick timers, and a receiver of its own for each share of places. */
import { stringify } from "yaml";
import type { Simulator } from "../../src/simulator/simulator.ts";
import type { SmtpSink } from "../../test/support/smtp-sink.ts";
import type { Timing } from "./audit.ts";
import { FEWEST_RECORDINGS, SHARE } from "./audit-groups.ts";
import type { Incidents } from "./incidents.ts";
import { FLAPPING } from "./plan-flapping.ts";
import type { SlackApp } from "./slack-app.ts";

export const RULE: Timing = { intervalMs: 1_000, forMs: 2_000, keepFiringForMs: 2_000, lateMs: 30_000 };
export const ADMIN_TOKEN = "chaos-admin-token";
/** How many receivers have the Slack app beside their webhook. */
export const APPS = 2;
/** Of their routes. */
export const ESCALATE_MS = 6_000;
const LOCATIONS_PER_REQUEST = 50;

/** The receiver of a location, by the last two digits of its id. */
export function receiverOf(locationId: string, webhooks: number): number {
  return Number.parseInt(locationId.slice(-2), 16) % webhooks;
}

function endingsOf(receiver: number, webhooks: number): string {
  const endings = Array.from({ length: 256 }, (_, i) => i).filter((i) => i % webhooks === receiver);
  return endings.map((ending) => ending.toString(16).padStart(2, "0")).join("|");
}

/** YAML. Each webhook is a receiver with a mail address beside it. */
export function configText({
  simulator,
  redis,
  mail,
  webhooks,
  opsWebhook,
  app,
  incidents,
  logLevel,
}: {
  readonly simulator: Simulator;
  /** The section `redis`. */
  readonly redis: object;
  readonly mail: SmtpSink;
  readonly webhooks: readonly string[];
  /** Receives alerts about no recording. */
  readonly opsWebhook: string;
  /** The Slack app of the first receivers. */
  readonly app: SlackApp;
  /** PagerDuty, and where the same receivers escalate to. */
  readonly incidents: Incidents;
  readonly logLevel: string;
}): string {
  const seconds = (ms: number) => `${ms / 1_000}s`;
  return stringify({
    service: {
      base_url: simulator.baseUrl,
      ws_url: simulator.wsUrl,
      auth_url: simulator.authUrl,
      client_id: simulator.clientId,
      client_secret: simulator.clientSecret,
      audience: simulator.audience,
      request_timeout: "3s",
    },
    redis,
    watch: {
      status_interval: seconds(RULE.intervalMs),
      uptime_interval: "1m",
      inventory_interval: "1h",
      locations_per_request: LOCATIONS_PER_REQUEST,
    },
    rules: [
      {
        alert: "RecordingOffline",
        when: { status: "offline" },
        for: seconds(RULE.forMs),
        keep_firing_for: seconds(RULE.keepFiringForMs),
        labels: { severity: "critical" },
      },
      { alert: "RecordingFlapping", when: { flapping: FLAPPING } },
      {
        alert: "ServersOffline",
        when: {
          group_offline: {
            by: "camera_server",
            at_least: `${100 * SHARE.atLeast}%`,
            clear_below: `${100 * SHARE.clearBelow}%`,
            min_recordings: FEWEST_RECORDINGS,
          },
        },
        for: seconds(RULE.forMs),
        keep_firing_for: seconds(RULE.keepFiringForMs),
      },
      { alert: "ServiceUnreachable", when: { service: "unreachable" }, for: "3s" },
      { alert: "NotificationsFailing", when: { notifications: "failing" }, for: "5s" },
    ],
    route: {
      receiver: "ops",
      group_by: ["location_id"],
      group_wait: "1s",
      group_interval: "1s",
      repeat_interval: "20s",
      routes: [
        {
          receiver: "servers",
          matchers: ['alertname = "ServersOffline"'],
          group_by: ["camera_server"],
          repeat_interval: "4h",
        },
        ...webhooks.map((_, i) => ({
          receiver: `team-${i}`,
          matchers: [`location_id =~ ".*(${endingsOf(i, webhooks.length)})"`],
          ...(i < APPS && { escalate: [{ after: seconds(ESCALATE_MS), receiver: `phone-${i}` }] }),
        })),
      ],
    },
    receivers: [
      { name: "ops", slack_configs: [{ api_url: opsWebhook }] },
      { name: "servers", webhook_configs: [incidents.servers()] },
      ...webhooks.map((url, i) => ({
        name: `team-${i}`,
        slack_configs: [{ api_url: url }, ...(i < APPS ? [app.config(i)] : [])],
        email_configs: [{ to: [`team-${i}@example.com`] }],
        ...(i < APPS && { pagerduty_configs: [incidents.pagerduty(i)] }),
      })),
      ...webhooks.slice(0, APPS).map((_, i) => ({ name: `phone-${i}`, webhook_configs: [incidents.phone(i)] })),
    ],
    slack_api_url: app.slack.apiUrl,
    smtp: { host: mail.host, port: mail.port, from: "lenswatch@example.com", require_tls: false },
    http: { listen: "127.0.0.1:0", admin_token: ADMIN_TOKEN },
    log: { level: logLevel },
  });
}
