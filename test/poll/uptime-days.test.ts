import fc from "fast-check";
import { expect, it } from "vitest";
import { createDailyBuckets } from "../../src/digest/figures.ts";
import { dayOf } from "../../src/lib/when.ts";
import { advance, calendarOf, firstDay } from "../../src/poll/uptime-days.ts";
import type { UptimeHistory } from "../../src/store/uptime-history.ts";
import { anUptimeBucket } from "../support/fixtures.ts";

const HOUR = 3_600_000;
const RETAIN = 72 * HOUR;
const LONDON = "Europe/London";

const bucket = anUptimeBucket;

const hours = (from: number, count: number, ratio = 1) =>
  Array.from({ length: count }, (_, i) => bucket(from + i * HOUR, ratio));

const AT = Date.parse("2026-03-10T09:00:00Z");
it.for<[string, string | undefined, string]>([
  ["nothing is known: all of the window", undefined, "2026-03-07"],
  ["yesterday is finished: today", "2026-03-09", "2026-03-10"],
  ["yesterday is not finished: from yesterday on", "2026-03-08", "2026-03-09"],
  ["nothing older than what is kept", "2026-01-01", "2026-03-07"],
  ["a clock that was ahead asks for today", "2026-03-20", "2026-03-10"],
])("%s", ([, finishedDay, expected]) => {
  const history = finishedDay === undefined ? undefined : { finishedDay, readFrom: "2026-01-01" };
  expect(firstDay(history, calendarOf(AT, "UTC", RETAIN))).toBe(expected);
});

it("days before the first that was read are asked for, once", () => {
  const asks = (readFrom: string | undefined, retainMs: number) =>
    firstDay({ finishedDay: "2026-03-09", readFrom }, calendarOf(AT, "UTC", retainMs));
  expect(asks("2026-03-08", RETAIN), "the oldest day that is kept as a whole").toBe("2026-03-10");
  expect(asks("2026-03-09", RETAIN)).toBe("2026-03-07");
  expect(asks("2026-03-08", 9 * 24 * HOUR)).toBe("2026-03-01");
  expect(asks("2026-03-02", 9 * 24 * HOUR)).toBe("2026-03-10");
  expect(asks(undefined, RETAIN), "it is not known").toBe("2026-03-07");
});

it("the days read without a gap, and kept, are known whatever was asked in which order", () => {
  const asked = fc.array(fc.record({ back: fc.nat(12), retain: fc.integer({ min: 3, max: 12 }), later: fc.nat(4) }));
  fc.assert(
    fc.property(asked, (rounds) => {
      let history: UptimeHistory | undefined;
      let now = AT;
      let read = new Set<string>();
      for (const { back, retain, later } of rounds) {
        now += later * 24 * HOUR;
        const calendar = calendarOf(now, "UTC", retain * 24 * HOUR);
        for (let day = 0; day <= back; day++) read.add(dayOf(now - day * 24 * HOUR, "UTC"));
        // A day is read once more after the service has finished it: until then it does not count for the next round.
        const counted = [...read].filter((day) => day >= calendar.oldestWhole);
        history = advance(history, { from: dayOf(now - back * 24 * HOUR, "UTC"), buckets: [] }, calendar);
        let first = now;
        while (counted.includes(dayOf(first - 24 * HOUR, "UTC"))) first -= 24 * HOUR;
        const today = dayOf(now, "UTC");
        expect((history.readFrom ?? "") >= dayOf(first, "UTC") && (history.readFrom ?? "") <= today).toBe(true);
        read = new Set(counted.filter((day) => day <= calendar.finishedDay));
      }
    }),
  );
});

it("days are those of the recording's zone", () => {
  const at = Date.parse("2026-03-10T23:30:00Z");
  expect([dayOf(at, "Asia/Tokyo"), dayOf(at, "America/Los_Angeles")]).toEqual(["2026-03-11", "2026-03-10"]);
  const history = { finishedDay: "2026-03-09", readFrom: "2026-03-08" };
  expect(firstDay(history, calendarOf(at, "Asia/Tokyo", RETAIN))).toBe("2026-03-10");
});

