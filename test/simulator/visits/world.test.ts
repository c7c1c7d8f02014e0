import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeVisitsWorld, type VisitsWorld } from "../../../bench/detect/visits-world.ts";
import { parseScenario } from "../../../src/simulator/scenario.ts";
import { holidayOn } from "../../../src/simulator/visits/holidays.ts";
import { Visits } from "../../../src/simulator/visits/parameters.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const STARTED = Date.parse("2026-06-01T00:00:00Z");
/** A Monday at midnight in London. */
const MONDAY = Date.parse("2026-09-06T23:00:00Z");

/** A world without chance from day to day, but for what `visits` says. */
const CALM = `
  weather: { strength: 0 }
  trend: { per_year: 0, season: 0, weeks: 0 }
  noise: { day: 0, hour: 0 }
  promotions: { per_year: 0 }
  local: { roadworks_per_year: 0, fairs_per_year: 0, late_openings_per_year: 0 }
`;
const shop = (more = "", busiest = 200) => `
  profiles:
    shop: { busiest: [${busiest}, ${busiest}], day: [${Array(24).fill(1)}], week: [1, 1, 1, 1, 1, 1, 1],
            open: [${Array(7).fill('"09:00-18:00"')}]${more} }
`;
function make(visits: string, { traits = "{}", locations = 3, seed = 7 } = {}): VisitsWorld {
  const scenario = parseScenario(`traits: ${traits}\nvisits:\n${visits.trim() ? visits : "  {}"}`);
  return makeVisitsWorld({ seed, locations, recordingsPerLocation: 4, scenario, startedAt: STARTED });
}
const placed = (world: VisitsWorld, nth: number) => world.locations[nth]?.id ?? "";
function came(world: VisitsWorld, nth: number, from: number, length = DAY, zone?: string): number {
  return world.trueVisitsBetween({ locationId: placed(world, nth), zone, from, to: from + length });
}
const daily = (world: VisitsWorld, nth: number, days: number) =>
  Array.from({ length: days }, (_, day) => came(world, nth, MONDAY + day * DAY));
const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

test("holidays are on the days on which they were", () => {
  const on = (date: string, country: string) => holidayOn(Date.parse(date) / DAY, country) !== undefined;
  const dates = {
    GB: [
      "2026-04-03",
      "2026-04-05",
      "2026-04-06",
      "2026-05-04",
      "2026-05-25",
      "2026-08-31",
      "2026-11-27",
      "2027-03-28",
    ],
    US: ["2026-05-25", "2026-07-04", "2026-09-07", "2026-11-26", "2026-11-27", "2024-11-28"],
    FR: ["2026-04-06", "2026-05-14", "2026-07-14", "2025-06-09"].slice(0, 3),
    DE: ["2026-10-03", "2026-05-01"],
  };
  for (const [country, days] of Object.entries(dates))
    for (const day of days) expect([day, on(day, country)]).toEqual([day, true]);
  expect(on("2026-11-26", "GB")).toBe(false);
  expect(on("2026-08-24", "GB")).toBe(false);
});

test("on a holiday some locations are closed and the others have fewer visits, in its country alone", () => {
  const dates = `holidays: { dates: [{ on: 2026-09-08, country: GB, closed: 0.5, visits: 0.5 }] }`;
  const world = make(`${CALM}${shop("", 60)}  ${dates}`, { locations: 14 });
  const shares = world.locations.map(({ timezone }, nth) => {
    const [usual = 0, holiday = 0] = [1, 2].map((week) => came(world, nth, MONDAY + DAY + (2 - week) * 7 * DAY));
    return { timezone, share: holiday / usual };
  });
  const at = shares.filter(({ timezone }) => timezone === "Europe/London").map(({ share }) => share);
  expect(at.filter((share) => share === 0).length).toBeGreaterThan(2);
  expect(at.filter((share) => share > 0.4 && share < 0.6).length).toBeGreaterThan(2);
  for (const { timezone, share } of shares) if (timezone !== "Europe/London") expect(share).toBeGreaterThan(0.85);
});

