import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DigestEpisode } from "../../../src/digest/digest.ts";
import { digestPeriod, type PeriodName } from "../../../src/digest/period.ts";
import { keyFigures, notes } from "../../../src/digest/render/view.ts";
import { computeDigest, type DigestInput } from "../compute-digest.ts";
import { at, day, HOUR, hours, input, MINUTE, NOW, offline, subject } from "../fixtures.ts";

const WEDNESDAY = "2026-11-18T00:00:00Z";

/** Thursday's digest, with the Wednesday before it. */
function thursday(over: Partial<DigestInput> = {}, isWatched = true): DigestInput {
  const period = digestPeriod("1d", NOW, "Europe/London");
  return input({ before: { period: digestPeriod("1d", period.from, "Europe/London"), isWatched }, ...over });
}

const bothDays = (wednesday: number) => [...hours(at(WEDNESDAY), Array(24).fill(wednesday)), ...day(1)];

describe("the day before", () => {
  const recordings = [subject("a"), subject("b")];
  const uptime = new Map([
    ["a", bothDays(0.5)],
    ["b", bothDays(0.9)],
  ]);
  const episodes = [
    offline("a", at("2026-11-18T10:00:00Z"), at("2026-11-18T12:00:00Z")),
    offline("a", at("2026-11-18T23:00:00Z"), at("01:00")),
    offline("b", at("14:00"), at("14:20")),
  ];

  test("is compared with: uptime, lost time, outages and recovery, each by the day in which it was", () => {
    const { totals, before, locations, incidents } = computeDigest(thursday({ recordings, uptime, episodes }));
    expect(before?.uptime).toBeCloseTo(0.7);
    expect(before).toMatchObject({ lostMs: 3 * HOUR, incidents: 2, recoveryMs: 2 * HOUR });
    expect(totals).toMatchObject({ lostMs: 80 * MINUTE, recoveryMs: 70 * MINUTE, uptime: 1 });
    expect(incidents).toHaveLength(2);
    expect(locations[0]?.uptimeBefore).toBeCloseTo(0.7);
  });

  test("has no outages to compare with where it was not watched: only figures are compared", () => {
    const digest = computeDigest(thursday({ recordings, uptime, episodes }, false));
    expect(digest.before).toMatchObject({ lostMs: undefined, incidents: undefined, recoveryMs: undefined });
    expect(keyFigures(digest).map(({ was }) => was)).toEqual(["was 70 %", "", "", ""]);
    expect(notes(digest)).toContain(`"Was" is the day before, as far as it was watched.`);
  });

  test.each([
    ["began in the middle of it", hours(at(WEDNESDAY) + 13 * HOUR, Array(35).fill(1))],
    ["began after it", day(1)],
    ["never began", []],
  ])("is a blank where figures %s", (_, buckets) => {
    const digest = computeDigest(thursday({ recordings: [subject("a")], uptime: new Map([["a", buckets]]), episodes }));
    expect(digest.before).toEqual({
      uptime: undefined,
      lostMs: undefined,
      incidents: undefined,
      recoveryMs: undefined,
    });
    expect(digest.locations[0]?.uptimeBefore).toBeUndefined();
    expect(keyFigures(digest).map(({ was }) => was)).toEqual(["", "", "", ""]);
    expect(notes(digest)).toContain("No comparison with the day before: it was not watched in full.");
  });

  test("is a blank where the fleet was another one", () => {
    const newcomers = Array.from({ length: 12 }, (_, i) => subject(`n${i}`));
    const figures = (n: number) =>
      new Map([...newcomers.slice(0, n).map(({ recording: { id } }) => [id, day(1)] as const)]);
    const old = Array.from({ length: 18 }, (_, i) => subject(`o${i}`));
    const known = new Map(old.map(({ recording: { id } }) => [id, bothDays(1)] as const));
    const uptimeBefore = (n: number) =>
      computeDigest(
        thursday({ recordings: [...old, ...newcomers.slice(0, n)], uptime: new Map([...known, ...figures(n)]) }),
      ).before?.uptime;
    expect(uptimeBefore(2)).toBe(1);
    expect(uptimeBefore(3)).toBeUndefined();
  });
});

test("figures of the period before equal those of its own digest", () => {
  const outage = fc.record({
    recording: fc.constantFrom("a", "b", "c"),
    from: fc.integer({ min: 0, max: 20 * 24 * 60 }),
    length: fc.integer({ min: 1, max: 3 * 24 * 60 }),
    reason: fc.constantFrom("recovered" as const, "expired" as const),
  });
  const name = fc.constantFrom<PeriodName>("1d", "1w");
  const zone = fc.constantFrom("Europe/London", "America/New_York", "Asia/Kathmandu");
  // The clocks go back in both places on these days of autumn.
  const now = Date.parse("2026-11-02T07:00:00Z");
  const beginning = now - 21 * 24 * HOUR;
  const recordings = ["a", "b", "c"].map((id) => subject(id));
  const uptime = new Map(
    recordings.map(({ recording: { id } }, i) => [
      id,
      hours(
        beginning,
        Array.from({ length: 21 * 24 }, (_, hour) => ((hour * 7 + i * 13) % 100) / 100),
      ),
    ]),
  );
  fc.assert(
    fc.property(fc.array(outage, { maxLength: 12 }), name, zone, (outages, periodName, timezone) => {
      const episodes = outages.map(({ recording, from, length, reason }): DigestEpisode => {
        const startsAt = beginning + from * MINUTE;
        const endsAt = Math.min(startsAt + length * MINUTE, now - MINUTE);
        return { ...offline(recording, startsAt, endsAt), endReason: reason };
      });
      const period = digestPeriod(periodName, now, timezone);
      const before = digestPeriod(periodName, period.from, timezone);
      const base = { recordings, uptime, episodes, timezone, now };
      const later = computeDigest(input({ ...base, period, before: { period: before, isWatched: true } }));
      const { totals, incidents } = computeDigest(input({ ...base, period: before }));
      expect(later.before).toEqual({
        uptime: totals.uptime,
        lostMs: totals.lostMs,
        incidents: incidents.length,
        recoveryMs: totals.recoveryMs,
      });
    }),
    { numRuns: 30 },
  );
});

test("unwatched time is noted below the figures", () => {
  const unwatched = [{ from: at("2026-11-17T00:00:00Z"), to: at("09:13") }];
  expect(notes(computeDigest(input({ unwatched })))).toContain(
    "lenswatch did not watch 00:00–09:13: outages then are unknown.",
  );
});