it("yesterday is finished from six o'clock local time on", () => {
  const finished = (iso: string) => calendarOf(Date.parse(iso), LONDON, RETAIN).finishedDay;
  expect(finished("2026-03-10T05:59:00Z")).toBe("2026-03-08");
  expect(finished("2026-03-10T06:00:00Z")).toBe("2026-03-09");
  expect(finished("2026-07-10T05:00:00Z")).toBe("2026-07-09");
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
    const start = begin + day * 24 * HOUR;
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

it("days stay packed as they were stored, until another one is over or read again", () => {
  const packedDays = ["days", ""] as const;
  const calendar = calendarOf(AT, "UTC", RETAIN);
  const ratio = { ratio: 0.5, segmentsExpected: 1 };
  const history = (finishedDay: string): UptimeHistory => ({
    buckets: hours(AT - 60 * HOUR, 50),
    days: { "2026-03-01": ratio },
    packedDays,
    finishedDay,
    readFrom: "2026-03-08",
  });
  const next = (finishedDay: string, from: string) =>
    advance(history(finishedDay), { from, buckets: hours(AT - 9 * HOUR, 9) }, calendar);
  expect(next("2026-03-09", "2026-03-10")).toMatchObject({ packedDays, days: { "2026-03-01": ratio } });
  for (const other of [next("2026-03-08", "2026-03-10"), next("2026-03-09", "2026-03-09")]) {
    expect(other.packedDays).toBeUndefined();
    expect(other.days).toMatchObject({ "2026-03-01": ratio, "2026-03-09": { ratio: 1 } });
  }
});

it("no data and time outside the schedule make no day", () => {
  const start = Date.parse("2026-03-09T00:00:00Z");
  const fresh = [bucket(start, undefined), bucket(start + HOUR, 0, { withinSchedule: false })];
  expect(advance(undefined, { from: "2026-03-07", buckets: fresh }, calendarOf(AT, "UTC", RETAIN)).days).toEqual({});
});

it("older days stand in where hours are not kept any more, never beside them", () => {
  const midnight = Date.parse("2026-03-28T00:00:00Z");
  const history: UptimeHistory = {
    buckets: hours(midnight + 24 * HOUR, 5),
    days: {
      "2026-03-27": { ratio: 0.25, segmentsExpected: 100 },
      "2026-03-28": { ratio: 0.5, segmentsExpected: 200 },
      "2026-03-29": { ratio: 0.75, segmentsExpected: 300 },
    },
    finishedDay: "2026-03-29",
  };
  const dailyBuckets = createDailyBuckets();
  const all = dailyBuckets(history, LONDON, midnight);
  expect(all.map(({ startAt, overallUptime }) => [startAt, overallUptime])).toEqual([
    [midnight, 0.5],
    ...hours(midnight + 24 * HOUR, 5).map(({ startAt }) => [startAt, 1]),
  ]);
  expect(all[0]).toMatchObject({ withinSchedule: true, segmentsExpected: 200 });
  expect(dailyBuckets(history, LONDON, midnight + 26 * HOUR)).toHaveLength(3);
});

it("a day of which only the last hours are kept is given as a day", () => {
  const midnight = Date.parse("2026-03-27T00:00:00Z");
  const history: UptimeHistory = {
    buckets: hours(midnight + 20 * HOUR, 28),
    days: { "2026-03-27": { ratio: 0.25, segmentsExpected: 100 }, "2026-03-28": { ratio: 0.5, segmentsExpected: 200 } },
    finishedDay: "2026-03-28",
  };
  const starts = createDailyBuckets()(history, LONDON, 0).map(({ startAt }) => (startAt - midnight) / HOUR);
  expect(starts).toEqual([0, ...Array.from({ length: 24 }, (_, i) => 24 + i)]);
});

it("a day's bucket begins at its local midnight, also after a clock change", () => {
  const history: UptimeHistory = {
    buckets: [],
    days: { "2026-03-29": { ratio: 1, segmentsExpected: 1 }, "2026-03-30": { ratio: 1, segmentsExpected: 1 } },
    finishedDay: undefined,
  };
  const starts = createDailyBuckets()(history, LONDON, 0).map(({ startAt }) => new Date(startAt).toISOString());
  expect(starts).toEqual(["2026-03-29T00:00:00.000Z", "2026-03-29T23:00:00.000Z"]);
});

it("gives no bucket from `to` on, and leaves hours packed where all are later", () => {
  const midnight = Date.parse("2026-03-27T00:00:00Z");
  const days = {
    "2026-03-27": { ratio: 0.25, segmentsExpected: 1 },
    "2026-03-28": { ratio: 0.5, segmentsExpected: 1 },
  };
  const buckets = hours(midnight + 48 * HOUR, 5);
  const startsUntil = (history: Pick<UptimeHistory, "buckets" | "hoursFrom">, to: number) =>
    createDailyBuckets()({ ...history, days, finishedDay: undefined }, LONDON, 0, to).map(
      ({ startAt }) => (startAt - midnight) / HOUR,
    );
  expect(startsUntil({ buckets }, midnight + 50 * HOUR)).toEqual([0, 24, 48, 49]);
  expect(startsUntil({ buckets }, midnight + 24 * HOUR)).toEqual([0]);
  const packed: UptimeHistory = {
    ...{ days, finishedDay: undefined, hoursFrom: midnight + 48 * HOUR },
    get buckets(): never {
      throw new Error("unpacked");
    },
  };
  expect(createDailyBuckets()(packed, LONDON, 0, midnight + 48 * HOUR)).toHaveLength(2);
});
