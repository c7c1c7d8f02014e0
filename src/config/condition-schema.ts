/** `when` of a rule: one key for each condition. */
import type { z } from "zod";
import type { Condition } from "../health/rule.ts";
import { type ConfigSection, optional, type Parsed, refuse, required, section, withDefault } from "./key.ts";
import { duration, enumerate, integer, oneOf, ratio } from "./scalars.ts";

const averageQuality = section(
  {
    below: required("The alert fires while the quality is below this.", ratio),
    clear_above: optional("It resolves once the quality is above this; by default, `below`.", ratio),
  },
  notBelow,
);

const overallUptime = section(
  {
    below: required("The alert fires while the uptime ratio is below this.", ratio),
    clear_above: optional("It resolves once the uptime ratio is above this; by default, `below`.", ratio),
    over: withDefault("The time window of the uptime ratio, ending now.", duration("1h", "31d"), "24h"),
  },
  notBelow,
);

function notBelow(value: { below: number; clear_above: number | undefined }, context: z.RefinementCtx): void {
  if (value.clear_above === undefined || value.clear_above >= value.below) return;
  refuse(context, "clear_above", "a ratio not below `below`");
}

const locationOffline = section(
  {
    at_least: withDefault("The ratio of a location's recordings that must be offline.", ratio, "100%"),
    clear_below: optional("It resolves once the ratio is below this; by default, `at_least`.", ratio),
    min_recordings: withDefault(
      "With fewer recordings with a fresh status than this, the alert keeps its state.",
      integer(1, 10_000),
      "2",
    ),
  },
  ({ at_least, clear_below }, context) => {
    if (clear_below === undefined || clear_below <= at_least) return;
    refuse(context, "clear_below", "a ratio not above `at_least`");
  },
);

const flapping = section(
  {
    high: withDefault("The alert fires once this ratio of the last 21 states changed.", ratio, "30%"),
    low: withDefault("It resolves once no more than this ratio changed; less than `high`.", ratio, "20%"),
  },
  ({ high, low }, context) => {
    if (low >= high) refuse(context, "low", "a ratio below `high`");
  },
);

const keys = {
  status: optional("The status of a recording.", oneOf("offline", "degraded")),
  average_quality: optional("The average quality of a recording while it is online or degraded.", averageQuality),
  overall_uptime: optional("The uptime ratio of a recording within its schedule.", overallUptime),
  missing: optional("A known recording that complete snapshots do not contain.", oneOf("true")),
  flapping: optional(
    "A recording whose status changes often, as Nagios counts it: newer changes weigh more.",
    flapping,
  ),
  location_offline: optional("The ratio of a location's recordings that are offline.", locationOffline),
  service: optional(
    "Whether the service is unreachable: no shard had a good sweep, or some had none.",
    oneOf("unreachable", "partly_unreachable"),
  ),
  notifications: optional("Notifications that an integration fails to send.", oneOf("failing")),
};

type ConditionInput = Parsed<typeof keys>;

/** The one condition of a `when` that passed the schema. */
export function buildCondition(when: ConditionInput): Condition {
  const { status, service, average_quality, overall_uptime, flapping, location_offline } = when;
  if (status) return { kind: "status", status };
  if (service) return { kind: "service", state: service };
  if (average_quality) {
    const { below, clear_above = below } = average_quality;
    return { kind: "average_quality", below, clearAbove: clear_above };
  }
  if (overall_uptime) {
    const { below, clear_above = below, over } = overall_uptime;
    return { kind: "overall_uptime", below, clearAbove: clear_above, overMs: over };
  }
  if (flapping) return { kind: "flapping", ...flapping };
  if (location_offline) {
    const { at_least, clear_below = at_least, min_recordings } = location_offline;
    return { kind: "location_offline", atLeast: at_least, clearBelow: clear_below, minRecordings: min_recordings };
  }
  return when.missing ? { kind: "missing" } : { kind: "notifications", state: "failing" };
}

/** `when`: exactly one condition. */
export const conditionSection: ConfigSection<ConditionInput> = section(keys, (value, context) => {
  const given = Object.entries(value).flatMap(([name, condition]) => (condition === undefined ? [] : [name]));
  if (given.length === 1) return;
  const message = `one condition: ${enumerate(Object.keys(keys))}`;
  const found = given.length === 0 ? "no condition" : given.join(" and ");
  context.addIssue({ code: "custom", message, params: { found } });
});
