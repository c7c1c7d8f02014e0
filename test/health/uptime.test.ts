import { describe, expect, test } from "vitest";
import type { UptimeBucket } from "../../src/health/recording.ts";
import { mergeBuckets, ratioBetween, uptimeRetentionMs, windowUptime } from "../../src/health/uptime.ts";
import { anUptimeBucket } from "../support/fixtures.ts";
import { HOUR, MINUTE, offlineRule, START, uptimeRule } from "./shard-history.ts";

const DAY = 24 * HOUR;

const bucket = anUptimeBucket;

/** Hourly buckets, the first at START. */
const hourly = (...ratios: (number | undefined)[]) => ratios.map((ratio, i) => bucket(START + i * HOUR, ratio));

test("a history keeps no bucket of a future that no time zone explains", () => {
  const fresh = [bucket(START, 1), bucket(START + 14 * HOUR, 1), bucket(START + 25 * HOUR, 1)];
  const kept = mergeBuckets([bucket(START + 1_000 * DAY, 1)], fresh, { now: START, retainMs: 2 * DAY });
  expect(kept.map(({ startAt }) => startAt - START)).toEqual([0, 14 * HOUR]);
});

describe("uptime over a window", () => {
  const at = (now: number, overMs = DAY) => ({ now, overMs });

  test("is the mean, weighted by the segments expected", () => {
    const buckets = [bucket(START, 1, { segmentsExpected: 30 }), bucket(START + HOUR, 0.4)];
    expect(windowUptime(buckets, at(START + 3 * HOUR))).toBeCloseTo((30 * 1 + 60 * 0.4) / 90, 12);
  });

  test("is unweighted where none is expected", () => {
    const buckets = [
      bucket(START, 1, { segmentsExpected: 0 }),
      bucket(START + HOUR, 0.4, { segmentsExpected: undefined }),
    ];
    expect(windowUptime(buckets, at(START + 3 * HOUR))).toBeCloseTo(0.7, 12);
  });

  const rows: [string, UptimeBucket[], number | undefined][] = [
    ["there is no figure without a bucket", [], undefined],
    ["no data is not zero", hourly(undefined, 1), 1],
    ["zero is zero", hourly(0, 0), 0],
    ["outside the schedule does not count", [bucket(START, 0, { withinSchedule: false }), bucket(START + HOUR, 1)], 1],
    ["only outside the schedule there is no figure", [bucket(START, 0, { withinSchedule: false })], undefined],
    ["only without data there is no figure", hourly(undefined, undefined), undefined],
  ];
  test.each(rows)("%s", (_, buckets, expected) => {
    expect(windowUptime(buckets, at(START + 4 * HOUR))).toBe(expected);
  });

  test("leaves out what has not been over for 15 minutes", () => {
    const buckets = hourly(1, 0);
    expect(windowUptime(buckets, at(START + 2 * HOUR + 15 * MINUTE - 1))).toBe(1);
    expect(windowUptime(buckets, at(START + 2 * HOUR + 15 * MINUTE))).toBe(0.5);
  });

  test("reads the buckets' length off the buckets", () => {
    const buckets = [bucket(START, 1), bucket(START + 10 * MINUTE, 0), bucket(START + 20 * MINUTE, 0)];
    expect(windowUptime(buckets, at(START + 25 * MINUTE - 1))).toBeUndefined();
    expect(windowUptime(buckets, at(START + 25 * MINUTE))).toBe(1);
    expect(windowUptime(buckets, at(START + 35 * MINUTE))).toBe(0.5);
  });

  test("begins where the window begins", () => {
    const buckets = hourly(0, 1, 1);
    expect(windowUptime(buckets, at(START + DAY))).toBeCloseTo(2 / 3, 12);
    expect(windowUptime(buckets, at(START + DAY + 1))).toBe(1);
  });
});

test("a day's ratio counts its buckets from its first instant to before the next day's", () => {
  const buckets = hourly(0, 1, 0.5, 0);
  expect(ratioBetween(buckets, { from: START + HOUR, to: START + 3 * HOUR })).toBe(0.75);
  expect(ratioBetween(buckets, { from: START - DAY, to: START })).toBeUndefined();
});

describe("merging buckets", () => {
  test("the fresh one counts, in order of time, none older than retention, and nothing is changed", () => {
    const history = Object.freeze(hourly(0.1, 0.2, 0.3));
    const fresh = Object.freeze([bucket(START + 3 * HOUR, 0.4), bucket(START + 2 * HOUR, 0.35)]);
    const merged = mergeBuckets(history, fresh, { now: START + 4 * HOUR, retainMs: 3 * HOUR });
    expect(merged.map(({ overallUptime }) => overallUptime)).toEqual([0.2, 0.35, 0.4]);
  });
});

test("buckets are kept for the longest window, a day at least, and 48 h", () => {
  expect(uptimeRetentionMs([offlineRule()])).toBe(3 * DAY);
  const week = uptimeRule({ when: { kind: "overall_uptime", below: 0.9, clearAbove: 0.9, overMs: 7 * DAY } });
  expect(uptimeRetentionMs([offlineRule(), week])).toBe(9 * DAY);
});