test("customers come while a location is open, staff shortly before and after, nobody on a closed day", () => {
  const staffless = `${CALM}${shop()}  staff: { people: [0, 0] }`;
  const [world, staffed] = [make(staffless), make(`${CALM}${shop()}  staff: { people: [20, 20], passes: 3 }`)];
  const { opens, closes } = world.dayAt(placed(world, 0), MONDAY + 12 * HOUR);
  const openAt = MONDAY + opens * 60_000;
  const length = (closes - opens) * 60_000;
  expect(came(world, 0, openAt, length)).toBe(came(world, 0, MONDAY));
  expect(came(world, 0, openAt, length / 2)).toBeGreaterThan(0.4 * came(world, 0, MONDAY));
  expect(came(world, 0, openAt - HOUR, HOUR)).toBe(0);
  expect(came(staffed, 0, openAt - HOUR, HOUR)).toBeGreaterThan(20);
  expect(came(staffed, 0, MONDAY, opens * 60_000 - HOUR)).toBe(0);
  const closed = make(`${CALM}${shop()}`, { traits: "{ closed_days: [tuesday] }" });
  expect(daily(closed, 1, 3).map((visits) => visits > 0)).toEqual([true, false, true]);
});

test("weather moves neighbouring locations together, and staff not at all", () => {
  const calm = CALM.replace("weather: { strength: 0 }", "weather: { strength: 0.6 }").replace(
    "promotions",
    "groups: { sizes: [1], parties_per_month: 0 }\n  promotions",
  );
  // Locations 1 and 25 are in the same town, location 6 abroad.
  const world = make(`${calm}${shop("", 60)}`, { locations: 28 });
  const days = 28;
  const [one = [], neighbour = [], abroad = []] = [0, 27, 5].map((nth) => daily(world, nth, days));
  expect(world.locations[27]?.name.split(" ")[0]).toBe(world.locations[0]?.name.split(" ")[0]);
  expect(correlation(one, neighbour)).toBeGreaterThan(0.8);
  expect(Math.abs(correlation(one, abroad))).toBeLessThan(0.5);
  const staff = (strength: number) =>
    make(`${CALM.replace("strength: 0", `strength: ${strength}`)}${shop(", weather: 3", 0.000001)}`);
  expect(daily(staff(2), 0, 7)).toEqual(daily(staff(0), 0, 7));
});

test("a promotion fills the locations of its organisation on its dates", () => {
  const promotion =
    "promotions: { per_year: 0, dates: [{ from: 2026-09-08, until: 2026-09-09, lift: 2, organisation: 2 }] }";
  const world = make(`${CALM.replace("promotions: { per_year: 0 }", promotion)}${shop()}`, {
    traits: "{ organisations: 2 }",
  });
  const lift = (nth: number) => {
    const [before = 0, first = 0, second = 0, after = 0] = daily(world, nth, 4);
    return (first + second) / (before + after);
  };
  expect(lift(1)).toBeCloseTo(2, 0);
  expect(lift(1)).toBeGreaterThan(1.8);
  expect(lift(0)).toBeCloseTo(1, 0);
  expect(lift(0)).toBeLessThan(1.2);
});

test("households make counts spread wider than single people would", () => {
  const spread = (sizes: string) => {
    const world = make(
      `${CALM}${shop()}  groups: { sizes: ${sizes}, parties_per_month: 0 }\n  staff: { people: [0, 0] }`,
    );
    const slots = Array.from({ length: 3 * 84 }, (_, slot) =>
      came(world, 0, MONDAY + Math.floor(slot / 84) * DAY + 10 * HOUR + (slot % 84) * 300_000, 300_000),
    );
    const average = mean(slots);
    return mean(slots.map((one) => (one - average) ** 2)) / average;
  };
  expect(spread("[1]")).toBeLessThan(1.5);
  expect(spread("[0, 0, 0, 1]")).toBeGreaterThan(2.5);
});

