import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bucketsWithin, timedBuckets } from "../../../src/digest/compute/buckets.ts";
import { meanUptime, tallyOf } from "../../../src/digest/compute/tally.ts";
import { ratioBetween } from "../../../src/health/uptime.ts";
import { at, day, HOUR, hours, NOW } from "../fixtures.ts";

const bounds = { from: at("00:00"), to: at("2026-11-20T00:00:00Z") };
const mean = (buckets: Parameters<typeof timedBuckets>[0], now = NOW) =>
  meanUptime(tallyOf(bucketsWithin(timedBuckets(buckets, now), bounds), [], bounds));

describe("the mean over a period", () => {
  test("is weighted by the segments expected", () => {
    const long = hours(at("10:00"), [1], { segmentsExpected: 90 });
    const short = hours(at("11:00"), [0], { segmentsExpected: 10 });
    expect(mean([...long, ...short])).toBeCloseTo(0.9);
  });

  test("is plain where no segment was expected", () => {
    expect(mean(hours(at("10:00"), [1, 0.5], { segmentsExpected: 0 }))).toBe(0.75);
    expect(mean(hours(at("10:00"), [1, 0.5], { segmentsExpected: undefined }))).toBe(0.75);
  });

  test("leaves out what is outside the schedule, the period, or has no figure", () => {
    const closed = hours(at("03:00"), [0, 0], { withinSchedule: false });
    const before = hours(at("2026-11-18T22:00:00Z"), [0, 0]);
    const after = hours(at("2026-11-20T00:00:00Z"), [0]);
    const none = hours(at("12:00"), [undefined]);
    expect(mean([...before, ...closed, ...hours(at("10:00"), [1, 1]), ...none, ...after])).toBe(1);
  });

  test("is no figure where there is no bucket: not 0, not 1", () => {
    expect(mean([])).toBeUndefined();
    expect(mean(day(undefined))).toBeUndefined();
    expect(mean(day(1, { withinSchedule: false }))).toBeUndefined();
  });

  test("does not count a bucket that ended less than 15 minutes ago", () => {
    const buckets = hours(at("22:00"), [1, 0]);
    expect(mean(buckets, at("2026-11-20T00:14:59Z"))).toBe(1);
    expect(mean(buckets, at("2026-11-20T00:15:00Z"))).toBe(0.5);
  });

  test("is the one that alerts are evaluated by", () => {
    const bucket = fc.record({
      overallUptime: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
      segmentsExpected: fc.option(fc.nat(60), { nil: undefined }),
      withinSchedule: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(bucket, { maxLength: 24 }), (rows) => {
        const buckets = rows.flatMap((row, i) => hours(at("00:00") + i * HOUR, [row.overallUptime], row));
        expect(mean(buckets)).toBe(ratioBetween(buckets, bounds));
      }),
    );
  });
});

describe("the time a bucket covers", () => {
  const week = { from: at("2026-10-19T00:00:00+01:00"), to: at("2026-10-26T00:00:00Z") };
  const length = (buckets: Parameters<typeof timedBuckets>[0]) =>
    bucketsWithin(timedBuckets(buckets, NOW), week).map(({ from, to }) => (to - from) / HOUR);

  test("is an hour in a row of hours, however large the gaps", () => {
    expect(length(hours(at("2026-10-20T08:00:00Z"), [1, 1]).concat(hours(at("2026-10-22T08:00:00Z"), [1])))).toEqual([
      1, 1, 1,
    ]);
  });

  test("is the day in a row of days, 25 hours when clocks go back", () => {
    const midnights = ["2026-10-23T23:00:00Z", "2026-10-24T23:00:00Z", "2026-10-26T00:00:00Z"];
    expect(length(midnights.flatMap((midnight) => hours(at(midnight), [1])))).toEqual([24, 25]);
  });

  test("is right for each where hours follow days", () => {
    const days = ["2026-10-19T23:00:00Z", "2026-10-20T23:00:00Z"].flatMap((start) => hours(at(start), [1]));
    expect(length([...days, ...hours(at("2026-10-21T23:00:00Z"), [1, 1])])).toEqual([24, 24, 1, 1]);
    expect(length([...days, ...hours(at("2026-10-22T09:00:00Z"), [1, 1])])).toEqual([24, 24, 1, 1]);
  });

  test("is never a day outside the schedule, which would excuse downtime", () => {
    const closed = { withinSchedule: false };
    const lone = [...hours(at("2026-10-20T08:00:00Z"), [0], closed), ...hours(at("2026-10-21T08:00:00Z"), [0], closed)];
    expect(length(lone)).toEqual([1, 1]);
  });
});
