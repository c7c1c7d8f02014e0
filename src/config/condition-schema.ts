/** `when` of a rule: a key each for what a rule may watch, and the condition it stands for. */
import type { z } from "zod";
import type { Condition } from "../health/rule.ts";
import { optional, type Parsed, required, type Section, section, withDefault } from "./key.ts";
import { duration, enumerate, integer, leaf, oneOf, ratio } from "./scalars.ts";

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

const keys = {
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

type ConditionInput = Parsed<typeof keys>;
type Given = { readonly [Name in keyof ConditionInput]: NonNullable<ConditionInput[Name]> };

const builders: { readonly [Name in keyof Given]: (given: Given[Name]) => Condition } = {
  status: (status) => ({ kind: "status", status }),
  average_quality: ({ below, clear_above = below }) => ({
    kind: "average_quality",
    below,
    clearAbove: clear_above,
  }),
  overall_uptime: ({ below, clear_above = below, over }) => ({
    kind: "overall_uptime",
    below,
    clearAbove: clear_above,
    overMs: over,
  }),
  missing: () => ({ kind: "missing" }),
  flapping: ({ high, low }) => ({ kind: "flapping", high, low }),
  location_offline: ({ at_least, clear_below = at_least, min_recordings }) => ({
    kind: "location_offline",
    atLeast: at_least,
    clearBelow: clear_below,
    minRecordings: min_recordings,
  }),
  service: (state) => ({ kind: "service", state }),
  notifications: (state) => ({ kind: "notifications", state }),
};

/** The one condition of a `when` that passed the schema. */
export function buildCondition(when: ConditionInput): Condition {
  const names = Object.keys(keys) as (keyof Given)[];
  const build = <Name extends keyof Given>(name: Name): Condition | undefined => {
    const given = when[name];
    return given === undefined ? undefined : builders[name](given as Given[Name]);
  };
  for (const name of names) {
    const built = build(name);
    if (built) return built;
  }
  throw new Error("a rule without a condition passed the schema");
}

/** `when`: exactly one of them. */
export const conditionSection: Section<ConditionInput> = section(keys, (value, context) => {
  const given = Object.entries(value).flatMap(([name, condition]) => (condition === undefined ? [] : [name]));
  if (given.length === 1) return;
  const message = `one condition: ${enumerate(Object.keys(keys))}`;
  const found = given.length === 0 ? "no condition" : given.join(" and ");
  context.addIssue({ code: "custom", message, params: { found } });
});
