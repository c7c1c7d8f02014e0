/** `inhibit_rules`: alerts that are not notified while another alert explains them. */
import type { RawMap } from "./document.ts";
import { required, section, withDefault } from "./key.ts";
import { matchers } from "./route-schema.ts";
import { defaultAlerts } from "./rule-schema.ts";
import { LABEL_NAME, oneOrMore, textThat } from "./scalars.ts";

const someMatchers = matchers.refine((all) => all.length > 0, { error: "at least one matcher" });

const labelNames = oneOrMore(
  textThat("a label name", (text) => LABEL_NAME.test(text)),
  "a list of label names",
);

export const inhibitRuleSection = section({
  source_matchers: required("The alerts that inhibit others while they fire.", someMatchers),
  target_matchers: required("The alerts that are inhibited.", someMatchers),
  equal: withDefault("Labels that must be equal in both alerts; missing in both counts as equal.", labelNames, []),
});

const { recordingOffline, recordingDegraded, recordingMissing, recordingFlapping } = defaultAlerts;
const { lowQuality, lowUptime, locationOffline, serviceUnreachable } = defaultAlerts;

/** The inhibit rules of a configuration without any, as written in a file. */
export const defaultInhibitRules: RawMap[] = [
  {
    source_matchers: [`alertname = "${locationOffline}"`],
    target_matchers: [`alertname =~ "Recording.*|${lowQuality}"`],
    equal: ["location_id"],
  },
  {
    source_matchers: [`alertname = "${recordingOffline}"`],
    target_matchers: [`alertname =~ "${lowUptime}|${lowQuality}|${recordingMissing}"`],
    equal: ["recording_id"],
  },
  {
    source_matchers: [`alertname = "${recordingFlapping}"`],
    target_matchers: [`alertname =~ "${recordingOffline}|${recordingDegraded}"`],
    equal: ["recording_id"],
  },
  { source_matchers: [`alertname = "${serviceUnreachable}"`], target_matchers: ['location_id != ""'] },
];
