import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeVisitsWorld, type VisitsWorld } from "../../../bench/detect/visits-world.ts";
import { parseScenario } from "../../../src/simulator/scenario.ts";
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
