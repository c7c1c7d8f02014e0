import { expect, test } from "vitest";
import { knownHours, learnSchedule } from "../../src/health/schedule.ts";
import { onlineArrived, windowUptime } from "../../src/health/uptime.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import { anUptimeBucket } from "../support/fixtures.ts";

const HOUR = 3_600_000;
const MONDAY = Date.UTC(2026, 10, 23);
const bucket = (at: number, ratio: number, expected = 60) =>
  anUptimeBucket(at, ratio, {
    withinSchedule: expected > 0,
    segmentsExpected: expected,
    segmentsReceived: Math.round(expected * ratio),
  });

/** Closed on Sunday; of the first hour of each day a tenth is lost. */
function week(until: number) {
  const all = [];
  for (let at = MONDAY - 3 * 24 * HOUR; at <= until; at += HOUR) {
    const hour = (at / HOUR) % 24;
    const isOpen = at !== MONDAY - 24 * HOUR + hour * HOUR && hour >= 9 && hour < 17;
    all.push(bucket(at, isOpen ? (hour === 9 ? 0.9 : 1) : 0, isOpen ? 60 : 0));
  }
  return all;
}

test("uptime over 24 h on Monday morning is no worse than on Saturday morning", () => {
  const at = (now: number) => windowUptime(week(now), { now, overMs: 24 * HOUR });
  expect(at(MONDAY - 48 * HOUR + 10.3 * HOUR), "Saturday 10:18").toBeGreaterThan(0.95);
  expect(at(MONDAY + 10.3 * HOUR) ?? 1, "Monday 10:18").toBeGreaterThan(0.95);
});

test("the first hour of a new recording is not its uptime over 24 h", () => {
  const now = MONDAY + 15.3 * HOUR;
  expect(windowUptime([bucket(MONDAY + 14 * HOUR, 1 / 3)], { now, overMs: 24 * HOUR })).toBeUndefined();
});

// The contract states no length.
test.each([1, 2, 3, 6, 24])("where all segments arrive, in buckets of %d h, uptime is never low", (length) => {
  let lowest = 1;
  for (let now = Date.UTC(2026, 10, 20); now < Date.UTC(2026, 10, 21); now += 600_000) {
    const buckets = [];
    for (let at = Date.UTC(2026, 10, 17); at <= now; at += length * HOUR)
      buckets.push(bucket(at, Math.min(1, (now - at) / (length * HOUR)), 60 * length));
    lowest = Math.min(lowest, windowUptime(buckets, { now, overMs: 24 * HOUR }) ?? 1);
  }
  expect(lowest).toBeGreaterThan(0.95);
});

test("one bucket beside the others does not hide for three days that no segments arrive", () => {
  const now = Date.UTC(2026, 10, 20, 18, 20);
  const hourly = [...Array(72).keys()].map((i) => bucket(now - 20 * 60_000 - (71 - i) * HOUR, i < 60 ? 1 : 0));
  const stray = bucket(Date.UTC(2026, 10, 18, 3, 1), 1, 1);
  const arrived = (buckets: typeof hourly) =>
    onlineArrived(
      buckets.toSorted((a, b) => a.startAt - b.startAt),
      { now, overMs: HOUR, onlineSince: 0 },
    );
  expect(arrived(hourly)).toBe(0);
  expect(arrived([...hourly, stray])).toBe(0);
});

test.each([1, 2, 3, 6])("the hours of the week are learned from buckets of %d h", (length) => {
  const hours = createLocalHours();
  const buckets = [];
  for (let at = MONDAY - 14 * 24 * HOUR; at < MONDAY; at += length * HOUR)
    buckets.push(bucket(at, 1, (at / HOUR) % 24 < 12 ? 60 * length : 0));
  const learned = learnSchedule(undefined, buckets, MONDAY + HOUR, (at) => hours.at(at, "UTC"));
  expect(learned && knownHours(learned)).toBe(`${"1".repeat(12)}${"0".repeat(12)}`.repeat(7));
});

test("there is a figure of buckets of a day, of the last one that is over", () => {
  const days = [1, 0.5, 0.8].map((ratio, i) => bucket(MONDAY + i * 24 * HOUR, ratio, 1_440));
  const at = (hours: number) => windowUptime(days, { now: MONDAY + hours * HOUR, overMs: 24 * HOUR });
  expect([30, 50, 60].map(at)).toEqual([1, 0.5, 0.5]);
});
