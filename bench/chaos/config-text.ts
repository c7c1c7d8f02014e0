/** The configuration of the replicas in a chaos run: quick timers, and a receiver of its own for each share of places. */
import { stringify } from "yaml";
import type { Simulator } from "../../src/simulator/simulator.ts";
import type { Timing } from "./audit.ts";
import type { Receivers } from "./receivers.ts";
import type { SlackApp } from "./slack-app.ts";

export const RULE: Timing = {
  intervalMs: 1_000,
  forMs: 2_000,
  keepFiringForMs: 2_000,
  repeatMs: 20_000,
  escalateMs: 6_000,
  lateMs: 30_000,
};
export const ADMIN_TOKEN = "chaos-admin-token";
/** How many receivers have the Slack app and PagerDuty beside their webhook, and are escalated. */
export const APPS = 2;
const LOCATIONS_PER_REQUEST = 50;

/** The receiver of a location, by the last two digits of its id. */
export function receiverOf(locationId: string, webhooks: number): number {
  return Number.parseInt(locationId.slice(-2), 16) % webhooks;
}

function endingsOf(receiver: number, webhooks: number): string {
  const endings = Array.from({ length: 256 }, (_, i) => i).filter((i) => i % webhooks === receiver);
  return endings.map((ending) => ending.toString(16).padStart(2, "0")).join("|");
}

/** YAML. */
export function configText({
  simulator,
  redis,
  webhooks,
  app,
  receivers,
  logLevel,
}: {
  readonly simulator: Simulator;
  readonly redis: string;
  readonly webhooks: number;
  readonly app: SlackApp;
  readonly receivers: Receivers;
  readonly logLevel: string;
}): string {
  const seconds = (ms: number) => `${ms / 1_000}s`;
  const teams = Array.from({ length: webhooks }, (_, i) => i);
  const webhook = (integration: string) => ({ webhook_configs: [{ url: receivers.url(integration) }] });
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
    redis: { url: redis },
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
      { alert: "ServiceUnreachable", when: { service: "unreachable" }, for: "3s" },
      { alert: "NotificationsFailing", when: { notifications: "failing" }, for: "5s" },
    ],
    route: {
      receiver: "ops",
      group_by: ["location_id"],
      group_wait: "1s",
      group_interval: "1s",
      repeat_interval: seconds(RULE.repeatMs),
      routes: teams.map((i) => ({
        receiver: `team-${i}`,
        matchers: [`location_id =~ ".*(${endingsOf(i, webhooks)})"`],
        ...(i < APPS && { escalate: [{ after: seconds(RULE.escalateMs), receiver: `phone-${i}` }] }),
      })),
    },
    receivers: [
      { name: "ops", ...webhook("webhook/ops") },
      ...teams.map((i) => ({
        name: `team-${i}`,
        ...webhook(`webhook/${i}`),
        ...(i < APPS && {
          slack_configs: [app.config(i)],
          pagerduty_configs: [{ routing_key: "r".repeat(32), url: receivers.url(`pagerduty/${i}`) }],
        }),
      })),
      ...teams.slice(0, APPS).map((i) => ({ name: `phone-${i}`, ...webhook(`phone/${i}`) })),
    ],
    slack_api_url: app.slack.apiUrl,
    http: { listen: "127.0.0.1:0", admin_token: ADMIN_TOKEN },
    log: { level: logLevel },
  });
}