test("people go on from zone to zone by the graph, each zone later than the one before", () => {
  const graph = `
  zones:
    - { name: Front, taxonomy: A, entrance: 3 }
    - { name: Back, taxonomy: B, entrance: 1 }
    - { name: Shelves, taxonomy: C, reach: 0.5, after: 10 }
    - { name: Corner, taxonomy: D, from: Shelves, reach: 0.5, after: 10 }
  staff: { people: [0, 0] }`;
  const world = make(`${CALM}${shop()}${graph}`);
  const of = (zone: string, from = MONDAY, length = 7 * DAY) => came(world, 0, from, length, zone);
  expect(of("A") / of("B")).toBeGreaterThan(2.5);
  expect(of("A") / of("B")).toBeLessThan(3.5);
  expect(of("C") / (of("A") + of("B"))).toBeCloseTo(0.49, 1);
  expect(of("D") / of("C")).toBeCloseTo(0.48, 1);
  const { opens } = world.dayAt(placed(world, 0), MONDAY);
  const early = (zone: string) => {
    const days = Array.from({ length: 14 }, (_, day) => of(zone, MONDAY + day * DAY + opens * 60_000, 20 * 60_000));
    return mean(days) / of(zone);
  };
  expect(early("A")).toBeGreaterThan(early("C"));
  expect(early("C")).toBeGreaterThan(early("D"));
  expect(of("A") + of("B")).toBe(came(world, 0, MONDAY, 7 * DAY));
});

test("locations differ, and every seed is another world", () => {
  const visits = (seed: number) => {
    const world = make("", { seed, locations: 12 });
    return world.locations.map((_, nth) => came(world, nth, MONDAY));
  };
  const usual = visits(1);
  expect(new Set(usual).size).toBeGreaterThan(9);
  expect(Math.max(...usual) / Math.min(...usual)).toBeGreaterThan(4);
  expect(usual).not.toEqual(visits(2));
});

test("the guide shows the whole default world", () => {
  const guide = readFileSync("docs/simulator.md", "utf8").replaceAll(/#.*/g, "");
  const [, world = ""] = /```yaml\n(visits:\n[^`]+)```/.exec(guide) ?? [];
  expect(parseScenario(world).visits).toEqual(Visits.parse({}));
});

test("the worlds of the bench can be read, and have visits", () => {
  const files = globSync("bench/detect/worlds/*.yaml");
  expect(files.length).toBeGreaterThan(1);
  for (const file of files) {
    const scenario = parseScenario(readFileSync(file, "utf8"), file);
    const world = makeVisitsWorld({ seed: 3, locations: 2, recordingsPerLocation: 4, scenario, startedAt: STARTED });
    expect(came(world, 0, MONDAY, 7 * DAY)).toBeGreaterThan(50);
  }
});

test.each([
  ["a key nobody knows", "visits: { wether: {} }", /w\.yaml:1:9: visits: unknown key "wether"/],
  ["a share beyond 1", "visits:\n  cameras: { overlap: 2 }", /w\.yaml:2:23: visits\.cameras\.overlap/],
  [
    "no entrance",
    "visits:\n  zones: [{ name: A, taxonomy: A }]",
    /w\.yaml:2:11: visits\.zones\.0: one zone must be an entrance/,
  ],
  [
    "a way from nowhere",
    "visits:\n  zones:\n  - { name: A, taxonomy: A, entrance: 1 }\n  - { name: B, taxonomy: B, from: C }",
    /w\.yaml:4:5: .*no zone C before it/,
  ],
  ["bounds the wrong way", "visits:\n  staff: { people: [3, 1] }", /w\.yaml:2:20: .*the lower bound comes first/],
  [
    "an opening time that is none",
    `visits:\n  profiles: { p: { busiest: [1, 2], day: [${Array(24).fill(1)}], week: [${Array(7).fill(1)}], open: [${Array(7).fill("9-17")}] } }`,
    /times such as 09:30-20:00/,
  ],
])("a world with %s is refused with the place of the problem", (_, text, problem) => {
  expect(() => parseScenario(text, "w.yaml")).toThrow(problem);
});

function correlation(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [mean(a), mean(b)];
  const covariance = mean(a.map((one, i) => (one - meanA) * ((b[i] ?? 0) - meanB)));
  const deviation = (values: readonly number[], at: number) => Math.sqrt(mean(values.map((one) => (one - at) ** 2)));
  return covariance / (deviation(a, meanA) * deviation(b, meanB));
}
