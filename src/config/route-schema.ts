/** `route`: which receiver is notified of which alerts, and how often, as in Alertmanager. */
import { z } from "zod";
import { formatMatcher, parseMatchers } from "../alerting/matcher.ts";
import type { Route } from "../alerting/route.ts";
import { defaultAlertNames as names } from "../health/alert.ts";
import { formatDuration } from "../lib/duration.ts";
import type { RawMap } from "./document.ts";
import { type ConfigSection, inherited, type Loaded, listOf, optional, required, section, withDefault } from "./key.ts";
import { duration, integer, LABEL_NAME, name, oneOrMore, textMatching, textThat, trueOrFalse } from "./scalars.ts";

const aMatcher = 'a matcher such as severity="warning"';

const matcherText = z.string({ error: aMatcher }).transform((text, context) => {
  try {
    return parseMatchers(text.slice(0, 5_000));
  } catch (thrown) {
    context.addIssue({ code: "custom", message: aMatcher, params: { detail: (thrown as Error).message } });
    return z.NEVER;
  }
});

/** Matchers, one or several in each text; sorted, so that their order does not change a route's identity. */
export const matchers = oneOrMore(matcherText, 'a list of matchers such as severity="warning"').transform((lists) =>
  lists.flat().sort((a, b) => (formatMatcher(a) < formatMatcher(b) ? -1 : 1)),
);

const labelOrAll = textThat("a label name, or ... alone", (text) => text === "..." || LABEL_NAME.test(text));
const groupBy = oneOrMore(labelOrAll, "a list of label names")
  .refine((names) => new Set(names).size === names.length, { error: "every label once" })
  .refine((names) => names.length === 1 || !names.includes("..."), { error: "... alone, or label names" })
  .transform((names) => (names[0] === "..." ? ("..." as const) : names));

/** The root's values by default. */
export const routeDefaults = {
  groupBy: ["location_id"],
  groupWaitMs: 30_000,
  groupIntervalMs: 300_000,
  repeatIntervalMs: 14_400_000,
  stormGroups: 10,
} satisfies Partial<Route>;

export const intervalNames = oneOrMore(name, "a list of names of `time_intervals`");

const storm = section({
  groups: inherited(
    "With more groups than this due at one integration, they are sent as one summary.",
    integer(1, 1_000),
    String(routeDefaults.stormGroups),
  ),
});

const escalate = listOf(
  section({
    after: required("How long an alert of the group has to be unattended.", duration("1s", "30d")),
    receiver: required("The receiver the group is then also sent to.", name),
  }),
  "a list of steps",
);
const steps = {
  ...escalate,
  schema: escalate.schema.refine(
    (all) => all.every(({ afterMs }, i) => i === 0 || afterMs > (all[i - 1]?.afterMs ?? 0)),
    { error: "steps with a later `after` each" },
  ),
};

const keys = {
  receiver: optional("The receiver to notify; required at the root, inherited below.", name),
  matchers: withDefault("The alerts the route takes; the root takes all and has none.", matchers, []),
  continue: withDefault("Whether later sibling routes are tried too.", trueOrFalse, "false"),
  group_by: inherited(
    "Alerts with equal values of these labels share a message; [...] sends every alert alone.",
    groupBy,
    [...routeDefaults.groupBy],
  ),
  group_wait: inherited(
    "How long a new group waits for more alerts before its first message.",
    duration("0s", "1d"),
    formatDuration(routeDefaults.groupWaitMs),
  ),
  group_interval: inherited(
    "The least time between two messages of a group.",
    duration("1s", "7d"),
    formatDuration(routeDefaults.groupIntervalMs),
  ),
  repeat_interval: inherited(
    "How long until a group that still fires is notified again.",
    duration("1s", "365d"),
    formatDuration(routeDefaults.repeatIntervalMs),
  ),
  storm: optional("Summaries when many groups are due at once.", storm),
  escalate: inherited(
    "Further receivers for what is neither acknowledged nor otherwise suppressed for that long; [] ends it.",
    steps,
    [],
  ),
  mute_time_intervals: withDefault(
    "Names of `time_intervals` during which the route sends nothing, resolved alerts included; not at the root.",
    intervalNames,
    [],
  ),
  active_time_intervals: withDefault(
    "Names of `time_intervals` outside which the route sends nothing; not at the root.",
    intervalNames,
    [],
  ),
};

/** A route as validated; what is undefined is inherited. */
export interface RouteInput extends Loaded<typeof keys> {
  readonly routes: readonly RouteInput[];
}

const routes = {
  schema: z.array(
    z.lazy((): z.ZodType<RouteInput> => routeSection.schema),
    { error: "a list" },
  ),
  section: (): ConfigSection => routeSection,
};

export const routeSection: ConfigSection<RouteInput> = section({
  ...keys,
  routes: withDefault("Routes below; the first that matches takes the alert.", routes, []),
});

/** At least one: what has none would be about every alert. */
export const someMatchers = matchers.refine((all) => all.length > 0, { error: "at least one matcher" });

const labelNames = oneOrMore(textMatching("a label name", LABEL_NAME), "a list of label names");

export const inhibitRuleSection = section({
  source_matchers: required("The alerts that inhibit others while they fire.", someMatchers),
  target_matchers: required("The alerts that are inhibited.", someMatchers),
  equal: withDefault("Labels that must be equal in both alerts; missing in both counts as equal.", labelNames, []),
  external_sources: withDefault("Whether external alerts inhibit lenswatch's own too.", trueOrFalse, "false"),
});

/** Matches alerts of these names; several may be patterns. */
function called(...alerts: readonly string[]): string {
  return alerts.length === 1 ? `alertname = "${alerts[0]}"` : `alertname =~ "${alerts.join("|")}"`;
}

function inhibit(source: string | string[], target: string | string[], ...equal: string[]): RawMap {
  const matchers = { source_matchers: [source].flat(), target_matchers: [target].flat() };
  return equal.length === 0 ? matchers : { ...matchers, equal };
}

const { offline, low_quality, low_uptime, not_uploading, location_offline, camera_server_offline } = names;
const ofPlace = (wider: string) => called("Recording.*", low_quality, wider, "Counts.*");
const falseCounts = called(names.counts_low);

/** The inhibit rules of a configuration without any, as written in a file. */
export const defaultInhibitRules: RawMap[] = [
  inhibit(called(location_offline), ofPlace(camera_server_offline), "location_id"),
  inhibit(called(camera_server_offline), ofPlace(location_offline), "camera_server"),
  inhibit(called(offline), called(low_uptime, low_quality, names.missing, not_uploading, "Counts.*"), "recording_id"),
  inhibit(called(not_uploading), called(low_uptime, "Counts.*"), "recording_id"),
  inhibit([falseCounts, 'recording_id != ""'], [falseCounts, 'recording_id = ""'], "location_id"),
  inhibit(called(names.flapping), called(offline, names.degraded), "recording_id"),
  inhibit(called(names.service_unreachable), 'location_id != ""'),
  inhibit(called(names.service_unreachable), 'camera_server != ""'),
];
