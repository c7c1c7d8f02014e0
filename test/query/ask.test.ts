import fc from "fast-check";
import { DateTime } from "luxon";
import { describe, expect, test } from "vitest";
import { parsePast } from "../../src/lib/moment.ts";
import {
  pickNamed,
  pickPlaces,
  type QueryOptions,
  type QueryRoute,
  queryRoutes,
  spanIn,
  toAsk,
} from "../../src/query/ask.ts";

const NOW = Date.parse("2026-11-22T10:30:00Z");
const zones = ["Europe/London", "America/New_York", "Asia/Kolkata", "Pacific/Apia"];

describe("a day or time of the past", () => {
  test.each([
    ["today", "2026-11-22"],
    ["yesterday", "2026-11-21"],
    ["7d", "2026-11-15"],
    ["2w", "2026-11-08"],
    ["2026-10-25", "2026-10-25"],
  ])("%s is a whole local day, also where clocks change", (text, day) => {
    const parsed = parsePast(text, NOW, "Europe/London");
    const start = DateTime.fromISO(day, { zone: "Europe/London" });
    expect(parsed).toEqual({ start: +start, end: +start.plus({ days: 1 }), day });
  });

  test.each([
    ["24h", NOW - 86_400_000],
    ["04:00", Date.parse("2026-11-22T09:00Z")],
    ["22:00", Date.parse("2026-11-22T03:00Z")],
    ["yesterday 22:00", Date.parse("2026-11-22T03:00Z")],
    ["90m", NOW - 5_400_000],
    ["2026-11-20T08:00Z", Date.parse("2026-11-20T08:00Z")],
    ["2026-11-20 08:00", Date.parse("2026-11-20T13:00Z")],
    ["2026-11-20T08:00:00.000+05:30", Date.parse("2026-11-20T02:30Z")],
  ])("%s is an instant", (text, at) => {
    expect(parsePast(text, NOW, "America/New_York")).toEqual({ start: at, end: at, day: undefined });
  });

  test.each([
    "",
    "tomorrowish",
    "-3d",
    "3",
    "2026-02-30",
    "2026-13-01",
    "0001-01-01",
    "99999d",
    "9999y",
    "1e9d",
    "24:00",
    "constructor",
  ])("%j is neither", (text) => expect(parsePast(text, NOW, "UTC")).toBeUndefined());

  test("any text gives an ordered span or nothing", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^\d{1,5}[dwhm]$/)),
        fc.constantFrom(...zones),
        (text, zone) => {
          const parsed = parsePast(text, NOW, zone);
          if (parsed) expect(parsed.start).toBeLessThanOrEqual(parsed.end);
          if (parsed?.day) expect(DateTime.fromMillis(parsed.start, { zone }).toISODate()).toBe(parsed.day);
        },
      ),
    );
  });
});

describe("a span", () => {
  const span = (route: QueryRoute, options: QueryOptions, zone = "Europe/London") =>
    spanIn(toAsk(route, options, NOW), zone, NOW);

  test("includes the day it ends with, as uptime's days do", () => {
    const { start, end, days } = span("entries", { from: "2026-11-01", to: "2026-11-30" });
    expect([start, end]).toEqual([Date.parse("2026-11-01T00:00Z"), Date.parse("2026-12-01T00:00Z")]);
    expect(days).toEqual({ start: "2026-11-01", end: "2026-11-30" });
  });

  test("is the last seven days until now where nothing is given", () => {
    expect(span("entries", {})).toMatchObject({ start: Date.parse("2026-11-15T00:00Z"), end: NOW });
    expect(span("uptime", {}).days).toEqual({ start: "2026-11-15", end: "2026-11-22" });
  });

  test("begins at each zone's own midnight", () => {
    const { start } = span("entries", { from: "today" }, "Asia/Kolkata");
    expect(start).toBe(Date.parse("2026-11-21T18:30Z"));
  });

  test("may begin on a day that has not begun in UTC", () => {
    const evening = NOW + 10 * 3_600_000;
    const ask = toAsk("entries", { from: "2026-11-23" }, evening);
    expect(spanIn(ask, "Asia/Tokyo", evening).start).toBe(Date.parse("2026-11-22T15:00Z"));
    expect(() => spanIn(ask, "Europe/London", evening)).toThrow(/before/);
    expect(() => toAsk("entries", { from: "2026-11-24" }, evening)).toThrow(/before/);
  });
});

