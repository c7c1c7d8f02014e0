import fc from "fast-check";
import { expect, test } from "vitest";
import { MOMENT_EXAMPLES, PAST_EXAMPLES, parseEta, parseMoment, parsePast } from "../../src/lib/moment.ts";

/** Saturday, 20:15 in London, 15:15 in New York; the clocks of London go back that night. */
const NOW = Date.parse("2026-10-24T19:15:30Z");

test.each([
  ["+2h", "Europe/London", "2026-10-24T21:15:30Z"],
  ["2h", "Europe/London", "2026-10-24T21:15:30Z"],
  ["7d", "Europe/London", "2026-10-31T19:15:30Z"],
  ["now", "Europe/London", "2026-10-24T19:15:30Z"],
  ["tomorrow", "Europe/London", "2026-10-24T23:00:00Z"],
  ["yesterday 22:00", "Europe/London", "2026-10-23T21:00:00Z"],
  ["+1h30m", "UTC", "2026-10-24T20:45:30Z"],
  ["22:00", "Europe/London", "2026-10-24T21:00:00Z"],
  ["22:00", "America/New_York", "2026-10-25T02:00:00Z"],
  ["20:15", "Europe/London", "2026-10-25T20:15:00Z"],
  ["9:05", "Europe/London", "2026-10-25T09:05:00Z"],
  ["today 9:05", "Europe/London", "2026-10-24T08:05:00Z"],
  ["Tomorrow 22:00", "Europe/London", "2026-10-25T22:00:00Z"],
  [" tomorrow 00:00 ", "Europe/London", "2026-10-24T23:00:00Z"],
  ["2026-10-26T08:00", "America/New_York", "2026-10-26T12:00:00Z"],
  ["2026-10-26 08:00:30", "Europe/London", "2026-10-26T08:00:30Z"],
  ["2026-10-26", "Europe/London", "2026-10-26T00:00:00Z"],
  ["2026-10-26T08:00Z", "America/New_York", "2026-10-26T08:00:00Z"],
  ["2026-10-26t08:00:00+02:00", "UTC", "2026-10-26T06:00:00Z"],
  ["22:00", "No/Such_Zone", "2026-10-24T22:00:00Z"],
])("%s in %s is %s", (text, zone, expected) => {
  expect(parseMoment(text, NOW, zone)).toBe(Date.parse(expected));
});

test.each(["", "+", "+soon", "24:00", "22:60", "2026", "2026-13-01", "2026-10-26T25:00", "1e3"])(
  "%j is no moment",
  (text) => {
    expect(parseMoment(text, NOW, "Europe/London")).toBeUndefined();
  },
);

test.each([
  ["22:00", "2026-10-24T21:00:00Z"],
  ["7:00", "2026-10-25T07:00:00Z"],
  ["tomorrow 20:00", "2026-10-25T20:00:00Z"],
  ["20:00", '20:00 has passed; tomorrow\'s is "tomorrow 20:00"'],
  ["yesterday", `expected a time to come such as ${MOMENT_EXAMPLES}`],
])("the ETA %s is %s", (text, expected) => {
  const eta = parseEta(text, NOW, "Europe/London");
  expect(typeof eta === "string" ? eta : new Date(eta).toISOString().replace(".000", "")).toBe(expected);
});

test("every example is one", () => {
  for (const text of MOMENT_EXAMPLES.split(/, | or /)) expect(parseMoment(text, NOW, "UTC"), text).toBeDefined();
  for (const text of PAST_EXAMPLES.split(/, | or /))
    expect(parsePast(text, NOW, "UTC")?.start, text).toBeLessThanOrEqual(NOW);
});

const usual = fc.oneof(
  fc.constantFrom(
    "now",
    "90m",
    "24h",
    "08:00",
    "20:14",
    "20:15",
    "20:16",
    "today 20:15",
    "2026-10-25 01:30",
    "2026-10-20T08:00Z",
  ),
  fc.tuple(fc.nat(23), fc.nat(59)).map((time) => time.map((n) => String(n).padStart(2, "0")).join(":")),
);

test("the same words are read ahead and in the past; a time of the day is the nearest one there", () => {
  fc.assert(
    fc.property(usual, fc.constantFrom("Europe/London", "America/New_York", "UTC"), (text, zone) => {
      const [ahead, past] = [parseMoment(text, NOW, zone), parsePast(text, NOW, zone)?.start];
      if (ahead === undefined || past === undefined) throw new Error(`${text} is not read`);
      if (!/^\d\d:\d\d$/.test(text)) return;
      expect(ahead).toBeGreaterThan(NOW);
      expect(past).toBeLessThanOrEqual(NOW);
      // The clocks go back between some of them.
      expect([23, 24, 25]).toContain((ahead - past) / 3_600_000);
    }),
  );
});
