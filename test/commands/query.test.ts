/** The command against the simulator. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import type { ExitCode } from "../../src/commands/cli/command.ts";
import { settingsOf } from "../../src/commands/simulate.ts";
import type { QueryRow } from "../../src/query/columns.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { lenswatch } from "./run-command.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
let simulator: Simulator;
let directory: string;
let config: string;

beforeAll(async () => {
  simulator = await startSimulator({ locations: 3, recordingsPerLocation: 2, seed: 11, clock: { now: () => NOW } });
  directory = await mkdtemp(join(tmpdir(), "lenswatch-query-"));
  config = join(directory, "lenswatch.yaml");
  const receivers = [{ name: "ops", webhook_configs: [{ url: "http://127.0.0.1:9/x" }] }];
  const watch = { locations_per_request: 2 };
  await writeFile(config, stringify({ service: settingsOf(simulator), receivers, watch }));
});
afterAll(async () => {
  await simulator.close();
  await rm(directory, { recursive: true });
});

const query = (argv: readonly string[], terminal: object = {}) =>
  lenswatch(["query", ...argv, "--config", config], { NO_COLOR: "1" }, { now: NOW, ...terminal });

async function rows(...argv: string[]): Promise<QueryRow[]> {
  const { stdout, stderr, exitCode } = await query([...argv, "--output", "json"]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return JSON.parse(stdout);
}

const SPAN = ["--from", "2026-11-16", "--to", "2026-11-18"];
const sum = (all: readonly QueryRow[], column: string) => all.reduce((total, row) => total + Number(row[column]), 0);

test("people by day, by who they are and in all are as many, over batches of locations", async () => {
  const total = await rows("entries", ...SPAN);
  expect(total).toHaveLength(3);
  expect(sum(total, "entries")).toBeGreaterThan(100);
  const [byDay, byPerson, female, male] = [
    await rows("entries", ...SPAN, "--every", "day"),
    await rows("entries", ...SPAN, "--by", "age,gender"),
    await rows("entries", ...SPAN, "--only", "gender=female"),
    await rows("entries", ...SPAN, "--only", "gender=male"),
  ];
  expect(byDay).toHaveLength(9);
  for (const some of [byDay, byPerson, [...female, ...male]]) expect(sum(some, "entries")).toBe(sum(total, "entries"));
  expect(new Set(female.map(({ gender }) => gender))).toEqual(new Set(["female"]));
});

test.each<[string, string[], string[]]>([
  ["zones", SPAN, ["zone", "areaTotalEntries", "areaTotalDwellTime", "areaAverageDwellTime"]],
  ["dwell", [...SPAN, "--every", "day"], ["day", "averageDwellTime"]],
  ["conversion", SPAN, ["salesConversionRate"]],
  ["areas", [], ["recording", "areaType", "zone"]],
  ["uptime", [...SPAN, "--every", "hour"], ["hour", "withinSchedule", "overallUptime", "organisation", "cameraServer"]],
  ["status", [], ["recording", "status", "lastSeen", "averageQuality", "timezone"]],
  ["locations", [], ["timezone"]],
])("%s has a value in every documented column", async (route, options, columns) => {
  const all = await rows(route, ...options);
  expect(all.length).toBeGreaterThan(2);
  for (const name of ["locationId", "location", ...columns]) {
    expect(
      all.map((row) => row[name]).filter((value) => value === null || value === undefined || value === ""),
      name,
    ).toEqual([]);
  }
});

test("CSV has a header, and a name that is a formula stays text", async () => {
  const { name, id } = simulator.world.locations[0] ?? { name: "", id: "" };
  simulator.world.rename({ locationId: id }, "=HYPERLINK(1)");
  const { stdout: out } = await query(["entries", ...SPAN, "--location", id, "--output", "csv"]);
  simulator.world.rename({ locationId: id }, name);
  expect(out).toMatch(`"locationId","location","entries"\n"${id}","'=HYPERLINK(1)",`);
});

test.each(["entries", "zones", "uptime", "status", "areas"])("the table of %s fits 80 columns", async (route) => {
  const { stdout: out } = await query([route], { isTTY: true, columns: 80 });
  expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(out).toMatch(/^LOCATION .*\n/);
});

test.each<[string[], ExitCode, RegExp]>([
  [["entries", "--location", "Atlantis"], 1, /no location .*"Atlantis"/],
  [["uptime", "--recording", "f".repeat(24)], 1, /no recording/],
  [["zones", "--zone", "Cellar"], 1, /no zone .*"Cellar"/],
  [["entries", "--every", "year"], 2, /Allowed choices/],
  [["entries", "--every", "hour"], 2, /every "hour"/],
  [["turnover"], 2, /Allowed choices/],
])("%j ends with exit code %i", async (argv, exitCode, message) => {
  expect(await query(argv)).toMatchObject({ stdout: "", exitCode, stderr: expect.stringMatching(message) });
});
