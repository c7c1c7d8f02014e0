/** `time_intervals`: Alertmanager's words for times of the day, days and months. */
import { z } from "zod";
import type { NamedInterval, Range, TimeInterval } from "../alerting/time-interval.ts";
import { listOf, optional, required, type Section, section, withDefault } from "./key.ts";
import { leaf, name, zone } from "./scalars.ts";

const clockTime = leaf("a time of the day from 00:00 to 24:00", (text) => {
  const [, hours, minutes] = /^(\d\d):([0-5]\d)$/.exec(text) ?? [];
  const value = Number(hours) * 60 + Number(minutes);
  return value <= 1_440 ? { value } : {};
});

const timeRange = section(
  {
    start_time: required("The first minute.", clockTime),
    end_time: required("The minute after the last; 24:00 is midnight.", clockTime),
  },
  ({ start_time, end_time }, context) => {
    if (start_time < end_time) return;
    const message = "a time after `start_time`; over midnight, write two ranges: to 24:00 and from 00:00";
    context.addIssue({ code: "custom", path: ["end_time"], message });
  },
);

/** `monday`, `monday:friday`, `-3:-1`: both ends included. */
function rangeOf(expected: string, read: (text: string) => number | undefined): z.ZodType<Range> {
  return leaf(expected, (text) => {
    const [from, to = from, ...more] = text.toLowerCase().split(":").map(read);
    if (from === undefined || to === undefined || more.length > 0) return {};
    // An end counted from the back may lie anywhere after a beginning counted from the front, never the other way.
    const inOrder = from < 0 === to < 0 ? from <= to : from > 0;
    return inOrder ? { value: { from, to } } : {};
  });
}

function word(words: readonly string[], first: number): (text: string) => number | undefined {
  return (text) => {
    const at = words.indexOf(text);
    return at < 0 ? undefined : at + first;
  };
}

const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];

function number(from: number, to: number): (text: string) => number | undefined {
  return (text) => {
    const value = /^-?\d{1,4}$/.test(text) ? Number(text) : 0;
    return value !== 0 && value >= from && value <= to ? value : undefined;
  };
}

const weekday = rangeOf("a weekday or a range such as monday:friday, Sunday first", word(DAYS, 0));
const dayOfMonth = rangeOf(
  "a day from 1 to 31 or from -31 to -1 (the last), or a range such as 1:5",
  number(-31, 31),
);
const month = rangeOf(
  "a month by name or number, or a range such as november:december",
  (text) => word(MONTHS, 1)(text) ?? number(1, 12)(text),
);
const year = rangeOf("a year, or a range such as 2026:2027", number(1, 9999));

const ranges = (each: z.ZodType<Range>) =>
  z.preprocess(
    (value) => (typeof value === "string" ? [value] : value),
    z.array(each, { error: "a list of ranges" }).min(1, { error: "at least one range" }),
  );

const interval = section({
  times: optional("Times of the day.", listOf(timeRange.schema), { section: () => timeRange, list: true }),
  weekdays: optional("Days of the week.", ranges(weekday)),
  days_of_month: optional("Days of the month; -1 is the last.", ranges(dayOfMonth)),
  months: optional("Months of the year.", ranges(month)),
  years: optional("Years.", ranges(year)),
  location: withDefault("The time zone they are in.", zone, "UTC"),
});

type IntervalInput = z.output<typeof interval.schema>;

const named = section({
  name: required("What routes call it.", name),
  time_intervals: required(
    "Any of these; within one, everything given has to hold.",
    z.array(interval.schema, { error: "a list" }).min(1, { error: "at least one" }),
    { section: () => interval, list: true },
  ),
});

/** Read straight into what routes keep to. */
export const timeIntervalSection: Section<NamedInterval> = {
  keys: named.keys,
  schema: named.schema.transform(
    ({ name: called, time_intervals }): NamedInterval => ({
      name: called,
      intervals: time_intervals.map(buildInterval),
    }),
  ),
};

function buildInterval({
  times,
  weekdays,
  days_of_month,
  months,
  years,
  location,
}: IntervalInput): TimeInterval {
  return {
    ...(times?.length
      ? { times: times.map(({ start_time, end_time }) => ({ from: start_time, to: end_time })) }
      : {}),
    ...(weekdays ? { weekdays } : {}),
    ...(days_of_month ? { daysOfMonth: days_of_month } : {}),
    ...(months ? { months } : {}),
    ...(years ? { years } : {}),
    location,
  };
}
