import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { noteOnline, type OnlineSpan } from "../../src/health/online-span.ts";
import type { UptimeBucket } from "../../src/health/recording.ts";
import {
  guiltyFactor,
  mergeBuckets,
  onlineArrived,
  ratioBetween,
  unrecordedIn,
  uptimeRetentionMs,
  windowArrived,
  windowUptime,
} from "../../src/health/uptime.ts";
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
  /** However little of the window there is: what it has to stand on is in uptime-evidence.test.ts. */
  const at = (now: number, overMs = DAY) => ({ now, overMs, scheduled: 0 });

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

test("what did not arrive is no outage before it must have come, whatever is expected of an hour that runs", () => {
  const buckets = [60, 20, 20].map((segmentsReceived, i) =>
    bucket(START + i * HOUR, 1, { segmentsExpected: 60, segmentsReceived }),
  );
  const [lost, runs] = [START + HOUR, START + 2 * HOUR];
  const before = { from: lost, to: runs };
  expect(unrecordedIn(buckets, runs + 10 * MINUTE)).toEqual([{ from: lost, to: runs - 5 * MINUTE }]);
  expect(unrecordedIn(buckets, runs + 20 * MINUTE)).toEqual([before, { from: runs, to: runs + 5 * MINUTE }]);
  expect(unrecordedIn(buckets, runs + DAY)).toEqual([before, { from: runs, to: runs + HOUR }]);
});

test("a day's ratio counts its buckets from its first instant to before the next day's", () => {
  const buckets = hourly(0, 1, 0.5, 0);
  expect(ratioBetween(buckets, { from: START + HOUR, to: START + 3 * HOUR })).toBe(0.75);
  expect(ratioBetween(buckets, { from: START - DAY, to: START })).toBeUndefined();
});

describe("segments while a recording was online", () => {
  const NOW = START + 12 * HOUR + 16 * MINUTE;
  /** Twelve hours until START + 12 h, the last of them with these segments. */
  const day = (last: Partial<UptimeBucket>) => [
    ...Array.from({ length: 11 }, (_, i) => bucket(START + i * HOUR, 1, { segmentsReceived: 60 })),
    bucket(START + 11 * HOUR, 0, { segmentsReceived: 0, ...last }),
    bucket(START + 12 * HOUR, 0, { segmentsExpected: 16, segmentsReceived: 16 }),
  ];
  const over = (overMs: number, buckets: UptimeBucket[], now = NOW) =>
    onlineArrived(buckets, { now, overMs, onlineSince: START });

  test("are those of the last full buckets", () => {
    expect(over(HOUR, day({}))).toBe(0);
    expect(over(HOUR, day({ segmentsReceived: 3 }))).toBe(0.05);
    expect(over(3 * HOUR, day({ segmentsReceived: 0 }))).toBeCloseTo(2 / 3, 12);
    expect(over(HOUR, day({}), NOW - 2 * MINUTE), "the hour before: not settled").toBe(1);
    expect(over(HOUR, day({}), NOW + 58 * MINUTE)).toBe(0);
  });

  test.each<[string, UptimeBucket[], { now?: number; onlineSince?: number | undefined }]>([
    ["where it came online within them", day({}), { onlineSince: START + 11 * HOUR + 1 }],
    ["where it is not known when it came online", day({}), { onlineSince: undefined }],
    ["where the service has no newer buckets", day({}), { now: NOW + 3 * HOUR }],
    ["of a bucket without data", day({ segmentsReceived: undefined }), {}],
    ["where none is expected", day({ segmentsExpected: 0 }), {}],
    ["outside the schedule", day({ withinSchedule: false }), {}],
    ["where less than half of the hour is within the schedule", day({ segmentsExpected: 20 }), {}],
    ["without buckets", [], {}],
  ])("are not known %s", (_, buckets, more) => {
    expect(onlineArrived(buckets, { now: NOW, overMs: HOUR, onlineSince: START, ...more })).toBeUndefined();
  });

  test("shifting all times changes nothing", () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(60), { minLength: 3, maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        fc.nat(3 * 60),
        fc.integer({ min: -1_000_000, max: 1_000_000 }),
        (received, hours, minutes, shift) => {
          const at = (shiftMs: number) => {
            const buckets = received.map((n, i) => bucket(START + shiftMs + i * HOUR, n / 60, { segmentsReceived: n }));
            const now = START + shiftMs + received.length * HOUR + minutes * MINUTE;
            const window = { now, overMs: hours * HOUR };
            return [
              onlineArrived(buckets, { ...window, onlineSince: START + shiftMs }),
              windowArrived(buckets, window),
            ];
          };
          expect(at(shift * MINUTE)).toEqual(at(0));
        },
      ),
      { seed: 1, numRuns: 100 },
    );
  });
});

const OFTEN = { statusIntervalMs: MINUTE, uptimeIntervalMs: 10 * MINUTE };

