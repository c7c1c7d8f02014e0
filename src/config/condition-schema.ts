/** `when` of a rule: one key for each condition. */

import type { z } from "zod";
import { groupLabels } from "../health/alert.ts";
import type { Condition } from "../health/model.ts";
import { type Loaded, mapped, optional, refuse, required, section, withDefault } from "./key.ts";
import { duration, enumerate, integer, oneOf, ratio } from "./scalars.ts";

/** A figure that is too low; `ratioName` stands for it in the second sentence. */
function tooLow(figure: string, ratioName = figure) {
  return {
    below: required(`The alert fires while the ${figure} is below this.`, ratio),
    clear_above: optional(`It resolves once the ${ratioName} is above this; by default, \`below\`.`, ratio),
  };
}

const averageQuality = section(tooLow("quality"), notBelow);

const overallUptime = section(
  {
    ...tooLow("uptime ratio"),
    over: withDefault("The time window of the uptime ratio, ending now.", duration("1h", "31d"), "24h"),
  },
  notBelow,
);

const segmentsReceived = section(
  {
    ...tooLow("ratio of expected segments that arrived", "ratio"),
    over: withDefault(
      "The time window: the last full buckets, which end up to 75 minutes ago.",
      duration("1h", "1d"),
      "1h",
    ),
  },
  notBelow,
);

const lastSeen = section({
  older_than: required("The alert fires while `last_seen_utc` is at least this old.", duration("1m", "30d")),
});

function notBelow(value: { below: number; clear_above: number | undefined }, context: z.RefinementCtx): void {
  if (value.clear_above === undefined || value.clear_above >= value.below) return;
  refuse(context, "clear_above", "a ratio not below `below`");
}

const shareOffline = {
  at_least: withDefault("The ratio of its recordings that must be offline.", ratio, "100%"),
  clear_below: optional("It resolves once the ratio is below this; by default, `at_least`.", ratio),
  min_recordings: withDefault(
    "With fewer recordings with a fresh status than this, the alert keeps its state.",
    integer(1, 10_000),
    "2",
  ),
};

const locationOffline = section(shareOffline, notAbove);

const groupOffline = section(
  { by: required("The label that the recordings share.", oneOf("location_id", ...groupLabels)), ...shareOffline },
  notAbove,
);

function notAbove(
  { at_least, clear_below }: { at_least: number; clear_below: number | undefined },
  context: z.RefinementCtx,
): void {
  if (clear_below === undefined || clear_below <= at_least) return;
  refuse(context, "clear_below", "a ratio not above `at_least`");
}

const flapping = section(
  {
    high: withDefault("The alert fires once this ratio of the last 21 states changed.", ratio, "30%"),
    low: withDefault("It resolves once no more than this ratio changed; less than `high`.", ratio, "20%"),
  },
  ({ high, low }, context) => {
    if (low >= high) refuse(context, "low", "a ratio below `high`");
  },
);

const counts = section({ sensitivity: withDefault("How many visits must be missing.", integer(1, 10_000), "30") });

const keys = {
  status: optional("The status of a recording.", oneOf("offline", "degraded")),
  average_quality: optional("The average quality of a recording while it is online or degraded.", averageQuality),
  overall_uptime: optional("The uptime ratio of a recording within its schedule.", overallUptime),
  segments_received: optional(
    "Of the segments expected of a recording that was online all the time, the ratio that arrived.",
    segmentsReceived,
  ),
  last_seen: optional("When a recording that is online was last seen by the service.", lastSeen),
  missing: optional("A known recording that complete snapshots do not contain.", oneOf("true")),
  flapping: optional(
    "A recording whose status changes often, as Nagios counts it: newer changes weigh more.",
    flapping,
  ),
  group_offline: optional("The ratio of the recordings with the same label that are offline.", groupOffline),
  location_offline: optional("The same by `location_id`.", locationOffline),
  counts: optional("Counts of a location, or of a recording: hardly anything, where people are.", counts),
  counts_together: optional(
    "Counts that dropped at most locations of an organisation or time zone at once; replaces the alerts of each.",
    oneOf("true"),
  ),
  service: optional(
    "Whether the service is unreachable: hardly any recording was read lately, or some were not.",
    oneOf("unreachable", "partly_unreachable"),
  ),
  notifications: optional("Notifications that an integration fails to send.", oneOf("failing")),
  directory: optional("A directory of shops that cannot be read.", oneOf("stale")),
};

/** `when`: exactly one condition. Each key is the kind of a condition. */
export const conditionSection = mapped(
  section(keys, (value, context) => {
    const given = Object.entries(value).flatMap(([name, condition]) => (condition === undefined ? [] : [name]));
    if (given.length === 1) return;
    const message = `one condition: ${enumerate(Object.keys(keys))}`;
    const found = given.length === 0 ? "no condition" : given.join(" and ");
    context.addIssue({ code: "custom", message, params: { found } });
  }),
  conditionOf,
);

function conditionOf(when: Loaded<typeof keys>): Condition {
  const { status, service, averageQuality, overallUptime, segmentsReceived, lastSeen, flapping, counts } = when;
  if (status) return { kind: "status", status };
  if (when.directory) return { kind: "directory", state: when.directory };
  if (service) return { kind: "service", state: service };
  if (averageQuality) return { kind: "average_quality", ...clearing(averageQuality) };
  if (overallUptime) return { kind: "overall_uptime", ...clearing(overallUptime) };
  if (segmentsReceived) return { kind: "segments_received", ...clearing(segmentsReceived) };
  if (lastSeen) return { kind: "last_seen", ...lastSeen };
  if (counts) return { kind: "counts", ...counts };
  if (when.countsTogether) return { kind: "counts_together" };
  if (flapping) return { kind: "flapping", ...flapping };
  const outage = when.groupOffline ?? (when.locationOffline && { ...when.locationOffline, by: "location_id" as const });
  if (!outage) return when.missing ? { kind: "missing" } : { kind: "notifications", state: "failing" };
  const { by, atLeast, clearBelow = atLeast, minRecordings } = outage;
  const share = { atLeast, clearBelow, minRecordings };
  return by === "location_id" ? { kind: "location_offline", ...share } : { kind: "group_offline", by, ...share };
}

function clearing<T extends { readonly below: number; readonly clearAbove: number | undefined }>(value: T) {
  return { ...value, clearAbove: value.clearAbove ?? value.below };
}
