import fc from "fast-check";
import { expect, it } from "vitest";
import { createDailyBuckets } from "../../src/digest/figures.ts";
import { dayOf } from "../../src/lib/when.ts";
import { advance, calendarOf, firstDay } from "../../src/poll/uptime-days.ts";
import type { UptimeHistory } from "../../src/store/uptime-history.ts";
import { HOUR } from "../store/fixtures.ts";
import { anUptimeBucket as bucket } from "../support/fixtures.ts";
import { DAY } from "./rig.ts";

const RETAIN = 3 * DAY;
const LONDON = "Europe/London";

const hours = (from: number, count: number, ratio = 1) =>
  Array.from({ length: count }, (_, i) => bucket(from + i * HOUR, ratio));

const AT = Date.parse("2026-03-10T09:00:00Z");
it.for<[what: string, finishedDay: string | undefined, readFrom: string | undefined, first: string, days?: number]>([
  ["nothing is known: all of the window", undefined, undefined, "2026-03-07"],
  ["yesterday is finished: today", "2026-03-09", "2026-01-01", "2026-03-10"],
  ["yesterday is not finished: from yesterday on", "2026-03-08", "2026-01-01", "2026-03-09"],
  ["nothing older than what is kept", "2026-01-01", "2026-01-01", "2026-03-07"],
  ["a clock that was ahead asks for today", "2026-03-20", "2026-01-01", "2026-03-10"],
  ["the oldest day that is kept as a whole was read", "2026-03-09", "2026-03-08", "2026-03-10"],
  ["it was not", "2026-03-09", "2026-03-09", "2026-03-07"],
  ["the first that was read is not known", "2026-03-09", undefined, "2026-03-07"],
  ["more days are kept", "2026-03-09", "2026-03-08", "2026-03-01", 9],
])("%s", ([, finishedDay, readFrom, first, days = 3]) => {
  expect(firstDay({ finishedDay, readFrom }, calendarOf(AT, "UTC", days * DAY))).toBe(first);
});

it("the days read without a gap, and kept, are known whatever was asked in which order", () => {
  const asked = fc.array(fc.record({ back: fc.nat(12), retain: fc.integer({ min: 3, max: 12 }), later: fc.nat(4) }));
  fc.assert(
    fc.property(asked, (rounds) => {
      let history: UptimeHistory | undefined;
      let now = AT;
      let read = new Set<string>();
      for (const { back, retain, later } of rounds) {
        now += later * DAY;
        const calendar = calendarOf(now, "UTC", retain * DAY);
        for (let day = 0; day <= back; day++) read.add(dayOf(now - day * DAY, "UTC"));
        // A day is read once more after the service has finished it: until then it does not count for the next round.
        const counted = [...read].filter((day) => day >= calendar.oldestWhole);
        history = advance(history, { from: dayOf(now - back * DAY, "UTC"), buckets: [] }, calendar);
        let first = now;
        while (counted.includes(dayOf(first - DAY, "UTC"))) first -= DAY;
        const today = dayOf(now, "UTC");
        expect((history.readFrom ?? "") >= dayOf(first, "UTC") && (history.readFrom ?? "") <= today).toBe(true);
        read = new Set(counted.filter((day) => day <= calendar.finishedDay));
      }
    }),
  );
});

it("days are those of the recording's zone, and yesterday is finished from six o'clock there on", () => {
  const daysAt = (iso: string, zone = LONDON) => {
    const { today, finishedDay } = calendarOf(Date.parse(iso), zone, RETAIN);
    return [today, finishedDay].map((day) => day.slice(5));
  };
  expect(daysAt("2026-03-10T23:30:00Z", "Asia/Tokyo")).toEqual(["03-11", "03-10"]);
  expect(daysAt("2026-03-10T23:30:00Z", "America/Los_Angeles")).toEqual(["03-10", "03-09"]);
  expect(daysAt("2026-03-10T05:59:00Z")).toEqual(["03-10", "03-08"]);
  expect(daysAt("2026-07-10T05:00:00Z")).toEqual(["07-10", "07-09"]);
});

it("yesterday is read until its hours have settled, once more when it is finished, and figures span it meanwhile", () => {
  const midnight = Date.parse("2026-03-10T00:00:00Z");
  let history: UptimeHistory | undefined;
  const asked = [-4, 0, 1.9, 2, 2.2, 5.9, 6, 6.2, 24, 26, 27].map((hour) => {
    const calendar = calendarOf(midnight + hour * HOUR, "UTC", RETAIN);
    const from = firstDay(history, calendar);
    history = advance(history, { from, buckets: hours(Date.parse(from), 5) }, calendar);
    expect(history.readFrom, `at ${hour}`).toBe(calendar.oldestWhole);
    return from.slice(-2);
  });
  expect(asked).toEqual(["06", "09", "09", "09", "10", "10", "09", "10", "10", "10", "11"]);
  expect(firstDay(history, calendarOf(midnight + 54 * HOUR, "UTC", RETAIN)), "the day after").toBe("2026-03-10");
});

