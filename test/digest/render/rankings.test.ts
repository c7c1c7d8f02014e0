import { describe, expect, test } from "vitest";
import type { DigestRecording, RecordingFigures } from "../../../src/digest/digest.ts";
import { digestPeriod } from "../../../src/digest/period.ts";
import { computeDigest, type DigestInput, digestWith } from "../compute-digest.ts";
import { at, HOUR, hours, input, offline, subject } from "../fixtures.ts";

function digestOf(over: Partial<DigestInput>, figures: readonly [DigestRecording, RecordingFigures][]) {
  return digestWith(input(over), figures);
}

describe("mean time to recovery", () => {
  const recordings = ["a", "b", "c", "d"].map((id) => subject(id));

  test("is from going down to being back, of those that came back inside the period", () => {
    const episodes = [
      offline("a", at("2026-11-18T22:00:00Z"), at("01:00")),
      offline("b", at("10:00"), at("11:00")),
      offline("c", at("23:00"), at("2026-11-20T05:00:00Z")),
      offline("d", at("20:00")),
      { ...offline("b", at("12:00"), at("20:00")), endReason: "no_longer_watched" as const },
    ];
    expect(computeDigest(input({ recordings, episodes })).totals.recoveryMs).toBe(2 * HOUR);
  });

  test("is no figure where nothing came back", () => {
    expect(computeDigest(input({ recordings })).totals.recoveryMs).toBeUndefined();
  });
});

describe("locations by day", () => {
  const zero = "0";
  const week = digestPeriod("1w", at("2026-11-23T08:00:00Z"), "Europe/London");
  const now = at("2026-11-23T08:00:00Z");
  const daily = (from: string, ratios: readonly (number | undefined)[]) =>
    ratios.map((overallUptime, i) => {
      const [bucket] = hours(at(from) + i * 24 * HOUR, [overallUptime], { segmentsExpected: 1440 });
      if (!bucket) throw new Error("one ratio is one bucket");
      return bucket;
    });

  test("have a figure for each day of the period, of all recordings together, weighted", () => {
    const digest = digestOf({ period: week, now }, [
      [subject("a"), { buckets: daily("2026-11-16T00:00:00Z", [1, 1, 0.5, 1, 1, 1, 1]) }],
      [subject("b"), { buckets: hours(at("2026-11-18T00:00:00Z"), Array(24).fill(1), { segmentsExpected: 20 }) }],
    ]);
    expect(digest.days).toEqual([16, 17, 18, 19, 20, 21, 22].map((d) => `2026-11-${d}`));
    const [leeds] = digest.locations;
    expect(leeds?.days[2]).toBeCloseTo((0.5 * 1440 + 24 * 20) / (1440 + 24 * 20));
    expect(leeds?.days[3]).toBe(1);
  });

  test("of a day's digest are those of the week that ends with it; of a month's all of the month", () => {
    expect(computeDigest(input()).days).toEqual([13, 14, 15, 16, 17, 18, 19].map((d) => `2026-11-${d}`));
    const march = at("2027-03-01T08:00:00Z");
    const february = digestPeriod("1mo", march, "Europe/London");
    expect(computeDigest(input({ now: march, period: february })).days).toHaveLength(28);
  });

  test("are the days where the recording is, clock changes included, and blank where there is no figure", () => {
    const monday = at("2026-11-02T08:00:00Z");
    const place = { locationName: "New York", timezone: "America/New_York" };
    // 1 November has 25 hours there, from 04:00 to 05:00 in UTC.
    const buckets = hours(at("2026-11-01T04:00:00Z"), [...Array(25).fill(0.5), ...Array(3).fill(1)]);
    const scope = { period: digestPeriod("1w", monday, "Europe/London"), now: monday };
    const { locations, days } = digestOf(scope, [[subject("a", place), { buckets }]]);
    expect(days.at(-1)).toBe("2026-11-01");
    expect(locations[0]?.days).toEqual([...Array(6).fill(undefined), 0.5]);
    const utc = digestOf({ ...scope, dayZone: "UTC" }, [[subject("a", place), { buckets }]]);
    expect(utc.locations[0]?.days.at(-1)).toBe(0.5);
  });

  test("begin with the lowest uptime", () => {
    const { locations } = digestOf({ period: week, now }, [
      [subject("a", { locationName: "Good" }), { buckets: daily("2026-11-16T00:00:00Z", Array(7).fill(1)) }],
      [subject("b", { locationName: "Unknown" }), { buckets: [] }],
      [subject("c", { locationName: "Bad" }), { buckets: daily("2026-11-16T00:00:00Z", Array(7).fill(0.4)) }],
    ]);
    expect(locations.map(({ locationName }) => locationName)).toEqual(["Bad", "Good", "Unknown"]);
  });

  test("time outside a learned schedule is no downtime, also where its hours are no longer stored", () => {
    // Monday to Friday, 08:00 to 20:00.
    const workday = zero.repeat(8) + "1".repeat(12) + zero.repeat(4);
    const scheduleHours = workday.repeat(5) + zero.repeat(48);
    const store = subject("a", { useUploadingSchedule: true });
    const episodes = [offline("a", at("2026-11-20T19:00:00Z"), at("2026-11-23T07:00:00Z"))];
    const figures = { buckets: daily("2026-11-16T00:00:00Z", [1, 1, 1, 1, 0.9]), scheduleHours };
    const { totals } = digestOf({ period: week, now, episodes }, [[store, figures]]);
    expect(totals.lostMs).toBe(HOUR);
    const all = digestOf({ period: week, now, episodes }, [[store, { buckets: figures.buckets }]]);
    expect(all.totals.lostMs).toBe(53 * HOUR);
    // The service's own hours take precedence.
    const open = hours(at("2026-11-21T10:00:00Z"), [0, 0]);
    const reported = { buckets: [...figures.buckets, ...open], scheduleHours };
    expect(digestOf({ period: week, now, episodes }, [[store, reported]]).totals.lostMs).toBe(3 * HOUR);
  });
});
