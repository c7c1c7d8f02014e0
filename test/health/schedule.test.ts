import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { UptimeBucket } from "../../src/health/recording.ts";
import {
  type KnownSchedule,
  knownHours,
  type LearnedSchedule,
  learnSchedule,
  scheduleBegan,
  scheduledMs,
  scheduleState,
} from "../../src/health/schedule.ts";
import { createLocalHours } from "../../src/lib/local-hours.ts";
import { anUptimeBucket } from "../support/fixtures.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
/** A Monday, in winter and far from any change of clocks. */
const MONDAY = Date.UTC(2026, 0, 12);
const hours = createLocalHours();
const inZone = (zone: string) => (at: number) => hours.at(at, zone);
const utc = inZone("UTC");

function bucket(startAt: number, withinSchedule: boolean): UptimeBucket {
  return anUptimeBucket(startAt, undefined, { withinSchedule, segmentsExpected: undefined });
}

/** Hourly buckets as a recording with these opening hours would have them. */
function buckets(from: number, to: number, isOpen: (at: number) => boolean, stepMs = HOUR): UptimeBucket[] {
  const all: UptimeBucket[] = [];
  for (let at = from; at < to; at += stepMs) all.push(bucket(at, isOpen(at)));
  return all;
}

const shop = (zone: string) => (at: number) => {
  const hour = inZone(zone)(at).ofWeek % 24;
  return hour >= 8 && hour < 20;
};

function learned(all: readonly UptimeBucket[], now: number, zone = "UTC"): LearnedSchedule {
  const schedule = learnSchedule(undefined, all, now, inZone(zone));
  if (!schedule) throw new Error("nothing was learned");
  return schedule;
}

const known = (schedule: LearnedSchedule, timezone = "UTC"): KnownSchedule => ({
  timezone,
  hours: knownHours(schedule),
  served: [],
});

describe("what is learned", () => {
  test("the hours of the week, one by one, and nothing of those not seen", () => {
    const schedule = learned(buckets(MONDAY, MONDAY + DAY, shop("UTC")), MONDAY + DAY + HOUR);
    expect(knownHours(schedule)).toBe(`${"0".repeat(8)}${"1".repeat(12)}${"0".repeat(4)}${"?".repeat(144)}`);
  });

  test("nothing of no bucket", () => {
    expect(learnSchedule(undefined, [], MONDAY, utc)).toBeUndefined();
  });

  test("an hour once it is over and told of, and only once", () => {
    const day = buckets(MONDAY, MONDAY + DAY, () => true);
    const early = learned(day, MONDAY + 10 * HOUR + 10 * 60_000);
    expect(knownHours(early).slice(0, 12)).toBe(`${"1".repeat(9)}???`);
    const again = learnSchedule(early, day, MONDAY + 10 * HOUR + 20 * 60_000, utc);
    expect(knownHours(again as LearnedSchedule).slice(0, 12)).toBe(`${"1".repeat(10)}??`);
    expect(learnSchedule(again, day, MONDAY + 10 * HOUR + 30 * 60_000, utc)).toEqual(again);
  });

  test("in pieces or at once, the same", () => {
    const all = buckets(MONDAY, MONDAY + 3 * WEEK, shop("UTC"));
    const whole = learned(all, MONDAY + 3 * WEEK + HOUR);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 * 168 }), { maxLength: 8 }), (cuts) => {
        let schedule: LearnedSchedule | undefined;
        for (const cut of [...cuts.sort((a, b) => a - b), 3 * 168 + 1]) {
          schedule = learnSchedule(schedule, all.slice(0, cut), MONDAY + cut * HOUR, utc);
        }
        expect(schedule).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  test("an hour of which a part is within the schedule is within it", () => {
    const halves = buckets(MONDAY, MONDAY + 2 * HOUR, (at) => at < MONDAY + HOUR / 2, HOUR / 2);
    expect(knownHours(learned(halves, MONDAY + DAY)).slice(0, 3)).toBe("10?");
  });
});