describe("the time a recording was seen online", () => {
  const online = (since: number, readAt: number) => ({ status: "online" as const, since, readAt });
  /** A refresh at each interval from START. */
  const refreshes = (states: (Parameters<typeof noteOnline>[1] | "none")[], every = OFTEN) => {
    let span: OnlineSpan | undefined;
    for (const [i, state] of states.entries()) {
      if (state !== "none") span = noteOnline(span, state, START + i * every.uptimeIntervalMs, every);
    }
    return span && span.from - START;
  };
  const long = (i: number) => online(START - DAY, START + i * 10 * MINUTE);

  test("begins with the first refresh that saw it, and goes on from one to the next", () => {
    expect(refreshes([long(0)])).toBe(0);
    expect(refreshes([long(0), long(1), long(2)])).toBe(0);
    expect(refreshes([long(0), "none", "none", long(3)])).toBe(0);
  });

  test("goes on where statuses and uptime are read once an hour", () => {
    const every = { statusIntervalMs: HOUR, uptimeIntervalMs: HOUR };
    const read = (i: number) => online(START - DAY, START + (i - 0.5) * HOUR);
    expect(refreshes([read(0), read(1), read(2)], every)).toBe(0);
    expect(refreshes([read(0), "none", read(2)], every)).toBe(2 * HOUR);
  });

  test.each<[string, (Parameters<typeof noteOnline>[1] | "none")[], number | undefined]>([
    ["a refresh that saw it offline", [long(0), { ...long(1), status: "offline" }, long(2)], 20 * MINUTE],
    ["a refresh without a new reading", [long(0), long(1), long(0), long(3)], 30 * MINUTE],
    [
      "a change between two refreshes",
      [long(0), long(1), online(START + 15 * MINUTE, START + 20 * MINUTE)],
      20 * MINUTE,
    ],
    ["too long without a refresh", [long(0), "none", "none", "none", long(4)], 40 * MINUTE],
    ["its absence", [long(0), long(1), undefined], undefined],
  ])("ends with %s", (_, states, from) => {
    expect(refreshes(states)).toBe(from);
  });
});

describe("a recording that lenswatch watches with gaps", () => {
  const HOURS = 12;
  /** Minutes from and to. */
  const spans = fc.array(
    fc
      .tuple(fc.nat(HOURS * 60), fc.integer({ min: 1, max: 150 }))
      .map(([from, length]) => [from, from + length] as const),
    { maxLength: 6 },
  );
  const isIn = (all: readonly (readonly [number, number])[], minute: number) =>
    all.some(([from, to]) => minute >= from && minute < to);

  /** The lowest figure of all refreshes, where sweeps and refreshes see the truth of each minute but in `unwatched`. */
  function lowest(offline: readonly (readonly [number, number])[], unwatched: typeof offline, silent: typeof offline) {
    const delivers = (minute: number) => !isIn(offline, minute) && !isIn(silent, minute);
    let state = { status: "online" as "online" | "offline", since: START, readAt: START };
    let span: OnlineSpan | undefined;
    const figures: number[] = [];
    for (let minute = 0; minute < HOURS * 60; minute++) {
      const now = START + minute * MINUTE;
      if (isIn(unwatched, minute)) continue;
      const status = isIn(offline, minute) ? "offline" : "online";
      state = { status, since: status === state.status ? state.since : now, readAt: now };
      if (minute % 10 !== 3) continue;
      span = noteOnline(span, state, now, OFTEN);
      const buckets = Array.from({ length: Math.ceil((minute + 1) / 60) }, (_, hour) => {
        const due = Math.min(60, minute - hour * 60);
        const segmentsReceived = Array.from({ length: due }, (_, i) => hour * 60 + i).filter(delivers).length;
        return bucket(START + hour * HOUR, segmentsReceived / due, { segmentsExpected: due, segmentsReceived });
      });
      const figure = onlineArrived(buckets, { now, overMs: HOUR, onlineSince: span?.from });
      if (figure !== undefined) figures.push(figure);
    }
    return Math.min(...figures);
  }

  test("is never said to lack segments for the time it was offline, seen or not", () => {
    const holds = fc.property(spans, spans, (offline, unwatched) => {
      expect(lowest(offline, unwatched, [])).toBeGreaterThanOrEqual(0.5);
    });
    fc.assert(holds, { seed: 1, numRuns: 50 });
  });

  test("is found within two and a half hours of its last segment", () => {
    const holds = fc.property(fc.nat(60 * (HOURS - 3)), (from) => {
      expect(lowest([], [], [[from, from + 150]])).toBe(0);
    });
    fc.assert(holds, { seed: 1, numRuns: 30 });
  });
});

test("an uptime names what it is lost to, where its figures agree", () => {
  const named = [
    [0.9, 0.9],
    [0.9, 0.91],
    [0.9, 1],
    [0.8, 0.9],
    [0.9, 0.5],
    [1, 1],
    [0.9, 1.2],
  ].map(([uptime, arrived]) => guiltyFactor(uptime, arrived));
  const [missing, bad] = ["segments missing", "segments bad"];
  expect(named).toEqual([missing, missing, bad, "segments missing and bad", undefined, undefined, undefined]);
  expect([guiltyFactor(undefined, 1), guiltyFactor(0.5, undefined)]).toEqual([undefined, undefined]);
});

test("the segments of a window are those of the buckets that its uptime is made of", () => {
  const arrived = (n: number) => ({ segmentsReceived: n });
  const buckets = [
    bucket(START, 1, arrived(60)),
    bucket(START + HOUR, 0.2, arrived(30)),
    bucket(START + 2 * HOUR, 0, { ...arrived(0), withinSchedule: false }),
    bucket(START + 3 * HOUR, undefined, arrived(0)),
  ];
  const window = { now: START + 5 * HOUR, overMs: DAY, scheduled: 0 };
  expect(windowArrived(buckets, window)).toBe(0.75);
  expect(guiltyFactor(windowUptime(buckets, window), windowArrived(buckets, window))).toBe("segments missing and bad");
  const unknown = bucket(START + 3 * HOUR, 1);
  expect(windowArrived([...buckets.slice(0, 3), unknown], window), "one without a number").toBeUndefined();
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
