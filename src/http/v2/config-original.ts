/**
 * The configuration in force as Alertmanager's own, which its strict loader accepts: `amtool config routes test` works
 * on it, and gives what lenswatch would do. Secrets are `<secret>`, which Alertmanager takes in their place.
 */
import { stringify } from "yaml";
import { formatMatcher } from "../../alerting/matcher.ts";
import type { Matcher, Route } from "../../alerting/route.ts";
import type { NamedInterval, Range, TimeInterval } from "../../alerting/time-interval.ts";
import { formatDuration } from "../../lib/duration.ts";
import type { ShownConfig, ShownReceiver } from "../deps.ts";

const SECRET = "<secret>";
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** YAML. What Alertmanager has no words for (storms, digests, rules, other Alertmanagers) is left out. */
export function alertmanagerConfig({ route, receivers, inhibitRules, smtp }: ShownConfig): string {
  const intervals = [...intervalsOf(route).values()];
  return stringify(
    {
      global: { resolve_timeout: "5m", ...(smtp && smtpYaml(smtp)) },
      route: routeYaml(route, true),
      ...(inhibitRules.length === 0 ? {} : { inhibit_rules: inhibitRules.map(inhibitYaml) }),
      receivers: receivers.map(receiverYaml),
      ...(intervals.length === 0 ? {} : { time_intervals: intervals.map(intervalYaml) }),
    },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );
}

function smtpYaml({ host, port, from, username, password, requireTls }: NonNullable<ShownConfig["smtp"]>) {
  return {
    smtp_smarthost: `${host.includes(":") ? `[${host}]` : host}:${port}`,
    smtp_from: from,
    ...(username === undefined ? {} : { smtp_auth_username: username }),
    ...(password === undefined ? {} : { smtp_auth_password: SECRET }),
    smtp_require_tls: requireTls,
  };
}

/** The root may have neither matchers nor `continue`. */
function routeYaml(route: Route, isRoot: boolean): Record<string, unknown> {
  const { muteTimes = [], activeTimes = [] } = route;
  const names = (intervals: readonly NamedInterval[]) => intervals.map(({ name }) => name);
  return {
    receiver: route.receiver,
    ...(isRoot ? {} : { matchers: written(route.matchers), continue: route.continue }),
    group_by: route.groupBy === "..." ? ["..."] : [...route.groupBy],
    group_wait: formatDuration(route.groupWaitMs),
    group_interval: formatDuration(route.groupIntervalMs),
    repeat_interval: formatDuration(route.repeatIntervalMs),
    ...(muteTimes.length === 0 ? {} : { mute_time_intervals: names(muteTimes) }),
    ...(activeTimes.length === 0 ? {} : { active_time_intervals: names(activeTimes) }),
    ...(route.routes.length === 0 ? {} : { routes: route.routes.map((child) => routeYaml(child, false)) }),
  };
}

function inhibitYaml({ sourceMatchers, targetMatchers, equal }: ShownConfig["inhibitRules"][number]) {
  return {
    source_matchers: written(sourceMatchers),
    target_matchers: written(targetMatchers),
    equal: [...equal],
  };
}

function written(matchers: readonly Matcher[]): string[] {
  return matchers.map(formatMatcher);
}

function receiverYaml({ name, slack, email, webhook }: ShownReceiver): Record<string, unknown> {
  const slackConfigs = slack.map(({ sendResolved }) => ({ api_url: SECRET, send_resolved: sendResolved }));
  const emailConfigs = email.map(({ to, sendResolved }) => ({
    to: to.join(", "),
    send_resolved: sendResolved,
  }));
  // Of older versions' loaders, none takes `<secret>` here: where it leads says enough.
  const webhookConfigs = webhook.map(({ url, maxAlerts, sendResolved }) => ({
    url: `${new URL(url).origin}/`,
    max_alerts: maxAlerts,
    send_resolved: sendResolved,
  }));
  return {
    name,
    ...(slackConfigs.length === 0 ? {} : { slack_configs: slackConfigs }),
    ...(emailConfigs.length === 0 ? {} : { email_configs: emailConfigs }),
    ...(webhookConfigs.length === 0 ? {} : { webhook_configs: webhookConfigs }),
  };
}

function intervalsOf(route: Route): Map<string, NamedInterval> {
  const own = [...(route.muteTimes ?? []), ...(route.activeTimes ?? [])];
  return new Map([
    ...own.map((interval) => [interval.name, interval] as const),
    ...route.routes.flatMap((child) => [...intervalsOf(child)]),
  ]);
}

function intervalYaml({ name, intervals }: NamedInterval) {
  return { name, time_intervals: intervals.map(timesYaml) };
}

function timesYaml({ times, weekdays, daysOfMonth, months, years, location }: TimeInterval) {
  return {
    ...(times && { times: times.map(({ from, to }) => ({ start_time: clock(from), end_time: clock(to) })) }),
    ...(weekdays && { weekdays: weekdays.map((range) => span(range, (day) => WEEKDAYS[day] ?? "")) }),
    ...(daysOfMonth && { days_of_month: daysOfMonth.map((range) => span(range, String)) }),
    ...(months && { months: months.map((range) => span(range, String)) }),
    ...(years && { years: years.map((range) => span(range, String)) }),
    location,
  };
}

function span({ from, to }: Range, write: (value: number) => string): string {
  return from === to ? write(from) : `${write(from)}:${write(to)}`;
}

/** Minutes of the day as `08:30`. */
function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}
