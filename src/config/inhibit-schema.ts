/** `inhibit_rules`: what need not be told while something else that explains it is. */
import { z } from "zod";
import type { RawMap } from "./document.ts";
import { required, section, withDefault } from "./key.ts";
import { matchers } from "./route-schema.ts";
import { LABEL_NAME, leaf } from "./scalars.ts";

const some = matchers.refine((all) => all.length > 0, { error: "at least one matcher" });

const labelNames = z.preprocess(
  (value) => (typeof value === "string" ? [value] : value),
  z.array(
    leaf("a label name", (text) => (LABEL_NAME.test(text) ? { value: text } : {})),
    { error: "a list of label names" },
  ),
);

const inhibitRule = section({
  source_matchers: required("The alerts that explain others while they fire.", some),
  target_matchers: required("The alerts that are held back meanwhile.", some),
  equal: withDefault("Labels in which the two have to be equal; missing in both is equal.", labelNames, []),
});

export const inhibitRuleSection: typeof inhibitRule = inhibitRule;
export type InhibitRuleInput = z.output<typeof inhibitRule.schema>;

/** The inhibit rules of a configuration that has none, as they would be written. */
export const defaultInhibitRules: RawMap[] = [
  {
    source_matchers: ['alertname = "LocationOffline"'],
    target_matchers: ['alertname =~ "Recording.*|LowQuality"'],
    equal: ["location_id"],
  },
  {
    source_matchers: ['alertname = "RecordingOffline"'],
    target_matchers: ['alertname =~ "LowUptime|LowQuality|RecordingMissing"'],
    equal: ["recording_id"],
  },
  {
    source_matchers: ['alertname = "RecordingFlapping"'],
    target_matchers: ['alertname =~ "RecordingOffline|RecordingDegraded"'],
    equal: ["recording_id"],
  },
  {
    source_matchers: ['alertname = "ServiceUnreachable"'],
    target_matchers: ['location_id != ""'],
  },
];
