import { EventEmitter } from "node:events";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HOUR_MS } from "../../src/lib/clock.ts";
import type { SimRecording } from "../../src/simulator/fleet.ts";
import { createHourCalendar, datesBetween } from "../../src/simulator/local-time.ts";
import { uptimeOf } from "../../src/simulator/uptime.ts";
import { World } from "../../src/simulator/world.ts";
import { handClock, NOON } from "./client.ts";

const calendar = createHourCalendar();

function fleet(start = NOON, seed = 7) {
  const clock = handClock(start);
  const world = new World({ seed, locations: 8, recordingsPerLocation: 4, clock, events: new EventEmitter() });
  const at = (location: number, recording: number): SimRecording => {
    const found = world.locations[location]?.recordings[recording];
    if (!found) throw new Error("no such place");
    return found;
  };
  const uptime = (recording: SimRecording, from: string, to = from) => {
    const hours = datesBetween(from, to).flatMap((date) => calendar.hoursOf(date, recording.location.timezone));
    return uptimeOf(recording, hours, world.startedAt, clock.now());
  };
  return { clock, world, at, uptime };
}

describe("days", () => {
  test.each([
    ["an ordinary one in London", "2026-11-18", "Europe/London", 24],
    ["the one when London's clocks go back", "2026-10-25", "Europe/London", 25],
    ["the one when London's clocks go forward", "2026-03-29", "Europe/London", 23],
    ["the one when New York's clocks go back", "2026-11-01", "America/New_York", 25],
    ["one with half-hour offset", "2026-11-18", "Asia/Kolkata", 24],
  ])("%s has its true number of hours", (_, date, timezone, count) => {
    const hours = calendar.hoursOf(date, timezone);
    expect(hours).toHaveLength(count);
    expect(hours[0]?.index).toBe(`${date} 00:00`);
    expect(hours.at(-1)?.index).toBe(`${date} 23:00`);
    expect(hours.every((hour, i) => hour.startAt === (hours[0]?.startAt ?? 0) + i * HOUR_MS)).toBe(true);
  });

  test("going back an index appears twice, going forward one is missing", () => {
    const indices = (date: string) => calendar.hoursOf(date, "Europe/London").map(({ index }) => index.slice(11));
    expect(indices("2026-10-25").slice(0, 4)).toEqual(["00:00", "01:00", "01:00", "02:00"]);
    expect(indices("2026-03-29").slice(0, 3)).toEqual(["00:00", "02:00", "03:00"]);
  });
});

test("every bucket of months back keeps the arithmetic, and some hours lost segments", () => {
  const { at, uptime } = fleet();
  const buckets = [0, 1, 2, 3].flatMap((i) => uptime(at(i, 0), "2026-08-20", "2026-11-18"));
  const broken = buckets.filter(
    (bucket) =>
      bucket.overallUptime !== bucket.avgUptimeOnSegment * bucket.pcSegmentsRecieved ||
      bucket.pcSegmentsRecieved !== bucket.segmentsReceived / bucket.segmentsExpected ||
      bucket.overallUptime > 1,
  );
  expect(broken).toEqual([]);
  const lost = buckets.filter((bucket) => bucket.segmentsReceived < bucket.segmentsExpected).length;
  expect(lost).toBeGreaterThan(5);
  expect(lost / buckets.length).toBeLessThan(0.05);
});

test("the day before the start is quiet, whatever day that is", () => {
  const lost = Array.from({ length: 30 }, (_, days) => {
    const { world, uptime } = fleet(Date.parse("2026-11-20T00:00:00Z") + days * 24 * HOUR_MS);
    const yesterday = new Date(world.startedAt - 1).toISOString().slice(0, 10);
    const british = world.locations.filter(({ timezone }) => timezone === "Europe/London");
    return british
      .flatMap(({ recordings }) => recordings)
      .flatMap((recording) => uptime(recording, yesterday))
      .filter((bucket) => bucket.segmentsReceived < bucket.segmentsExpected);
  });
  expect(lost.flat()).toEqual([]);
});

test("the past does not depend on when the simulator was started", () => {
  const earlier = fleet(NOON);
  const later = fleet(NOON + 3 * 24 * HOUR_MS);
  const from = ["2026-10-01", "2026-11-15"] as const;
  expect(earlier.uptime(earlier.at(2, 1), ...from)).toEqual(later.uptime(later.at(2, 1), ...from));
});

describe("an outage now", () => {
  test("takes from its hours every segment it touches", () => {
    const { world, at, uptime, clock } = fleet(Date.parse("2026-11-18T10:00:00Z"));
    const recording = at(0, 0);
    clock.advance(50 * 60_000 + 30_000);
    world.setStatus(recording.id, "offline");
    clock.advance(20 * 60_000);
    world.setStatus(recording.id, "online");
    clock.advance(3 * HOUR_MS);
    const received = uptime(recording, "2026-11-18")
      .slice(9, 13)
      .map((bucket) => bucket.segmentsReceived);
    expect(received).toEqual([60, 50, 49, 60]);
  });

  test("of quality alone keeps the segments and lowers their uptime", () => {
    const { world, at, uptime, clock } = fleet(Date.parse("2026-11-18T10:00:00Z"));
    world.setStatus(at(0, 0).id, "degraded");
    clock.advance(HOUR_MS);
    const bucket = uptime(at(0, 0), "2026-11-18")[10];
    expect(bucket?.segmentsReceived).toBe(60);
    expect(bucket?.avgUptimeOnSegment).toBeLessThan(0.51);
  });

  test("of any length and time never gives more than was expected, nor hides", () => {
    const outage = fc.record({
      wait: fc.integer({ min: 1, max: 90 * 60_000 }),
      length: fc.integer({ min: 1, max: 90 * 60_000 }),
    });
    fc.assert(
      fc.property(fc.array(outage, { minLength: 1, maxLength: 8 }), (outages) => {
        const { world, at, uptime, clock } = fleet(Date.parse("2026-11-18T00:00:00Z"));
        const recording = at(0, 0);
        const touched = new Set<number>();
        for (const { wait, length } of outages) {
          clock.advance(wait);
          world.setStatus(recording.id, "offline");
          for (let t = clock.now(); t < clock.now() + length; t += 1000) touched.add(Math.floor(t / 60_000));
          touched.add(Math.floor((clock.now() + length - 1) / 60_000));
          clock.advance(length);
          world.setStatus(recording.id, "online");
        }
        clock.advance(2 * HOUR_MS);
        const buckets = uptime(recording, "2026-11-18", "2026-11-19");
        const missing = buckets.reduce((sum, b) => sum + b.segmentsExpected - b.segmentsReceived, 0);
        expect(missing).toBe(touched.size);
      }),
      { numRuns: 40 },
    );
  });
});

test("outside its schedule a recording is expected to send nothing, and is not within it", () => {
  const { at, uptime } = fleet();
  const scheduled = at(3, 3);
  expect(scheduled.useUploadingSchedule).toBe(true);
  const buckets = uptime(scheduled, "2026-11-18");
  expect(buckets.filter(({ withinSchedule }) => withinSchedule).map(({ index }) => index.slice(11))).toEqual(
    Array.from({ length: 12 }, (_, i) => `${String(i + 8).padStart(2, "0")}:00`),
  );
  for (const bucket of buckets.filter(({ withinSchedule }) => !withinSchedule)) {
    expect(bucket).toMatchObject({ segmentsExpected: 0, segmentsReceived: 0, overallUptime: 0 });
  }
});
