/** `rules`: conditions, how long they must last, and the labels and annotations of their alerts. */
import { z } from "zod";
import { defaultAlertNames as names } from "../health/alert.ts";
import { ownLabels } from "../health/directory.ts";
import { conditionSection } from "./condition-schema.ts";
import type { RawMap } from "./document.ts";
import { required, section, withDefault } from "./key.ts";
import { duration, LABEL_NAME, line, prose, textMatching, trueOrFalse } from "./scalars.ts";

const labelName = z
  .string()
  .refine((text) => LABEL_NAME.test(text) && !text.startsWith("__"), {
    error: "a label name of letters, digits and _, not beginning with a digit or __",
  });

const ownLabelName = labelName.refine((text) => !ownLabels.includes(text), {
  error: "a label that is not set by lenswatch itself",
});

const mappingOf = (names: z.ZodType<string, string>, values: z.ZodType<string>) =>
  z.record(names, values, {
    error: (issue) => (issue.code === "invalid_type" ? "a mapping of names to texts" : undefined),
  });

export const ruleSection = section({
  alert: required(
    "The alert's name, in the label `alertname`.",
    textMatching(
      "a name of at most 100 letters, digits, spaces and _ . : -",
      /^[\p{L}_](?:[\p{L}\p{N}_.: -]{0,98}[\p{L}\p{N}_])?$/u,
    ),
  ),
  when: required("The condition; exactly one.", conditionSection),
  for: withDefault("How long the condition must last before the alert fires.", duration("0s", "30d"), "0s"),
  keep_firing_for: withDefault(
    "How long the condition must be over before the alert resolves.",
    duration("0s", "30d"),
    "0s",
  ),
  respect_schedule: withDefault(
    "Whether alerts of a recording pause outside its uploading schedule.",
    trueOrFalse,
    "true",
  ),
  labels: withDefault("Labels of the alert, for routes and silences.", mappingOf(ownLabelName, line), {}),
  annotations: withDefault("Annotations of the alert, for its readers.", mappingOf(labelName, prose), {}),
});

function withSeverity(severity: string) {
  return (alert: string, when: RawMap, times: RawMap = {}): RawMap => ({ alert, when, ...times, labels: { severity } });
}
const [critical, warning] = [withSeverity("critical"), withSeverity("warning")];
const together = { for: "1m", keep_firing_for: "5m" };

/** All recordings are offline, of this many at least. */
function allOf(leastRecordings: string): RawMap {
  return { at_least: "100%", clear_below: "80%", min_recordings: leastRecordings };
}

/** The rules of a configuration without any, as written in a file. */
export const defaultRules: RawMap[] = [
  critical(names.offline, { status: "offline" }, { for: "2m", keep_firing_for: "5m" }),
  warning(names.degraded, { status: "degraded" }, { for: "10m" }),
  warning(names.low_quality, { average_quality: { below: "0.7", clear_above: "0.8" } }, { for: "15m" }),
  warning(names.low_uptime, { overall_uptime: { below: "0.95", clear_above: "0.97", over: "24h" } }),
  warning(names.not_uploading, { segments_received: { below: "5%", clear_above: "50%", over: "1h" } }, { for: "20m" }),
  warning(names.missing, { missing: "true" }, { for: "10m" }),
  warning(names.flapping, { flapping: { high: "30%", low: "20%" } }),
  critical(names.location_offline, { location_offline: allOf("2") }, together),
  critical(names.camera_server_offline, { group_offline: { by: "camera_server", ...allOf("3") } }, together),
  critical(names.service_unreachable, { service: "unreachable" }, { for: "3m", keep_firing_for: "3m" }),
  warning(names.service_partly_unreachable, { service: "partly_unreachable" }, { for: "10m" }),
  critical(names.notifications_failing, { notifications: "failing" }, { for: "5m" }),
  warning(names.directory_stale, { directory: "stale" }, { for: "10m" }),
];
