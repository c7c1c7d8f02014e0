/** `time_intervals`: times of the day, days and months, as in Alertmanager. */
import type { z } from "zod";
import type { NamedInterval, Range } from "../alerting/time-interval.ts";
import { listOf, mapped, optional, refuse, required, section, withDefault } from "./key.ts";
import { leaf, name, oneOrMore, zone } from "./scalars.ts";

const clockTime = leaf("a time of the day from 00:00 to 24:00", (text) => {
  const [, hours, minutes] = /^(\d\d):([0-5]\d)$/.exec(text) ?? [];
  const value = Number(hours) * 60 + Number(minutes);
  return value <= 1_440 ? { value } : {};
});

const timeRange = mapped(
  section(
    {
      start_time: required("The start, included.", clockTime),
      end_time: required("The end, excluded; 24:00 is midnight.", clockTime),
    },
    ({ start_time, end_time }, context) => {
      if (start_time < end_time) return;
      const expected = "a time after `start_time`; over midnight, write two ranges: to 24:00 and from 00:00";
      refuse(context, "end_time", expected);
    },
  ),
  ({ startTime, endTime }): Range => ({ from: startTime, to: endTime }),
);

/** `monday`, `monday:friday`, `-3:-1`: both ends included. */
function rangeOf(expected: string, read: (text: string) => number | undefined): z.ZodType<Range> {
  return leaf(expected, (text) => {
    const [from, to = from, ...more] = text.toLowerCase().split(":").map(read);
    if (from === undefined || to === undefined || more.length > 0) return {};
    // A negative end may follow a positive start, never the reverse.
    const inOrder = from < 0 === to < 0 ? from <= to : from > 0;
    return inOrder ? { value: { from, to } } : {};
  });
}

function word(words: readonly string[], first: number) {
  return (text: string) => (words.includes(text) ? words.indexOf(text) + first : undefined);
}

const DAYS = "sunday monday tuesday wednesday thursday friday saturday".split(" ");
const MONTHS = "january february march april may june july august september october november december".split(" ");

function number(from: number, to: number) {
  return (text: string) => {
    const value = /^-?\d{1,4}$/.test(text) ? Number(text) : 0;
    return value !== 0 && value >= from && value <= to ? value : undefined;
  };
}

const weekday = rangeOf("a weekday or a range such as monday:friday, Sunday first", word(DAYS, 0));
const dayOfMonth = rangeOf("a day from 1 to 31 or from -31 to -1 (the last), or a range such as 1:5", number(-31, 31));
const month = rangeOf(
  "a month by name or number, or a range such as november:december",
  (text) => word(MONTHS, 1)(text) ?? number(1, 12)(text),
);
const year = rangeOf("a year, or a range such as 2026:2027", number(1, 9999));

const ranges = (each: z.ZodType<Range>) =>
  oneOrMore(each, "a list of ranges").refine((all) => all.length > 0, { error: "at least one range" });

const interval = section({
  times: optional("Times of the day.", listOf(timeRange)),
  weekdays: optional("Days of the week.", ranges(weekday)),
  days_of_month: optional("Days of the month; -1 is the last.", ranges(dayOfMonth)),
  months: optional("Months of the year.", ranges(month)),
  years: optional("Years.", ranges(year)),
  location: withDefault("The time zone of the interval.", zone, "UTC"),
});

/** Parsed into the intervals that routes use. */
export const timeIntervalSection = mapped(
  section({
    name: required("The name, for routes.", name),
    time_intervals: required(
      "Alternatives; within one, all given fields must match.",
      listOf(interval, "a list", "at least one"),
    ),
  }),
  ({ name, timeIntervals }): NamedInterval => ({
    name,
    intervals: timeIntervals.map(({ times, ...rest }) => ({ ...rest, times: times?.length ? times : undefined })),
  }),
);