describe("options are refused before anything is requested", () => {
  test.each<[string, QueryRoute, QueryOptions, RegExp]>([
    ["of another route", "areas", { from: "7d" }, /from is no option of areas, which takes location, recording/],
    ["a zone of entries", "entries", { zone: ["Tills"] }, /zone is no option of entries/],
    ["a split of sales", "conversion", { by: ["age"] }, /sales carry no visitor attributes/],
    ["a filter of sales", "conversion", { only: ["role=customer"] }, /sales carry no visitor attributes/],
    ["an unknown dimension", "entries", { by: ["colour"] }, /by "colour"/],
    ["a filter without a value", "entries", { only: ["role"] }, /only "role"/],
    ["an age that is no band", "entries", { only: ["age=adult"] }, /25_34/],
    ["an unknown period", "entries", { every: "hour" }, /every "hour".*day or week or month/],
    ["an unknown zone", "entries", { timezone: "Europe/Lundon" }, /Europe\/Lundon/],
    ["no time", "entries", { from: "soon" }, /from "soon"/],
    ["a reversed span", "entries", { from: "today", to: "yesterday" }, /before/],
    ["an instant of uptime", "uptime", { from: "24h" }, /whole days/],
    ["another facet", "entries", { facet: "segments" }, /estimates/],
    ["control characters", "entries", { by: ["\u001b[2J"] }, /by "\[2J"/],
  ])("%s", (_, route, options, message) => {
    expect(() => toAsk(route, options, NOW)).toThrow(
      expect.objectContaining({ code: "bad_option", message: expect.stringMatching(message) }),
    );
  });

  test("all routes take no option at all", () => {
    for (const route of queryRoutes) expect(toAsk(route, {}, NOW)).toMatchObject({ route, locations: [], split: {} });
  });
});

test("a filter is a dimension with values, and wins over a split by it", () => {
  const { split } = toAsk(
    "entries",
    { by: ["role,age", "location"], only: ["age=25_34", "age=35_44,gender=female"] },
    NOW,
  );
  expect(split).toEqual({ age: ["25_34", "35_44"], gender: ["female"], role: true });
});

test("locations are also asked for by a label of the directory, a name that looks like one before all", () => {
  const rows = ["Leeds", "York", "Bath", "region=x"].map((name, i) => ({ id: `${i}`, name }));
  const regions = ["north", "north", "south", ""];
  const pick = (...asked: string[]) =>
    pickPlaces(rows, asked, ({ id }) => ({ region: regions[Number(id)] ?? "" })).map(({ name }) => name);
  expect(pick("region=north", "bath", "York")).toEqual(["Leeds", "York", "Bath"]);
  expect(pick("region=x")).toEqual(["region=x"]);
  expect(pick()).toHaveLength(4);
  expect(() => pick("region=west")).toThrow(/no location has the id or name/);
});

describe("a name", () => {
  const rows = ["Leeds Briggate", "Leeds Arena", "Twin", "Twin"].map((name, i) => ({ id: `id-${i}`, name }));
  const names = (...asked: string[]) => pickNamed("location", rows, asked).map(({ id }) => id);

  test("is an id or a full name in any case; none is all", () => {
    expect(names("leeds briggate", "ID-1", "id-0")).toEqual(["id-0", "id-1"]);
    expect(names()).toHaveLength(4);
  });

  test.each([
    ["Leeds", /no location .*"Leeds".*similar: .*Leeds Briggate/],
    ["twin", /2 have the name "twin".*"id-2".*"id-3"/],
    ["Reykjavik Harbour", /no location .*check the name/],
  ])("%j is refused with those that are near", (asked, message) => {
    expect(() => names(asked)).toThrow(
      expect.objectContaining({ code: "unknown_name", message: expect.stringMatching(message) }),
    );
  });
});
