import fc from "fast-check";
import { expect, test } from "vitest";
import { digestPeriod } from "../../../src/digest/period.ts";
import { MAX_SUBJECT, subjectOf } from "../../../src/digest/render/subject.ts";
import { computeDigest, type DigestInput } from "../compute-digest.ts";
import { at, day, input, locationOffline, NOW, offline, subject } from "../fixtures.ts";

const fleet = ["a", "b", "c"].map((id) => subject(id));
const york = subject("d", { locationName: "York Coney Street" });
const up = new Map(["a", "b", "c", "d"].map((id) => [id, day(1)]));

test.each<[string, Partial<DigestInput>]>([
  ["All 3 cameras up", {}],
  ["Leeds Briggate lost 1 h 12 m, 2 of 3 cameras up", { episodes: [offline("a", at("10:00"), at("11:12"))] }],
  [
    "1 camera down now, 2 locations lost 2 h 10 m",
    {
      recordings: [
        ...fleet,
        subject("d", { locationName: "York Coney Street", status: "offline", since: at("23:00") }),
      ],
      episodes: [offline("a", at("10:00"), at("11:10")), offline("d", at("23:00"))],
    },
  ],
  [
    "York Coney Street: offline",
    { recordings: [...fleet, york], episodes: [locationOffline("york-coney-street", at("10:00"), at("11:00"))] },
  ],
  ["1 camera below 99 %, 90 % up, 2 of 3 cameras up", { uptime: new Map([...up, ["a", day(0.7)]]) }],
  ["Not watched for 2 h, all 3 cameras up", { unwatched: [{ from: at("10:00"), to: at("12:00") }] }],
  [
    "No data for 3 cameras",
    { recordings: ["a", "b", "c"].map((id) => subject(id, { status: "unknown", since: 0 })), uptime: new Map() },
  ],
  ["No cameras to report on", { recordings: [] }],
])("%j is the subject", (words, over) => {
  expect(subjectOf(computeDigest(input({ recordings: fleet, uptime: up, ...over })))).toContain(words);
});

test.each([
  ["1d", "Thu 19 Nov"],
  ["1w", "week of 9 Nov"],
  ["1mo", "October"],
] as const)("a digest of %s names its period", (name, words) => {
  const period = digestPeriod(name, NOW, "Europe/London");
  expect(subjectOf(computeDigest(input({ recordings: fleet, period }))).endsWith(` · ${words}`)).toBe(true);
});

test("has 60 characters at most and the worst first, whatever names and fleet", () => {
  const name = fc.oneof(
    fc.string({ unit: "binary", maxLength: 90 }),
    fc.constantFrom("x".repeat(300), "\u202eevil\r\nBcc: a", "😀".repeat(90)),
  );
  const recording = fc.record({
    name,
    down: fc.constantFrom("now", "ended", "never"),
    ratio: fc.constantFrom(1, 0.5, undefined),
    known: fc.boolean(),
  });
  const fleets = fc.array(recording, { maxLength: 6, size: "max" });
  const periods = fc.constantFrom("1d" as const, "1w" as const, "1mo" as const);
  fc.assert(
    fc.property(fleets, periods, fc.boolean(), (all, period, isWatched) => {
      const recordings = all.map((one, i) => {
        const status = one.down === "now" ? "offline" : one.known ? "online" : "unknown";
        return subject(`${i}`, { locationName: one.name, locationId: `l${i}`, status, since: at("08:00") });
      });
      const digest = computeDigest(
        input({
          recordings,
          period: digestPeriod(period, NOW, "Europe/London"),
          uptime: new Map(all.flatMap(({ ratio }, i) => (ratio === undefined ? [] : [[`${i}`, day(ratio)] as const]))),
          episodes: all.flatMap(({ down }, i) =>
            down === "never" ? [] : [offline(`${i}`, at("09:00"), down === "now" ? undefined : at("10:00"))],
          ),
          unwatched: isWatched ? [] : [{ from: 0, to: NOW }],
        }),
      );
      const line = subjectOf(digest);
      expect([...line].length).toBeLessThanOrEqual(MAX_SUBJECT);
      expect(line.replace(/[\p{Cc}\u200b-\u200f\u202a-\u202e\u2066-\u2069]/u, "")).toBe(line);
      expect(line.isWellFormed()).toBe(true);
      const { down_now: down, up: fine, recordings: size, lostMs } = digest.totals;
      expect(line.startsWith(`${down} camera`) && line.includes(" down now")).toBe(down > 0);
      if (down === 0 && lostMs > 0) expect(line).toMatch(/ lost \d/);
      if (/\ball \d/i.test(line) && !/closed/.test(line)) expect(fine).toBe(size);
      if (!isWatched && fine === size && size > 0) expect(line).toMatch(/^Not watched/);
    }),
    { numRuns: 300 },
  );
});
