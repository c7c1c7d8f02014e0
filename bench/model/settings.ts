/** Configurations of a model run as plain data, and the edits people make of them. */
import type { Config } from "../../src/config/config.ts";
import { parseConfig } from "../../src/config/load.ts";
import type { Random } from "../chaos/random.ts";

/** The threshold of uptime. */
export const LOW_UPTIME = "0.8";

export interface RuleSetting {
  alert: string;
  when: Record<string, unknown>;
  for: string;
  keep_firing_for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

interface Entry {
  api_url?: string;
  url?: string;
  to?: string[];
}

export interface ReceiverSetting {
  name: string;
  slack_configs?: Entry[];
  webhook_configs?: Entry[];
  email_configs?: Entry[];
}

export interface RouteSetting {
  receiver?: string;
  matchers?: string[];
  continue?: boolean;
  group_by?: string[];
  group_wait?: string;
  group_interval?: string;
  repeat_interval?: string;
  mute_time_intervals?: string[];
  routes?: RouteSetting[];
}

export interface Settings {
  watch: Record<string, unknown>;
  rules: RuleSetting[];
  route: RouteSetting;
  receivers: ReceiverSetting[];
  /** Whether labels of a rule were edited: those of alerts that fire stay as they were. */
  relabelled: boolean;
  /** What no decision depends on. */
  external_url: string;
}

/** What a run is made of: `quick` in minutes, `daily` with schedules and figures of uptime. */
export interface Scale {
  readonly daily: boolean;
  /** `watch.status_interval`, ms. */
  readonly intervalMs: number;
}

export function makeSettings(random: Random, scale: Scale): Settings {
  return {
    watch: {
      status_interval: span(scale, 1),
      uptime_interval: scale.daily ? "1h" : "20m",
      inventory_interval: "1h",
      forget_after: span(scale, scale.daily ? 36 : 30),
      locations_per_request: random.between(1, 4),
    },
    rules: makeRules(random, scale),
    route: makeRoute(random, scale),
    receivers: [
      { name: "ops", slack_configs: [slack(1), slack(2)], email_configs: [{ to: [mail(1), mail(2)] }] },
      { name: "team", slack_configs: [slack(3)], webhook_configs: [{ url: "http://hook.test/1" }] },
    ],
    relabelled: false,
    external_url: "http://lenswatch.test",
  };
}

export const slack = (n: number): Entry => ({ api_url: `http://slack.test/${n}` });
export const mail = (n: number): string => `person-${n}@example.test`;

/** So many status intervals. */
export function span({ intervalMs }: Scale, intervals: number): string {
  return `${Math.round((intervals * intervalMs) / 1_000)}s`;
}

function makeRules(random: Random, scale: Scale): RuleSetting[] {
  const ms = (intervals: number) => span(scale, intervals);
  const [warning, critical] = [{ severity: "warning" }, { severity: "critical" }];
  return [
    { alert: "RecordingOffline", when: { status: "offline" }, for: ms(2), keep_firing_for: ms(1), labels: warning },
    { alert: "RecordingOffline", when: { status: "offline" }, for: ms(9), labels: critical },
    { alert: "RecordingDegraded", when: { status: "degraded" }, for: ms(3) },
    { alert: "LowQuality", when: { average_quality: { below: "0.7" } }, for: ms(3), labels: warning },
    { alert: "LowQuality", when: { average_quality: { below: "0.3" } }, for: ms(3), labels: critical },
    { alert: "RecordingMissing", when: { missing: "true" }, for: ms(4) },
    { alert: "RecordingFlapping", when: { flapping: { high: "30%", low: "20%" } }, for: "0s" },
    {
      alert: "LocationOffline",
      when: { location_offline: { at_least: random.pick(["100%", "50%"]), min_recordings: random.pick([1, 2, 3]) } },
      for: ms(1),
      keep_firing_for: ms(2),
      labels: critical,
    },
    {
      alert: "CameraServerOffline",
      when: { group_offline: { by: "camera_server", at_least: random.pick(["100%", "50%"]), min_recordings: 2 } },
      for: ms(1),
      keep_firing_for: ms(2),
      labels: critical,
    },
    { alert: "ServiceUnreachable", when: { service: "unreachable" }, for: ms(3), labels: critical },
    { alert: "ServicePartlyUnreachable", when: { service: "partly_unreachable" }, for: ms(5), labels: warning },
    { alert: "LowUptime", when: { overall_uptime: { below: LOW_UPTIME, over: "24h" } }, for: "0s", labels: warning },
    { alert: "NotificationsFailing", when: { notifications: "failing" }, for: ms(3), labels: critical },
  ];
}

function makeRoute(random: Random, scale: Scale): RouteSetting {
  return {
    receiver: "ops",
    group_by: random.pick<string[]>([["location_id"], ["alertname"], ["..."]]),
    group_wait: random.pick(["0s", "30s", span(scale, 1)]),
    group_interval: span(scale, random.pick([1, 3])),
    repeat_interval: span(scale, random.pick([12, 30, 60])),
    routes: [
      { receiver: "team", matchers: ['severity="critical"'], continue: random.chance(0.5) },
      { receiver: "team", matchers: ['alertname=~"Low.*"'], mute_time_intervals: random.chance(0.5) ? ["night"] : [] },
    ],
  };
}

/** The configuration as `load` would read it from a file. */
export function configOf({ watch, rules, route, receivers, external_url }: Settings): Config {
  const origin = "http://service.test";
  const file = {
    service: {
      base_url: origin,
      ws_url: "ws://service.test",
      auth_url: origin,
      client_id: "model",
      client_secret: "model",
      audience: "model",
      request_timeout: "5m",
    },
    watch,
    rules,
    route,
    receivers,
    smtp: { host: "mail.test", from: "lenswatch@example.test" },
    time_intervals: [
      { name: "night", time_intervals: [{ times: [{ start_time: "00:00", end_time: "06:00" }] }] },
      {
        name: "noon",
        time_intervals: [{ times: [{ start_time: "11:30", end_time: "13:30" }], location: "Asia/Kolkata" }],
      },
    ],
    http: { external_url },
  };
  const parsed = parseConfig(JSON.stringify(file), { file: "model.yaml", env: {}, readSecret: () => "" });
  if ("config" in parsed) return parsed.config;
  throw new Error(
    `the model made an invalid configuration: ${JSON.stringify(parsed.problems)}\n${JSON.stringify(file)}`,
  );
}
