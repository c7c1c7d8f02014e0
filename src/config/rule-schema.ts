/** `rules`: what is a problem, for how long it has to last, and what an alert says of itself. */
import { z } from "zod";
import { conditionSection } from "./condition-schema.ts";
import type { RawMap } from "./document.ts";
import { required, section, withDefault } from "./key.ts";
import { duration, flag, LABEL_NAME, leaf, line, prose } from "./scalars.ts";

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
  when: required("The condition, exactly one.", conditionSection.schema, { section: () => conditionSection }),
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
