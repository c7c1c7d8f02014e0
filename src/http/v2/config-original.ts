/** The active configuration as Alertmanager's YAML for its strict loader, with secrets as `<secret>`. */

import { stringify } from "yaml";
import type { InhibitRule } from "../../alerting/inhibit.ts";
import type { Maintenance } from "../../alerting/maintenance.ts";
import { formatMatcher } from "../../alerting/matcher.ts";
import type { Route } from "../../alerting/route.ts";
import type { NamedInterval, Range, TimeInterval } from "../../alerting/time-interval.ts";
import type { VisitWorth } from "../../alerting/uncounted.ts";
import type { Config, ReceiverConfig } from "../../config/config.ts";
import type { Rule } from "../../health/model.ts";
import { formatDuration } from "../../lib/duration.ts";

const SECRET = "<secret>";
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/** The part of a receiver that Alertmanager has an equivalent of. Of a webhook's URL, only the origin is shown. */
interface ShownReceiver extends Pick<ReceiverConfig, "name"> {
  readonly slack: readonly Pick<ReceiverConfig["slack"][number], "sendResolved">[];
  readonly email: readonly Pick<ReceiverConfig["email"][number], "to" | "sendResolved">[];
  readonly webhook: readonly Pick<ReceiverConfig["webhook"][number], "url" | "maxAlerts" | "sendResolved">[];
}

type ShownSmtp = Omit<NonNullable<Config["smtp"]>, "tls">;

/** The part of the active configuration that Alertmanager has an equivalent of, and the rules. */
export interface ShownConfig {
  readonly display?: Config["display"];
  readonly route: Route;
  readonly receivers: readonly ShownReceiver[];
  readonly inhibitRules: readonly InhibitRule[];
  readonly smtp: ShownSmtp | undefined;
  /** For the status page, not for Alertmanager's clients. */
  readonly rules?: readonly Rule[];
  readonly maintenance?: readonly Maintenance[];
  readonly counts?: VisitWorth;
}

/** YAML. Storms, digests, rules, escalations, PagerDuty, Teams and other Alertmanagers are left out, as is what is undefined. */
export function alertmanagerConfig({ route, receivers, inhibitRules, smtp }: ShownConfig): string {
  const config = {
    global: { resolve_timeout: "5m", ...(smtp && smtpYaml(smtp)) },
    route: routeYaml(route, true),
    inhibit_rules: unlessEmpty(inhibitRules.map(inhibitYaml)),
    receivers: receivers.map(receiverYaml),
    time_intervals: unlessEmpty([...intervalsOf(route).values()].map(intervalYaml)),
  };
  return stringify(config, { lineWidth: 0, aliasDuplicateObjects: false });
}

function unlessEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function smtpYaml({ host, port, from, username, password, requireTls }: ShownSmtp) {
  return {
    smtp_smarthost: `${host.includes(":") ? `[${host}]` : host}:${port}`,
    smtp_from: from,
    smtp_auth_username: username,
    smtp_auth_password: password === undefined ? undefined : SECRET,
    smtp_require_tls: requireTls,
  };
}

/** The root may have neither matchers nor `continue`. */
function routeYaml(route: Route, isRoot: boolean): object {
  const { muteTimes = [], activeTimes = [] } = route;
  const names = (intervals: readonly NamedInterval[]) => unlessEmpty(intervals.map(({ name }) => name));
  return {
    receiver: route.receiver,
    ...(isRoot ? {} : { matchers: route.matchers.map(formatMatcher), continue: route.continue }),
    group_by: route.groupBy === "..." ? ["..."] : [...route.groupBy],
    group_wait: formatDuration(route.groupWaitMs),
    group_interval: formatDuration(route.groupIntervalMs),
    repeat_interval: formatDuration(route.repeatIntervalMs),
    mute_time_intervals: names(muteTimes),
    active_time_intervals: names(activeTimes),
    routes: unlessEmpty(route.routes.map((child) => routeYaml(child, false))),
  };
}

function inhibitYaml({ sourceMatchers, targetMatchers, equal }: InhibitRule) {
  return {
    source_matchers: sourceMatchers.map(formatMatcher),
    target_matchers: targetMatchers.map(formatMatcher),
    equal: [...equal],
  };
}

function receiverYaml({ name, slack, email, webhook }: ShownReceiver) {
  return {
    name,
    slack_configs: unlessEmpty(slack.map(({ sendResolved }) => ({ api_url: SECRET, send_resolved: sendResolved }))),
    email_configs: unlessEmpty(
      email.map(({ to, sendResolved }) => ({ to: to.join(", "), send_resolved: sendResolved })),
    ),
    // Older loaders refuse `<secret>` here: the origin is enough.
    webhook_configs: unlessEmpty(
      webhook.map(({ url, maxAlerts, sendResolved }) => ({
        url: `${new URL(url).origin}/`,
        max_alerts: maxAlerts,
        send_resolved: sendResolved,
      })),
    ),
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
  const ranges = (all: readonly Range[] | undefined, write: (value: number) => string = String) =>
    all?.map(({ from, to }) => (from === to ? write(from) : `${write(from)}:${write(to)}`));
  return {
    times: times?.map(({ from, to }) => ({ start_time: clock(from), end_time: clock(to) })),
    weekdays: ranges(weekdays, (day) => WEEKDAYS[day] ?? ""),
    days_of_month: ranges(daysOfMonth),
    months: ranges(months),
    years: ranges(years),
    location,
  };
}

/** Minutes of the day as `08:30`. */
function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}
