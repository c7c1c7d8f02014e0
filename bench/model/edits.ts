/** Edits of a configuration, as people make them between two reloads. */
import type { Random } from "../chaos/random.ts";
import {
  LOW_UPTIME,
  mail,
  type ReceiverSetting,
  type RouteSetting,
  type RuleSetting,
  type Scale,
  type Settings,
  slack,
  span,
} from "./settings.ts";

interface Tools {
  readonly random: Random;
  readonly scale: Scale;
}

type Edit = (settings: Settings, tools: Tools) => void;

/** Each changes the settings in place, or nothing where it does not apply. */
export const edits = {
  removeRule: ({ rules }, { random }) => void (rules.length > 4 && rules.splice(random.whole(rules.length), 1)),
  addRule: ({ rules }, { random, scale }) => {
    const severity = random.pick(["info", "page"]);
    const when = random.pick<RuleSetting["when"]>([{ status: "offline" }, { average_quality: { below: "0.6" } }]);
    const alert = "status" in when ? "RecordingOffline" : "LowQuality";
    rules.splice(random.whole(rules.length + 1), 0, { alert, when, for: span(scale, 4), labels: { severity } });
  },
  swapRules: ({ rules }, { random }) => {
    const name = random.pick(["RecordingOffline", "LowQuality"]);
    const [a, b] = rules.flatMap((rule, i) => (rule.alert === name ? [i] : []));
    if (a === undefined || b === undefined) return;
    [rules[a], rules[b]] = [rules[b] as RuleSetting, rules[a] as RuleSetting];
  },
  shuffleRules: (settings, { random }) => {
    settings.rules = shuffled(settings.rules, random);
  },
  renameRule: ({ rules }, { random }) => {
    const rule = rules[random.whole(rules.length)];
    if (rule) rule.alert = rule.alert.endsWith("X") ? rule.alert.slice(0, -1) : `${rule.alert}X`;
  },
  changeThreshold: ({ rules }, { random }) => {
    for (const { when } of rules) {
      if ("average_quality" in when && random.chance(0.5))
        when.average_quality = { below: random.pick(["0.3", "0.7", "0.6", "0.2"]) };
      for (const name of ["location_offline", "group_offline"])
        if (name in when && random.chance(0.5)) {
          const share = { at_least: random.pick(["100%", "50%"]), min_recordings: random.pick([1, 2, 3]) };
          when[name] = { ...(when[name] as object), ...share };
        }
    }
  },
  /** The same rule in other words: no alert of it may end, begin or be sent again. */
  respellLocations: ({ rules }) => {
    for (const rule of rules) {
      const { location_offline: location, group_offline: group } = rule.when as Record<string, { by?: string }>;
      const { by, ...share } = group ?? {};
      if (location) rule.when = { group_offline: { by: "location_id", ...location } };
      else if (by === "location_id") rule.when = { location_offline: share };
    }
  },
  changeFor: ({ rules }, { random, scale }) => {
    const rule = rules[random.whole(rules.length)];
    if (rule) rule.for = span(scale, random.pick([0, 2, 5, 8]));
  },
  changeLabel: (settings, { random }) => {
    settings.relabelled = true;
    const rule = settings.rules[random.whole(settings.rules.length)];
    if (rule) rule.labels = { ...rule.labels, severity: random.pick(["warning", "critical", "info"]) };
  },
  changeWindow: ({ rules }, { random }) => {
    for (const { when } of rules)
      if ("overall_uptime" in when)
        when.overall_uptime = { below: LOW_UPTIME, over: random.pick(["24h", "72h", "168h"]) };
  },
  unrelated: (settings, { random }) => {
    settings.external_url = `http://lenswatch-${random.whole(1_000)}.test`;
  },
  annotate: ({ rules }, { random }) => {
    const rule = rules[random.whole(rules.length)];
    if (rule) rule.annotations = { runbook_url: `http://wiki.test/${random.whole(1_000)}` };
  },
  removeEntry: ({ receivers }, { random }) => {
    const { slack_configs = [], email_configs = [] } = random.pick(atLeastOne(receivers));
    const [addresses] = email_configs;
    if (random.chance(0.6) && slack_configs.length > 1) slack_configs.splice(random.whole(slack_configs.length), 1);
    else if (addresses?.to && addresses.to.length > 1) addresses.to.splice(random.whole(addresses.to.length), 1);
  },
  addEntry: ({ receivers }, { random }) => {
    const receiver = random.pick(atLeastOne(receivers));
    const used = JSON.stringify(receivers);
    const free = [1, 2, 3, 4, 5, 6].filter((n) => !used.includes(`slack.test/${n}"`));
    const [n] = free;
    if (n !== undefined)
      receiver.slack_configs = (receiver.slack_configs ?? []).toSpliced(random.whole(3), 0, slack(n));
  },
  addAddress: ({ receivers }, { random }) => {
    const receiver = random.pick(atLeastOne(receivers));
    const used = JSON.stringify(receivers);
    const [n] = [1, 2, 3, 4, 5].filter((one) => !used.includes(mail(one)));
    if (n === undefined) return;
    receiver.email_configs = [{ to: [mail(n), ...(receiver.email_configs?.[0]?.to ?? [])] }];
  },
  reorderEntries: ({ receivers }, { random }) => {
    for (const receiver of receivers)
      if (receiver.slack_configs) receiver.slack_configs = shuffled(receiver.slack_configs, random);
  },
  reorderReceivers: (settings, { random }) => {
    settings.receivers = shuffled(settings.receivers, random);
  },
  renameReceiver: ({ receivers, route }, { random }) => {
    const receiver = random.pick(atLeastOne(receivers));
    const [from, to] = [receiver.name, `${receiver.name.replace(/-\d+$/, "")}-${random.whole(100)}`];
    if (receivers.some(({ name }) => name === to)) return;
    receiver.name = to;
    for (const one of allRoutes(route)) if (one.receiver === from) one.receiver = to;
  },
  reorderRoutes: ({ route }, { random }) => {
    route.routes = shuffled(route.routes ?? [], random);
  },
  removeRoute: ({ route }, { random }) => void route.routes?.splice(random.whole(route.routes.length), 1),
  addRoute: ({ route, receivers }, { random }) => {
    const receiver = random.pick(atLeastOne(receivers)).name;
    const matchers = [random.pick(['severity="warning"', 'location_id="site-0"', 'alertname="LocationOffline"'])];
    const mutes = random.chance(0.3) ? [random.pick(["night", "noon"])] : [];
    const added = { receiver, matchers, continue: true, mute_time_intervals: mutes };
    route.routes = [added, ...(route.routes ?? [])];
  },
  changeGrouping: ({ route }, { random }) => {
    route.group_by = random.pick<string[]>([["location_id"], ["alertname"], ["..."], ["severity", "location_id"]]);
  },
  changeTimers: ({ route }, { random, scale }) => {
    route.group_interval = span(scale, random.pick([1, 3, 6]));
    route.repeat_interval = span(scale, random.pick([12, 30, 60]));
  },
  changeRequests: ({ watch }, { random }) => {
    watch.locations_per_request = random.between(1, 4);
  },
  exclude: ({ watch }, { random }) => {
    watch.exclude = random.chance(0.5) ? ["site-1"] : [];
  },
} satisfies Record<string, Edit>;

export type EditName = keyof typeof edits;

function shuffled<T>(all: readonly T[], random: Random): T[] {
  return all
    .map((one) => [random.whole(1_000_000), one] as const)
    .sort(([a], [b]) => a - b)
    .map(([, one]) => one);
}

function allRoutes(route: RouteSetting): RouteSetting[] {
  return [route, ...(route.routes ?? []).flatMap(allRoutes)];
}

function atLeastOne(receivers: readonly ReceiverSetting[]): readonly [ReceiverSetting, ...ReceiverSetting[]] {
  const [first, ...rest] = receivers;
  if (!first) throw new Error("a configuration without receivers");
  return [first, ...rest];
}
