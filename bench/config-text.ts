/** The daemon's configuration in a benchmark; everything else has its default. */
import { stringify } from "yaml";
import type { ServiceAddress } from "./stage.ts";

export interface ConfigOptions {
  readonly service: ServiceAddress;
  readonly redisUrl: string;
  readonly statusInterval: string;
  /** Slack webhooks, 256 at most; each gets locations by the last two digits of their ids. */
  readonly webhooks: readonly string[];
  /** Without `group_wait` or a pause between messages of a group. */
  readonly atOnce?: boolean;
  readonly rules?: readonly object[];
  /** Uptime is read at the start and once a day; counts are not. */
  readonly onlySweeps?: boolean;
}

/** Notifies of an offline recording at the first sweep that reads it. */
export const offlineAtOnce = {
  alert: "RecordingOffline",
  when: { status: "offline" },
  for: "0s",
  respect_schedule: false,
};

/** YAML of a complete configuration. */
export function configText(options: ConfigOptions): string {
  const { service, redisUrl, statusInterval, webhooks, atOnce, rules, onlySweeps } = options;
  const { control_url: _, ...address } = service;
  const timers = atOnce ? { group_wait: "0s", group_interval: "1s" } : {};
  return stringify({
    service: address,
    redis: { url: redisUrl },
    watch: { status_interval: statusInterval, ...(onlySweeps && { uptime_interval: "1d" }) },
    ...(onlySweeps && { counts: { read: false } }),
    ...(rules ? { rules } : {}),
    route: {
      receiver: "slack-0",
      group_by: ["location_id"],
      ...timers,
      routes: webhooks
        .slice(1)
        .map((_, i) => ({
          receiver: `slack-${i + 1}`,
          matchers: [`location_id =~ ".*(${endingsOf(i + 1, webhooks.length)})"`],
        })),
    },
    receivers: webhooks.map((url, i) => ({ name: `slack-${i}`, slack_configs: [{ api_url: url }] })),
    http: { listen: "127.0.0.1:0" },
  });
}

function endingsOf(webhook: number, webhooks: number): string {
  const endings = Array.from({ length: 256 }, (_, i) => i).filter((i) => i % webhooks === webhook);
  return endings.map((ending) => ending.toString(16).padStart(2, "0")).join("|");
}

/** Which webhook a location's messages go to. */
export function webhookOf(locationId: string, webhooks: number): number {
  return Number.parseInt(locationId.slice(-2), 16) % webhooks;
}