describe("recent weeks weigh more", () => {
  test.each([
    ["1", "1"],
    ["0", "0"],
    ["01", "1"],
    ["10", "1"],
    ["100", "0"],
    ["110", "1"],
    ["1110", "1"],
    ["1100", "0"],
    ["0001", "1"],
    ["0010", "0"],
    ["11110000", "0"],
    ["00001", "1"],
  ])("after the weeks %s, oldest first, the hour says %s", (weeks, says) => {
    const all = [...weeks].map((one, week) => bucket(MONDAY + week * WEEK, one === "1"));
    expect(knownHours(learned(all, MONDAY + 20 * WEEK))[0]).toBe(says);
  });
});

describe("whether it is meant to upload", () => {
  const schedule = known(learned(buckets(MONDAY, MONDAY + DAY, shop("UTC")), MONDAY + DAY + HOUR));

  test("as was learned, and unknown where nothing was", () => {
    expect(scheduleState(schedule, MONDAY + WEEK + 9 * HOUR, utc)).toBe("within");
    expect(scheduleState(schedule, MONDAY + WEEK + 21 * HOUR, utc)).toBe("outside");
    expect(scheduleState(schedule, MONDAY + DAY + 9 * HOUR, utc)).toBe("unknown");
  });

  test("as the service says of this very hour, whatever was learned", () => {
    const from = MONDAY + WEEK + 9 * HOUR;
    const closed = { ...schedule, served: [{ from, to: from + HOUR, withinSchedule: false }] };
    expect(scheduleState(closed, from, utc)).toBe("outside");
    expect(scheduleState(closed, from + HOUR - 1, utc)).toBe("outside");
    expect(scheduleState(closed, from + HOUR, utc), "it is over").toBe("within");
    expect(scheduleState(closed, from - 1, utc), "it has not begun").toBe("within");
  });

  test("how much of a span is within it, to the millisecond", () => {
    const [from, next] = [MONDAY + WEEK + 19.5 * HOUR, MONDAY + WEEK + 20 * HOUR];
    const span = (ms: number) => scheduledMs(schedule, { from, to: next + ms }, utc);
    expect([1 - HOUR / 2, 0, 3 * HOUR].map(span)).toEqual([1, HOUR / 2, HOUR / 2]);
    expect(scheduledMs(schedule, { from: MONDAY + WEEK, to: MONDAY + WEEK + 8 * HOUR + 240_000 }, utc)).toBe(240_000);
  });

  test("when it began", () => {
    expect(scheduleBegan(schedule, MONDAY + WEEK + 9.6 * HOUR, utc)).toBe(MONDAY + WEEK + 8 * HOUR);
    const always = known(
      learned(
        buckets(MONDAY, MONDAY + WEEK, () => true),
        MONDAY + WEEK + HOUR,
      ),
    );
    expect(scheduleBegan(always, MONDAY + WEEK, utc)).toBeUndefined();
  });
});

/** Three weeks that end where the clocks change, then the week after. */
describe.each([
  ["Europe/London", "2026-03-29T01:00:00Z", "forward"],
  ["Europe/London", "2026-10-25T01:00:00Z", "back"],
  ["America/New_York", "2026-11-01T06:00:00Z", "back"],
  ["Australia/Lord_Howe", "2026-04-04T15:00:00Z", "back by half an hour"],
  ["Asia/Kolkata", "2026-03-29T01:00:00Z", "never"],
])("in %s, where clocks go %3$s at %s", (zone, iso) => {
  const change = Date.parse(iso);
  const at = inZone(zone);
  const isOpen = shop(zone);

  test("the shop's hours stay the shop's hours", () => {
    const from = change - 3 * WEEK;
    const schedule = known(learned(buckets(from, change, isOpen, HOUR / 2), change + HOUR, zone), zone);
    for (let now = change; now < change + WEEK; now += HOUR / 4) {
      expect(scheduleState(schedule, now, at), new Date(now).toISOString()).toBe(isOpen(now) ? "within" : "outside");
    }
  });

  test("an hour that comes twice counts once", () => {
    const before = learned(buckets(change - 3 * WEEK, change - DAY, isOpen, HOUR / 2), change - DAY, zone);
    const day = buckets(change - DAY, change + 2 * DAY, isOpen, HOUR / 2);
    const once = learnSchedule(before, day, change + 2 * DAY, at);
    let step: LearnedSchedule | undefined = before;
    for (let now = change - DAY; now <= change + 2 * DAY; now += HOUR / 2) step = learnSchedule(step, day, now, at);
    expect(step).toEqual(once);
  });
});
