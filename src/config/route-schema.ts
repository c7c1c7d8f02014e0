/** `route`: who is told, about what, how often. Alertmanager's tree and its words. */
import { z } from "zod";
import { formatMatcher, parseMatchers } from "../alerting/matcher.ts";
import type { Matcher, Route } from "../alerting/route.ts";
import { formatDuration } from "../lib/duration.ts";
import { inherited, listOf, optional, type Section, section, withDefault } from "./key.ts";
import { duration, flag, integer, LABEL_NAME, leaf, name } from "./scalars.ts";

/** A single text stands for a list of one. */
const listed = (value: unknown): unknown => (typeof value === "string" ? [value] : value);

const matcherText = z.string({ error: 'a matcher such as severity="warning"' }).transform((text, context) => {
  try {
    return parseMatchers(text.slice(0, 5_000));
  } catch (thrown) {
    const message = 'a matcher such as severity="warning"';
    context.addIssue({ code: "custom", message, params: { detail: (thrown as Error).message } });
    return z.NEVER;
  }
});

/** A list of matchers, each text one or several; sorted, so that their order changes no identity. */
export const matchers: z.ZodType<Matcher[]> = z
  .preprocess(listed, z.array(matcherText, { error: 'a list of matchers such as severity="warning"' }))
  .transform((lists) => lists.flat().sort((a, b) => (formatMatcher(a) < formatMatcher(b) ? -1 : 1)));

const groupBy = z.preprocess(
  listed,
  z
    .array(
      leaf("a label name, or ... alone", (text) =>
        text === "..." || LABEL_NAME.test(text) ? { value: text } : {},
      ),
      { error: "a list of label names" },
    )
    .refine((names) => new Set(names).size === names.length, { error: "every label once" })
    .refine((names) => names.length === 1 || !names.includes("..."), { error: "... alone, or label names" })
    .transform((names) => (names[0] === "..." ? ("..." as const) : names)),
);

/** A route as read: what it leaves out, it inherits. */
export interface RouteInput {
  readonly receiver: string | undefined;
  readonly matchers: readonly Matcher[];
  readonly continue: boolean;
  readonly group_by: readonly string[] | "..." | undefined;
  readonly group_wait: number | undefined;
  readonly group_interval: number | undefined;
  readonly repeat_interval: number | undefined;
  readonly storm: { readonly groups: number | undefined } | undefined;
  readonly mute_time_intervals: readonly string[];
  readonly active_time_intervals: readonly string[];
  readonly routes: readonly RouteInput[];
}

/** What the root has where it says nothing. */
export const routeDefaults = {
  groupBy: ["location_id"],
  groupWaitMs: 30_000,
  groupIntervalMs: 300_000,
  repeatIntervalMs: 14_400_000,
  stormGroups: 10,
} satisfies Partial<Route>;

const intervalNames = z.preprocess(listed, z.array(name, { error: "a list of names of `time_intervals`" }));

const nested: z.ZodType<RouteInput[]> = listOf(z.lazy((): z.ZodType<RouteInput> => route.schema));

const storm = section({
  groups: inherited(
    "More groups than this due at one integration at once are told in one summary.",
    integer(1, 1_000),
    String(routeDefaults.stormGroups),
  ),
});

const route: Section<RouteInput> = section({
  receiver: optional("Who is told; required at the root, inherited below.", name),
  matchers: withDefault("Which alerts it takes; the root takes all and has none.", matchers, []),
  continue: withDefault("Whether the routes after it are tried as well.", flag, "false"),
  group_by: inherited(
    "Alerts equal in these labels share a message; [...] keeps every alert apart.",
    groupBy,
    [...routeDefaults.groupBy],
  ),
  group_wait: inherited(
    "How long the first message of a group waits for more.",
    duration("0s", "1d"),
    formatDuration(routeDefaults.groupWaitMs),
  ),
  group_interval: inherited(
    "The least time between two messages of a group.",
    duration("1s", "7d"),
    formatDuration(routeDefaults.groupIntervalMs),
  ),
  repeat_interval: inherited(
    "After this long a group still firing is told again.",
    duration("1s", "365d"),
    formatDuration(routeDefaults.repeatIntervalMs),
  ),
  storm: optional("When a great many things are wrong at once.", storm.schema, { section: () => storm }),
  mute_time_intervals: withDefault(
    "Names of `time_intervals` in which nothing is said here, ends included; not at the root.",
    intervalNames,
    [],
  ),
  active_time_intervals: withDefault(
    "Names of `time_intervals` outside which nothing is said here; not at the root.",
    intervalNames,
    [],
  ),
  routes: withDefault("Routes below: the first that matches takes the alert.", nested, [], {
    section: () => route,
    list: true,
  }),
});

export const routeSection: Section<RouteInput> = route;
