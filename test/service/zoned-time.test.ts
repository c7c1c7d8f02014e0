import fc from "fast-check";
import { DateTime } from "luxon";
import { describe, expect, it } from "vitest";
import { createWallClock } from "../../src/service/zoned-time.ts";

import { heapMeter } from "../support/heap.ts";

const wall = createWallClock();

describe("a wall time in a zone", () => {
  it.each([
    ["Europe/London", "2026-01-10 09:00", "2026-01-10T09:00Z"],
    ["Europe/London", "2026-07-10 09:00", "2026-07-10T08:00Z"],
    ["America/New_York", "2026-07-10 09:00", "2026-07-10T13:00Z"],
    ["Asia/Kathmandu", "2026-07-10 09:00", "2026-07-10T03:15Z"],
    ["Pacific/Apia", "2011-12-31 00:00", "2011-12-30T10:00Z"],
    ["UTC", "2026-07-10T09:00", "2026-07-10T09:00Z"],
  ])("%s %s is %s", (zone, index, instant) => {
    expect(wall.read(index, zone)).toEqual({ at: Date.parse(instant), again: undefined, skipped: false });
  });

  it("that the clocks repeat is two instants", () => {
    expect(wall.read("2026-10-25 01:00", "Europe/London")).toEqual({
      at: Date.parse("2026-10-25T00:00Z"),
      again: Date.parse("2026-10-25T01:00Z"),
      skipped: false,
    });
  });

  it("that the clocks repeat by half an hour is two instants half an hour apart", () => {
    const time = wall.read("2026-04-05 01:45", "Australia/Lord_Howe");
    expect((time?.again ?? 0) - (time?.at ?? 0)).toBe(30 * 60_000);
  });

  it("that the clocks jump over lies as far after the jump", () => {
    expect(wall.read("2026-03-29 01:30", "Europe/London")).toEqual({
      at: Date.parse("2026-03-29T01:30Z"),
      again: undefined,
      skipped: true,
    });
  });

  it.each(["", "2026-02-30 10:00", "2026-13-01 10:00", "2026-01-10 24:00", "2026-01-10 10:60", "10:00", "2026-01-10"])(
    "%j is none",
    (index) => {
      expect(wall.read(index, "UTC")).toBeUndefined();
    },
  );

  it("is what luxon shows there, in any zone and at any hour", () => {
    const zones = ["Europe/London", "America/St_Johns", "Africa/Casablanca", "Australia/Lord_Howe", "UTC"];
    const at = fc.integer({ min: Date.UTC(2015, 0, 1) / 60_000, max: Date.UTC(2035, 0, 1) / 60_000 });
    fc.assert(
      fc.property(fc.constantFrom(...zones), at, (zone, minute) => {
        const instant = minute * 60_000;
        const time = wall.read(DateTime.fromMillis(instant, { zone }).toFormat("yyyy-MM-dd HH:mm"), zone);
        expect([time?.at, time?.again]).toContain(instant);
        expect(time?.skipped).toBe(false);
      }),
      { numRuns: 150 },
    );
  });
});

it.each([
  ["Europe/London", true],
  ["UTC", true],
  ["", false],
  ["Europe/Atlantis", false],
  ["constructor", false],
  ["x".repeat(100_000), false],
])("%s is a zone: %s", (name, is) => {
  expect(wall.isZone(name)).toBe(is);
});

it("keeps nothing of zones and times that do not exist", () => {
  const fresh = createWallClock();
  const heapUsed = heapMeter();
  const before = heapUsed();
  for (let i = 0; i < 20_000; i++) {
    expect(fresh.isZone(`Europe/${i}${"x".repeat(50)}`)).toBe(false);
    expect(fresh.read(`${"x".repeat(10_000)}${i}`, "Europe/London")).toBeUndefined();
  }
  expect(heapUsed() - before).toBeLessThan(3_000_000);
});
