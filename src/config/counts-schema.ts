/** `counts`: how visitor counts are read, and what they are worth. */
import { listOf, optional, type Parsed, refuse, required, section, withDefault } from "./key.ts";
import { matchers } from "./route-schema.ts";
import { duration, leaf, oneOrMore, textMatching, trueOrFalse } from "./scalars.ts";

const WEEKDAYS: readonly string[] = "monday tuesday wednesday thursday friday saturday sunday".split(" ");

const day = leaf("a weekday such as sunday, or a date such as 2026-12-25", (text) => {
  if (WEEKDAYS.includes(text.toLowerCase())) return { value: text.toLowerCase() };
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text);
  return isDate ? { value: text } : {};
});

const closedDaysKeys = {
  days: required("Weekdays, or dates of the location's time zone.", oneOrMore(day, "a list of weekdays and dates")),
  matchers: withDefault(
    "The locations that are closed, by their `location_id`, `location`, `organisation` or `timezone`; without any, all.",
    matchers,
    [],
  ),
};
const closedDays = section(closedDaysKeys, undefined, "a mapping such as { days: [sunday, 2026-12-25] }");

const amount = leaf("an amount from 0 to 100000 such as 12.50", (text) => {
  const value = /^\d{1,6}(?:\.\d{1,4})?$/.test(text) ? Number(text) : Number.NaN;
  return value <= 100_000 ? { value } : {};
});

const countsKeys = {
  read: withDefault(
    "Whether visitor counts are read: for rules on `counts`, and for the visits that outages cost.",
    trueOrFalse,
    "true",
  ),
  interval: withDefault(
    "How often today's counts are read; the service renews them every 10 minutes.",
    duration("10m", "1h"),
    "10m",
  ),
  closed_days: withDefault(
    "Days on which nobody is expected to be counted.",
    listOf(closedDays, "a list such as [{ days: [sunday, 2026-12-25] }]"),
    [],
  ),
  value_per_visit: optional("What a visit is worth, where messages are to say what an outage cost.", amount),
  currency: optional(
    "The currency of `value_per_visit`, as in ISO 4217.",
    textMatching("three capital letters such as EUR", /^[A-Z]{3}$/),
  ),
};

export const visitCountsSection = section(countsKeys, (value: Parsed<typeof countsKeys>, context) => {
  if ((value.value_per_visit === undefined) === (value.currency === undefined)) return;
  const [missing, given] =
    value.currency === undefined ? ["currency", "value_per_visit"] : ["value_per_visit", "currency"];
  refuse(context, missing, `a ${missing} beside the ${given}`);
});
