import fc from "fast-check";
import { expect, test } from "vitest";
import type { DigestEpisode, RecordingDigest } from "../../../src/digest/digest.ts";
import { digestPeriod, type PeriodName } from "../../../src/digest/period.ts";
import { renderDigestText } from "../../../src/digest/render/text.ts";
import { viewOf } from "../../../src/digest/render/view.ts";
import { addLoss, type LossTally, lostMs, noLoss } from "../../../src/report/tally.ts";
import { computeDigest, type DigestInput } from "../compute-digest.ts";
import { at, day, HOUR, hours, input, locationOffline, MINUTE, NOW, offline, subject } from "../fixtures.ts";

const LEEDS = "leeds-briggate";

function recordingsOf(over: Partial<DigestInput>): RecordingDigest[] {
  const { parts } = computeDigest(input({ recordings: [subject("a")], ...over }));
  return Object.values(parts).flatMap((groups) => groups.flatMap(({ recordings }) => recordings));
}

const lossOf = (over: Partial<DigestInput>) =>
  computeDigest(input({ recordings: [subject("a")], ...over })).totals.loss;

const serverOffline = (startsAt: number, endsAt: number): DigestEpisode => ({
  ...offline("", startsAt, endsAt),
  ...{ id: "server", problem: "camera_server_offline", subject: { kind: "group", id: "camera_server/server-1" } },
});

test.each([
  [
    "the location's where that has more recordings",
    { "location/leeds-briggate": 5, "camera_server/server-1": 2 },
    "location",
  ],
  [
    "the camera server's where that has more",
    { "location/leeds-briggate": 2, "camera_server/server-1": 5 },
    "camera_server",
  ],
  ["the location's where they are the same", {}, "location"],
])("an outage that alerts of both cover is %s", (_, sizes, cause) => {
  const [from, to] = [at("10:00"), at("11:00")];
  const episodes = [offline("a", from, to), serverOffline(from, to), locationOffline(LEEDS, from, to)];
  expect(lossOf({ episodes, groupSizes: new Map(Object.entries(sizes)) })).toEqual({
    ...noLoss(),
    recordings: 1,
    expectedMs: 24 * HOUR,
    knownMs: 24 * HOUR,
    [cause]: HOUR,
  });
});

test("an alert of the location explains outages that begin and end a few minutes apart, and no others", () => {
  const episodes = [
    offline("a", at("09:57"), at("11:04")),
    offline("a", at("13:00"), at("13:30")),
    locationOffline(LEEDS, at("10:00"), at("11:00")),
  ];
  expect(lossOf({ episodes })).toMatchObject({ location: 67 * MINUTE, recording: 30 * MINUTE });
  expect(lossOf({ episodes: [locationOffline(LEEDS, at("10:00"), at("11:00"))] })).toMatchObject({ location: 0 });
});

test("time that was not watched is known where the service has figures, and lost where they lack it", () => {
  const unwatched = [{ from: at("06:00"), to: at("12:00") }];
  const uptime = new Map([["a", [...hours(at("00:00"), Array(8).fill(1)), ...hours(at("08:00"), [0.5])]]]);
  expect(lossOf({ unwatched, uptime })).toMatchObject({ not_watched: 30 * MINUTE, knownMs: 21 * HOUR });
});

test("the digest names the causes, unless only single segments were lost", () => {
  const textOf = (over: Partial<DigestInput>) =>
    renderDigestText(
      viewOf(computeDigest(input({ recordings: [subject("a")], ...over })), { name: "d", externalUrl: undefined }, 10),
    );
  const down = textOf({
    episodes: [offline("a", at("10:00"), at("11:12")), offline("a", at("13:00"), at("14:00"))],
    maintenance: [{ name: "m", comment: "", matchers: [], windows: [{ from: at("13:00"), to: at("14:00") }] }],
  });
  expect(down).toContain("Lost time by cause: 2 h 12 m\n");
  expect(down).toContain("Single recordings: 1 h 12 m, 54.5 % of it\nPlanned work: 1 h, 45.4 % of it\n");
  expect(textOf({ uptime: new Map([["a", day(0.995)]]) })).not.toContain("Lost time by cause");
  expect(textOf({ uptime: new Map([["a", day(0.97)]]) })).toContain("Unknown: 43 m 12 s, 100 % of it");
});

test("segments that are missing without an outage have no known cause", () => {
  expect(lossOf({ uptime: new Map([["a", day(0.75)]]) })).toMatchObject({ unknown: 6 * HOUR, recording: 0 });
});

test("a recording of which there is no evidence has no known time", () => {
  const recordings = [subject("a", { status: "unknown", since: NOW })];
  expect(lossOf({ recordings })).toMatchObject({ knownMs: 0, expectedMs: 24 * HOUR });
});

const hourOf = fc.integer({ min: -60 * 24, max: 30 });
const spansOf = fc.array(fc.tuple(hourOf, fc.integer({ min: 1, max: 40 })), { maxLength: 4 });
const toSpans = (all: readonly (readonly [number, number])[]) =>
  all.map(([from, length]) => ({
    from: at("00:00") + from * 20 * MINUTE,
    to: at("00:00") + (from + length) * 20 * MINUTE,
  }));

const sumOf = (parts: readonly { loss: LossTally }[]) => parts.reduce((sum, { loss }) => addLoss(sum, loss), noLoss());

test("the outages' causes are the downtime of the digest, and the days of a week add up to it, across a change of clocks", () => {
  const timezone = "Europe/London";
  const now = Date.parse("2026-10-27T09:00:00Z");
  const shift = now - NOW;
  fc.assert(
    fc.property(
      spansOf,
      spansOf,
      spansOf,
      spansOf,
      fc.integer({ min: 0, max: 4 }),
      (down, wide, gaps, unwatched, ratio) => {
        const shifted = (all: typeof down) =>
          toSpans(all).map(({ from, to }) => ({ from: from + shift, to: to + shift }));
        const buckets = hours(at("00:00") + shift - 8 * 24 * HOUR - 8 * HOUR, Array(9 * 24).fill(ratio / 4));
        const of = (name: PeriodName, present = now) => {
          const over = {
            period: { ...digestPeriod(name, present, timezone) },
            now,
            timezone,
            episodes: [
              ...shifted(down).map(({ from, to }) => offline("a", from, to)),
              ...shifted(wide).map(({ from, to }) => locationOffline(LEEDS, from, to)),
            ],
            unreachable: shifted(gaps),
            unwatched: shifted(unwatched),
            uptime: new Map([["a", buckets]]),
          };
          return { period: over.period, recordings: recordingsOf(over) };
        };
        const week = of("1w");
        const [one] = week.recordings;
        if (!one) throw new Error("the recording is in no part");
        expect(one.loss.recording + one.loss.location + one.loss.camera_server).toBe(one.lostMs);
        expect(lostMs(one.loss)).toBeLessThanOrEqual(one.loss.knownMs);
        expect(week.period.to - week.period.from).toBe((7 * 24 + 1) * HOUR);
        const days = Array.from({ length: 7 }, (_, i) => of("1d", week.period.from + (i + 1.1) * 24 * HOUR + HOUR));
        expect({ ...sumOf(days.flatMap(({ recordings }) => recordings)), recordings: 1 }).toEqual(one.loss);
      },
    ),
    { numRuns: 25 },
  );
});
