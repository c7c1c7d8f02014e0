/** `rules`: what is a problem, for how long it has to last, and what an alert says of itself. */
import { z } from "zod";
import type { RawMap } from "./document.ts";
import { optional, required, section, withDefault } from "./key.ts";
import { duration, enumerate, flag, integer, LABEL_NAME, leaf, line, oneOf, prose, ratio } from "./leaf.ts";

const averageQuality = section(
  {
    below: required("The rule's condition holds while the quality is below this.", ratio),
    clear_above: optional("It ends once the quality is above this; the same as `below` by default.", ratio),
  },
  notBelow,
);

const overallUptime = section(
  {
    below: required("The rule's condition holds while the uptime is below this.", ratio),
    clear_above: optional("It ends once the uptime is above this; the same as `below` by default.", ratio),
    over: withDefault("The time back from now that the uptime is taken over.", duration("1h", "31d"), "24h"),
  },
  notBelow,
);

function notBelow(value: { below: number; clear_above: number | undefined }, context: z.RefinementCtx): void {
  if (value.clear_above === undefined || value.clear_above >= value.below) return;
  context.addIssue({ code: "custom", path: ["clear_above"], message: "a share not below `below`" });
}

const locationOffline = section(
  {
    at_least: withDefault("The share of a location's recordings that has to be offline.", ratio, "100%"),
    clear_below: optional("It ends once the share is below this; the same as `at_least` by default.", ratio),
    min_recordings: withDefault(
      "With fewer recordings than this freshly read, nothing changes.",
      integer(1, 10_000),
      "2",
    ),
  },
  ({ at_least, clear_below }, context) => {
    if (clear_below === undefined || clear_below <= at_least) return;
    context.addIssue({ code: "custom", path: ["clear_below"], message: "a share not above `at_least`" });
  },
);

const flapping = section(
  {
    high: withDefault("It begins once this share of the last 21 states changed.", ratio, "30%"),
    low: withDefault("It ends once no more than this share did; less than `high`.", ratio, "20%"),
  },
  ({ high, low }, context) => {
    if (low < high) return;
    context.addIssue({ code: "custom", path: ["low"], message: "a share below `high`" });
  },
);

const always = leaf("true", (text): { value: true } | object =>
  text === "true" ? { value: true } : {},
) as z.ZodType<true>;

const conditions = {
  status: optional("A recording's status.", oneOf("offline", "degraded")),
  average_quality: optional(
    "A recording's quality, judged while it is online or degraded.",
    averageQuality.schema,
    {
      section: () => averageQuality,
    },
  ),
  overall_uptime: optional("A recording's uptime within its schedule.", overallUptime.schema, {
    section: () => overallUptime,
  }),
  missing: optional("A recording known before that complete snapshots leave out.", always),
  flapping: optional(
    "A recording that does not rest, as Nagios counts it: newer changes weigh more.",
    flapping.schema,
    { section: () => flapping },
  ),
  location_offline: optional(
    "The share of a location's recordings that is offline.",
    locationOffline.schema,
    {
      section: () => locationOffline,
    },
  ),
  service: optional(
    "Whether lenswatch is blind: no shard had a good sweep, or some had none.",
    oneOf("unreachable", "partly_unreachable"),
  ),
  notifications: optional("Messages that do not get out at an integration.", oneOf("failing")),
};

const when = section(conditions, (value, context) => {
  const given = Object.entries(value).flatMap(([name, condition]) => (condition === undefined ? [] : [name]));
  if (given.length === 1) return;
  const message = `one condition: ${enumerate(Object.keys(conditions))}`;
  const found = given.length === 0 ? "no condition" : given.join(" and ");
  context.addIssue({ code: "custom", message, params: { found } });
});

/** Labels that every alert gets from what it speaks of. */
export const reservedLabels: readonly string[] = [
  "alertname",
  "recording_id",
  "recording",
  "location_id",
  "location",
  "organisation",
  "camera_server",
  "timezone",
];

const labelName = z.string().refine((text) => LABEL_NAME.test(text) && !text.startsWith("__"), {
  error: "a label name of letters, digits and _, not beginning with a digit or __",
});

const ownLabelName = labelName.refine((text) => !reservedLabels.includes(text), {
  error: "a label that is not set by lenswatch itself",
});

const mappingOf = (names: z.ZodType<string, string>, values: z.ZodType<string>) =>
  z.record(names, values, {
    error: (issue) => (issue.code === "invalid_type" ? "a mapping of names to texts" : undefined),
  });

const rule = section({
  alert: required(
    "The alert's name: its label `alertname`.",
    leaf("a name of at most 100 letters, digits, spaces and _ . : -", (text) =>
      /^[\p{L}_](?:[\p{L}\p{N}_.: -]{0,98}[\p{L}\p{N}_])?$/u.test(text) ? { value: text } : {},
    ),
  ),
  when: required("The condition, exactly one.", when.schema, { section: () => when }),
  for: withDefault("How long the condition has to hold before the alert fires.", duration("0s", "30d"), "0s"),
  keep_firing_for: withDefault(
    "How long it has to be over before the alert ends.",
    duration("0s", "30d"),
    "0s",
  ),
  respect_schedule: withDefault(
    "Outside its uploading schedule a recording is not reported: what fires waits.",
    flag,
    "true",
  ),
  labels: withDefault(
    "Labels added to the alert, for routes and silences.",
    mappingOf(ownLabelName, line),
    {},
  ),
  annotations: withDefault("Texts added to the alert, for its readers.", mappingOf(labelName, prose), {}),
});

export const ruleSection: typeof rule = rule;
export type RuleInput = z.output<typeof rule.schema>;

const critical: RawMap = { severity: "critical" };
const warning: RawMap = { severity: "warning" };

/** The rules of a configuration that has none, as they would be written. */
export const defaultRules: RawMap[] = [
  {
    alert: "RecordingOffline",
    when: { status: "offline" },
    for: "2m",
    keep_firing_for: "1m",
    labels: critical,
  },
  { alert: "RecordingDegraded", when: { status: "degraded" }, for: "10m" },
  {
    alert: "LowQuality",
    when: { average_quality: { below: "0.7", clear_above: "0.8" } },
    for: "15m",
    labels: warning,
  },
  {
    alert: "LowUptime",
    when: { overall_uptime: { below: "0.95", clear_above: "0.97", over: "24h" } },
    labels: warning,
  },
  { alert: "RecordingMissing", when: { missing: "true" }, for: "10m" },
  { alert: "RecordingFlapping", when: { flapping: { high: "30%", low: "20%" } } },
  {
    alert: "LocationOffline",
    when: { location_offline: { at_least: "100%", clear_below: "80%", min_recordings: "2" } },
    for: "1m",
    keep_firing_for: "2m",
    labels: critical,
  },
  { alert: "ServiceUnreachable", when: { service: "unreachable" }, for: "3m", labels: critical },
  { alert: "ServicePartlyUnreachable", when: { service: "partly_unreachable" }, for: "10m", labels: warning },
  { alert: "NotificationsFailing", when: { notifications: "failing" }, for: "5m", labels: critical },
];
