/** `inhibit_rules`: alerts that are not notified while another alert explains them. */
import { defaultAlertNames as names } from "../health/alert.ts";
import type { RawMap } from "./document.ts";
import { required, section, withDefault } from "./key.ts";
import { matchers } from "./route-schema.ts";
import { LABEL_NAME, oneOrMore, textMatching } from "./scalars.ts";

const someMatchers = matchers.refine((all) => all.length > 0, { error: "at least one matcher" });

const labelNames = oneOrMore(textMatching("a label name", LABEL_NAME), "a list of label names");

export const inhibitRuleSection = section({
  source_matchers: required("The alerts that inhibit others while they fire.", someMatchers),
  target_matchers: required("The alerts that are inhibited.", someMatchers),
  equal: withDefault("Labels that must be equal in both alerts; missing in both counts as equal.", labelNames, []),
});

/** The inhibit rules of a configuration without any, as written in a file. */
export const defaultInhibitRules: RawMap[] = [
  {
    source_matchers: [`alertname = "${names.location_offline}"`],
    target_matchers: [`alertname =~ "Recording.*|${names.low_quality}"`],
    equal: ["location_id"],
  },
  {
    source_matchers: [`alertname = "${names.offline}"`],
    target_matchers: [`alertname =~ "${names.low_uptime}|${names.low_quality}|${names.missing}"`],
    equal: ["recording_id"],
  },
  {
    source_matchers: [`alertname = "${names.flapping}"`],
    target_matchers: [`alertname =~ "${names.offline}|${names.degraded}"`],
    equal: ["recording_id"],
  },
  { source_matchers: [`alertname = "${names.service_unreachable}"`], target_matchers: ['location_id != ""'] },
];
