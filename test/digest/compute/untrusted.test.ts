import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shortfall, withEntries } from "../../../src/digest/compute/untrusted.ts";
import type { Digest, DigestScope, RecordingFigures } from "../../../src/digest/digest.ts";
import { digestPeriod } from "../../../src/digest/period.ts";
import type { UptimeBucket } from "../../../src/health/recording.ts";
import { digestWith } from "../compute-digest.ts";
import { at, HOUR, hours, input, subject } from "../fixtures.ts";

const DAY = 24 * HOUR;
const NOW = at("2026-11-23T08:00:00Z");
const WEEK = digestPeriod("1w", NOW, "Europe/London");

/** A bucket a day that ends with Sunday, 22 November; a hole where there is no figure. */
function days(ratios: readonly (number | undefined)[]): UptimeBucket[] {
  const first = at("2026-11-23T00:00:00Z") - ratios.length * DAY;
  return ratios.flatMap((ratio, i) =>
    ratio === undefined ? [] : hours(first + i * DAY, [ratio], { segmentsExpected: 1440 }),
  );
}

function digestOf(
  figures: Readonly<Record<string, RecordingFigures>>,
  over: Partial<DigestScope> & { timezone?: string; place?: { timezone: string } } = {},
): Digest {
  return digestWith(
    input({ period: WEEK, now: NOW, ...over }),
    Object.entries(figures).map(([id, its]) => [subject(id, over.place), its]),
  );
}

const dates = ({ untrusted }: Digest) => untrusted.map(({ date, uptime }) => [date.slice(8), uptime]);

describe("a location's day is untrusted", () => {
  test("below the threshold, in all of its recordings together", () => {
    const digest = digestOf({
      a: { buckets: days([1, 1, 0.8, 1, 0.79, 1, 1]) },
      b: { buckets: days([1, 1, 1, 1, 1, 1, 1]) },
    });
    expect(dates(digest)).toEqual([["20", expect.closeTo(0.895)]]);
    const strict = digestOf({ a: { buckets: days([1, 1, 0.8, 1, 0.79, 1, 1]) } }, { untrustedBelow: 0.8 });
    expect(dates(strict)).toEqual([["20", expect.closeTo(0.79)]]);
  });

  test("without figures, but only after the first figures", () => {
    const digest = digestOf({ a: { buckets: days([1, undefined, 1]) } });
    expect(dates(digest)).toEqual([["21", undefined]]);
    expect(dates(digestOf({ a: { buckets: [] } }))).toEqual([]);
    const first = hours(at("2026-11-18T00:00:00Z"), [undefined]);
    expect(dates(digestOf({ a: { buckets: [...first, ...days([1, undefined, 1])] } }))).toEqual([["21", undefined]]);
  });

  test("not where all of it is outside the schedule, as reported or as learned", () => {
    const reported = days([1, 1, 1, 1, 1, undefined, undefined]);
    const closed = hours(at("2026-11-21T00:00:00Z"), Array(48).fill(0), { withinSchedule: false });
    expect(dates(digestOf({ a: { buckets: [...reported, ...closed] } }))).toEqual([]);
    const scheduleHours = "1".repeat(120) + "0".repeat(48);
    expect(dates(digestOf({ a: { buckets: reported, scheduleHours } }))).toEqual([]);
    expect(dates(digestOf({ a: { buckets: reported } }))).toEqual([
      ["21", undefined],
      ["22", undefined],
    ]);
  });

  test("only once it is over where the location is", () => {
    const place = { timezone: "America/Los_Angeles" };
    // Monday, 00:10 in London; in Los Angeles it is Sunday afternoon.
    const now = at("2026-11-23T00:10:00Z");
    const period = digestPeriod("1w", now, "Europe/London");
    const buckets = hours(at("2026-11-21T08:00:00Z"), Array(40).fill(0.2));
    expect(dates(digestOf({ a: { buckets } }, { now, period, place }))).toEqual([["21", 0.2]]);
  });
});

describe("days like it", () => {
  test("are the same weekday of eight weeks, newest first, without those that were as bad", () => {
    const ratios: (number | undefined)[] = Array(63).fill(1);
    ratios[62] = 0.3;
    ratios[55] = 0.5;
    ratios[48] = undefined;
    const [sunday] = digestOf({ a: { buckets: days(ratios) } }).untrusted;
    expect(sunday?.alike).toEqual([
      "2026-11-08",
      "2026-11-01",
      "2026-10-25",
      "2026-10-18",
      "2026-10-11",
      "2026-10-04",
      "2026-09-27",
    ]);
  });

  const digest = digestOf({ a: { buckets: days([1, 0.3]) } });
  const usualOf = (counts: readonly (number | undefined)[]) => {
    const alike = digest.untrusted[0]?.alike ?? [];
    const past = new Map(counts.map((n, i) => [alike[i] ?? "", n]));
    return withEntries(digest, new Map([["leeds-briggate", past]]), "had").untrusted[0]?.usual;
  };

  test.each<[readonly (number | undefined)[], number | undefined]>([
    [[10, 20, 30, 40], 25],
    [[10, 20, 30, 40, 50], 30],
    [[10, 20, undefined, 40, 50], 30],
    [[0, 0, 0, 0], 0],
    [[10, 21, 20, 40], 21],
    [[10, 20, 30], undefined],
    [[undefined, 10, 20, undefined, 30], undefined],
  ])("counting %j are usually %s", (counts, usual) => {
    expect(usualOf(counts)).toBe(usual);
  });

  test("have a usual count that lies among theirs, whatever their order", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(100_000), { minLength: 4, maxLength: 8 }), (counts) => {
        const usual = usualOf(counts) ?? Number.NaN;
        expect(usual).toBe(usualOf(counts.toReversed()));
        expect(usual).toBeGreaterThanOrEqual(Math.min(...counts));
        expect(usual).toBeLessThanOrEqual(Math.max(...counts));
        const above = counts.filter((n) => n > usual).length;
        const below = counts.filter((n) => n < usual).length;
        expect(Math.max(above, below)).toBeLessThanOrEqual(counts.length / 2);
      }),
    );
  });
});

test.each<[number | undefined, number | undefined, number | undefined]>([
  [40, 100, 60],
  [0, 100, 100],
  [100, 100, undefined],
  [120, 100, undefined],
  [undefined, 100, undefined],
  [40, undefined, undefined],
])("%s counted of usually %s is short by %s", (entries, usual, short) => {
  expect(shortfall({ entries, usual })).toBe(short);
});
