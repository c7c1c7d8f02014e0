import { expect, test } from "vitest";
import { windowUptime } from "../../src/health/uptime.ts";
import { createUptimeParser } from "../../src/service/recording-uptime-rows.ts";
import { createWallClock } from "../../src/service/zoned-time.ts";

/** What a service serves that computes the mean uptime of no segment: NaN, which JSON has as null. */
const nothing = {
  segmentsExpected: 60,
  segmentsReceived: 0,
  avgUptimeOnSegment: null,
  pcSegmentsRecieved: 0,
  overallUptime: null,
};
const all = {
  segmentsExpected: 60,
  segmentsReceived: 60,
  avgUptimeOnSegment: 1,
  pcSegmentsRecieved: 1,
  overallUptime: 1,
};

test("of a day in whose second half none of 60 segments an hour was received, the uptime is not 100 %", () => {
  const now = Date.UTC(2026, 10, 21, 0, 20);
  const uptime = [...Array(24).keys()].map((hour) => ({
    index: `2026-11-20 ${String(hour).padStart(2, "0")}:00`,
    withinSchedule: true,
    ...(hour < 12 ? all : nothing),
  }));
  const parser = createUptimeParser({
    report: () => {},
    wall: createWallClock(),
    indexTimezone: "recording",
    clock: { now: () => now },
  });
  const { buckets } = parser.one({ recording: { id: "a", location: "l", timezone: "UTC" }, uptime });
  expect(windowUptime(buckets, { now, overMs: 24 * 3_600_000 })).toBeLessThan(0.6);
});
