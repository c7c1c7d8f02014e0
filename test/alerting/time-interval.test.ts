import { describe, expect, test } from "vitest";
import { isWithin, muteOf, type NamedInterval, type TimeInterval } from "../../src/alerting/time-interval.ts";

const london = "Europe/London";
const named = (...intervals: Partial<TimeInterval>[]): NamedInterval => ({
  name: "out-of-hours",
  intervals: intervals.map((interval) => ({ location: "UTC", ...interval })),
});
const within = (interval: Partial<TimeInterval>, at: string) => isWithin(named(interval), Date.parse(at));
const clock = (hours: number, minutes = 0) => hours * 60 + minutes;
const night = {
  times: [
    { from: clock(20), to: clock(24) },
    { from: 0, to: clock(6) },
  ],
};

describe("a moment lies in an interval", () => {
  const rows: [string, Partial<TimeInterval>, string, boolean][] = [
    ["without fields, always", {}, "2026-03-02T08:00:00Z", true],
    ["from its first minute", night, "2026-03-02T20:00:00Z", true],
    ["not before it", night, "2026-03-02T19:59:59.999Z", false],
    ["to midnight", night, "2026-03-02T23:59:59.999Z", true],
    ["and over it", night, "2026-03-03T00:00:00Z", true],
    ["not in its last minute", night, "2026-03-03T06:00:00Z", false],
    ["on a Sunday, which is 0", { weekdays: [{ from: 0, to: 0 }] }, "2026-03-01T12:00:00Z", true],
    ["on a weekday of a range", { weekdays: [{ from: 1, to: 5 }] }, "2026-03-06T12:00:00Z", true],
    ["not on a Saturday", { weekdays: [{ from: 1, to: 5 }] }, "2026-03-07T12:00:00Z", false],
    [
      "on the weekday of its own zone",
      { weekdays: [{ from: 0, to: 0 }], location: "Asia/Tokyo" },
      "2026-02-28T15:00:00Z",
      true,
    ],
    ["on a day of the month", { daysOfMonth: [{ from: 1, to: 3 }] }, "2026-03-03T12:00:00Z", true],
    ["on the last day", { daysOfMonth: [{ from: -1, to: -1 }] }, "2026-02-28T12:00:00Z", true],
    ["on the last day of a leap February", { daysOfMonth: [{ from: -1, to: -1 }] }, "2028-02-29T12:00:00Z", true],
    ["not on the day before it", { daysOfMonth: [{ from: -1, to: -1 }] }, "2028-02-28T12:00:00Z", false],
    ["on the last three", { daysOfMonth: [{ from: -3, to: -1 }] }, "2026-04-28T12:00:00Z", true],
    ["a range past the end is cut to it", { daysOfMonth: [{ from: 28, to: 31 }] }, "2026-02-28T12:00:00Z", true],
    ["and has no day where it begins past it", { daysOfMonth: [{ from: 30, to: 31 }] }, "2026-02-28T12:00:00Z", false],
    ["a range before the first is cut to it", { daysOfMonth: [{ from: -31, to: -28 }] }, "2026-02-01T12:00:00Z", true],
    ["from a day to the last", { daysOfMonth: [{ from: 20, to: -1 }] }, "2026-02-28T12:00:00Z", true],
    ["in a month", { months: [{ from: 12, to: 12 }] }, "2026-12-31T23:00:00Z", true],
    [
      "in the month of its own zone",
      { months: [{ from: 1, to: 1 }], location: "Asia/Tokyo" },
      "2026-12-31T23:00:00Z",
      true,
    ],
    ["in a year", { years: [{ from: 2026, to: 2027 }] }, "2027-06-01T00:00:00Z", true],
    ["not in another", { years: [{ from: 2026, to: 2027 }] }, "2028-06-01T00:00:00Z", false],
    ["when all fields agree", { ...night, weekdays: [{ from: 1, to: 1 }] }, "2026-03-02T21:00:00Z", true],
    ["not when one does not", { ...night, weekdays: [{ from: 1, to: 1 }] }, "2026-03-03T21:00:00Z", false],
  ];
  test.each(rows)("%s", (_, interval, at, expected) => {
    expect(within(interval, at)).toBe(expected);
  });
});