it.for([
  ["spring forward, 23 hours", "2026-03-29", 23],
  ["fall back, 25 hours", "2026-10-25", 25],
  ["any other day", "2026-06-10", 24],
] as const)("a day is one ratio of all its hours: %s", ([, day, count]) => {
  const start = new Date(`${day}T00:00:00Z`).getTime() - (day === "2026-03-29" ? 0 : HOUR);
  const fresh = [
    ...hours(start - HOUR, 1, 0),
    ...hours(start, count - 1),
    bucket(start + (count - 1) * HOUR, 0),
    bucket(start + count * HOUR, 0),
  ];
  const calendar = calendarOf(start + count * HOUR + 10 * HOUR, LONDON, RETAIN);
  const { days } = advance(undefined, { from: day, buckets: fresh }, calendar);
  expect(days[day]?.ratio).toBeCloseTo((count - 1) / count, 10);
  expect(days[day]?.segmentsExpected).toBe(60 * count);
});

it("a day read again replaces its ratio; days outlive their hours, 62 of them", () => {
  let history: UptimeHistory | undefined;
  const begin = Date.parse("2026-01-01T00:00:00Z");
  for (let day = 0; day < 70; day++) {
    const start = begin + day * DAY;
    const fresh = (ratio: number) => ({ from: dayOf(start, "UTC"), buckets: hours(start, 24, ratio) });
    history = advance(history, fresh(0.5), calendarOf(start + 31 * HOUR, "UTC", RETAIN));
    history = advance(history, fresh(0.9), calendarOf(start + 32 * HOUR, "UTC", RETAIN));
  }
  expect(Object.keys(history?.days ?? {})).toHaveLength(62);
  expect(history?.days["2026-03-11"]?.ratio).toBeCloseTo(0.9);
  expect(history?.days["2026-01-01"]).toBeUndefined();
  expect(history?.buckets.length).toBeLessThanOrEqual(72);
  expect(history?.finishedDay).toBe("2026-03-11");
});

it("no data and time outside the schedule make no day", () => {
  const start = Date.parse("2026-03-09T00:00:00Z");
  const fresh = [bucket(start, undefined), bucket(start + HOUR, 0, { withinSchedule: false })];
  expect(advance(undefined, { from: "2026-03-07", buckets: fresh }, calendarOf(AT, "UTC", RETAIN)).days).toEqual({});
});

/** Buckets begin so many hours after the midnight with which the first of these days begins, of the given ratios. */
function startsOf(history: Pick<UptimeHistory, "days" | "buckets">, from = 0, to?: number) {
  const midnight = Date.parse(`${Object.keys(history.days).sort()[0]}T00:00:00Z`);
  return createDailyBuckets()({ ...history, finishedDay: undefined }, LONDON, from, to).map(
    ({ startAt, overallUptime }) => [(startAt - midnight) / HOUR, overallUptime],
  );
}
const daysFrom = (first: string, ...ratios: number[]) =>
  Object.fromEntries(
    ratios.map((ratio, i) => [dayOf(Date.parse(first) + i * DAY, "UTC"), { ratio, segmentsExpected: 7 }]),
  );
const MARCH_27 = Date.parse("2026-03-27T00:00:00Z");
const kept = { days: daysFrom("2026-03-27", 0.25, 0.5, 0.75), buckets: hours(MARCH_27 + 48 * HOUR, 5) };
const five = (first: number) => [0, 1, 2, 3, 4].map((i) => [first + i, 1]);

it("older days stand in where hours are not kept any more, never beside them, within the span", () => {
  expect(startsOf(kept, MARCH_27 + DAY)).toEqual([[24, 0.5], ...five(48)]);
  expect(startsOf(kept, MARCH_27 + 50 * HOUR)).toEqual(five(48).slice(2));
  expect(startsOf(kept, 0, MARCH_27 + 49 * HOUR)).toEqual([
    [0, 0.25],
    [24, 0.5],
    [48, 1],
  ]);
  const [day] = createDailyBuckets()({ ...kept, finishedDay: undefined }, LONDON, MARCH_27);
  expect(day).toMatchObject({ withinSchedule: true, segmentsExpected: 7 });
});

it("a day of which only the last hours are kept is given as a day", () => {
  const partly = { days: daysFrom("2026-03-27", 0.25, 0.5), buckets: hours(MARCH_27 + 43 * HOUR, 10) };
  expect(startsOf(partly)).toEqual([[0, 0.25], [24, 0.5], ...five(48)]);
});

it("a day's bucket begins at its local midnight, also after a clock change", () => {
  expect(startsOf({ days: daysFrom("2026-03-29", 1, 1), buckets: [] })).toEqual([
    [0, 1],
    [23, 1],
  ]);
});