describe("where clocks change", () => {
  // London 2026: forward on 29 March at 01:00 GMT, back on 25 October at 02:00 BST.
  const rows: [string, Partial<TimeInterval>, string, boolean][] = [
    ["20:00 is an hour earlier in summer", { ...night, location: london }, "2026-07-01T19:00:00Z", true],
    ["and not in winter", { ...night, location: london }, "2026-01-01T19:00:00Z", false],
    [
      "an hour that is skipped never comes",
      { times: [{ from: clock(1), to: clock(2) }], location: london },
      "2026-03-29T01:00:00Z",
      false,
    ],
    [
      "a range over the skipped hour ends by the new clock",
      { times: [{ from: 0, to: clock(6) }], location: london },
      "2026-03-29T04:59:59Z",
      true,
    ],
    ["an hour early", { times: [{ from: 0, to: clock(6) }], location: london }, "2026-03-29T05:00:00Z", false],
    [
      "an hour that comes twice counts the first time",
      { times: [{ from: clock(1), to: clock(2) }], location: london },
      "2026-10-25T00:30:00Z",
      true,
    ],
    ["and the second", { times: [{ from: clock(1), to: clock(2) }], location: london }, "2026-10-25T01:30:00Z", true],
    [
      "and then it is over",
      { times: [{ from: clock(1), to: clock(2) }], location: london },
      "2026-10-25T02:00:00Z",
      false,
    ],
    [
      "a day of 23 hours is still the last Sunday",
      { daysOfMonth: [{ from: -3, to: -3 }], location: london },
      "2026-03-29T22:59:59Z",
      true,
    ],
    [
      "and ends at its own midnight",
      { daysOfMonth: [{ from: -3, to: -3 }], location: london },
      "2026-03-29T23:00:00Z",
      false,
    ],
    [
      "a month ends at its own midnight in summer",
      { daysOfMonth: [{ from: -1, to: -1 }], location: london },
      "2026-07-31T23:00:00Z",
      false,
    ],
    [
      "a day that begins at 01:00 is the whole day",
      { daysOfMonth: [{ from: 6, to: 6 }], location: "America/Santiago" },
      "2026-09-06T04:00:00Z",
      true,
    ],
    [
      "half an hour of change is seen",
      { times: [{ from: clock(2), to: clock(2, 30) }], location: "Australia/Lord_Howe" },
      "2026-10-03T15:30:00Z",
      false,
    ],
  ];
  test.each(rows)("%s", (_, interval, at, expected) => {
    expect(within(interval, at)).toBe(expected);
  });
});

describe("a route is muted", () => {
  const at = (text: string) => Date.parse(text);
  const nights = named({ ...night, location: london });
  const hours = { ...named({ times: [{ from: clock(8), to: clock(18) }] }), name: "hours" };

  test("by the name of the interval, until its end where that is near", () => {
    expect(muteOf({ muteTimes: [nights] }, at("2026-01-02T05:10:30Z"))).toEqual({
      reason: "muted",
      by: "out-of-hours",
      until: at("2026-01-02T06:00:00Z"),
    });
  });

  test("until its end where that is far, and without an end where there is none", () => {
    expect(muteOf({ muteTimes: [nights] }, at("2026-01-02T20:00:00Z"))?.until).toBe(at("2026-01-03T06:00:00Z"));
    const always = { name: "always", intervals: [{ location: "UTC" }] };
    expect(muteOf({ muteTimes: [always] }, at("2026-01-02T20:00:00Z"))).toEqual({ reason: "muted", by: "always" });
  });

  test("until the clock says so, on the night it goes forward", () => {
    expect(muteOf({ muteTimes: [nights] }, at("2026-03-29T04:00:00Z"))?.until).toBe(at("2026-03-29T05:00:00Z"));
    expect(muteOf({ muteTimes: [nights] }, at("2026-03-28T04:00:00Z"))?.until).toBe(at("2026-03-28T06:00:00Z"));
  });

  test("over a boundary between two intervals", () => {
    const evening = { ...named({ times: [{ from: clock(5), to: clock(7) }] }), name: "more" };
    expect(muteOf({ muteTimes: [nights, evening] }, at("2026-01-02T05:30:00Z"))?.until).toBe(
      at("2026-01-02T07:00:00Z"),
    );
  });

  test("outside its active times, and not inside", () => {
    expect(muteOf({ activeTimes: [hours] }, at("2026-01-02T07:59:00Z"))).toEqual({
      reason: "muted",
      by: "hours",
      until: at("2026-01-02T08:00:00Z"),
    });
    expect(muteOf({ activeTimes: [hours] }, at("2026-01-02T08:00:00Z"))).toBeUndefined();
  });

  test("never, where it has neither", () => {
    expect(muteOf({}, at("2026-01-02T03:00:00Z"))).toBeUndefined();
  });
});
