/** Every trait of the simulated service, as the client reads it. */
import { readFileSync } from "node:fs";
import { DateTime } from "luxon";
import { describe, expect, it } from "vitest";
import { parseScenario } from "../../src/simulator/scenario.ts";
import { type SimulatorOptions, startSimulator } from "../../src/simulator/simulator.ts";
import { Traits } from "../../src/simulator/traits.ts";
import { startBoth } from "./support.ts";

/** Friday, 13:30 in New York. */
const NOW = Date.parse("2026-11-20T18:30:00.000Z");
const clock = { now: () => NOW };
const HOUR = 3_600_000;

it("are documented", () => {
  const page = readFileSync(new URL("../../docs/simulator.md", import.meta.url), "utf8");
  const keys = [...page.matchAll(/^\| `(\w+)`/gm)].map(([, key]) => key);
  expect(keys).toEqual(Object.keys(Traits.shape));
});

it("are problems of their file where they are wrong", () => {
  const text = "traits:\n  error_codes: emoji\n  uptime_indx: utc\n";
  expect(() => parseScenario(text, "day.yaml")).toThrow(
    /day\.yaml:2:16: traits\.error_codes: .*\n.*day\.yaml:2:3: traits: .*uptime_indx/,
  );
});

it("are taken from a scenario, before those of the options", async () => {
  const scenario = parseScenario("traits: { error_codes: numbers, error_shape: flat }");
  const { simulator, service } = await startBoth({}, { scenario, traits: { error_shape: "nested" } });
  simulator.faults.set("error_payload", { code: "rate_limited", endpoint: "location_list" });
  await expect(service.locations()).rejects.toMatchObject({
    code: "rate_limited",
    message: expect.stringContaining("internal error"),
  });
});

describe("indexes", () => {
  const zones = ["America/New_York", "Australia/Sydney", "Europe/London"];

  it.each(["local", "utc"] as const)(
    "of segments in %s name the beginning of each local day",
    async (segment_index) => {
      const { simulator, service } = await startBoth({ clock }, { clock, traits: { segment_index } });
      for (const timezone of zones) {
        const { id } = simulator.world.addLocation({ name: timezone, timezone, recordings: 1 });
        const start = DateTime.fromMillis(NOW, { zone: timezone }).startOf("day").minus({ days: 3 });
        const query = { start: start.toMillis(), end: start.plus({ days: 2 }).toMillis(), locations: [id] };
        const { segments = [] } = await service.entries({ ...query, facets: ["segments"], aggregationPeriod: "day" });
        const wanted = [start, start.plus({ days: 1 })].map((day) => (segment_index === "utc" ? day.toUTC() : day));
        expect(segments.map(({ index }) => index)).toEqual(
          wanted.map((day) => day.toFormat("yyyy-MM-dd'T'HH:mm:ss.SSS")),
        );
      }
    },
  );

  it.each(["local", "utc"] as const)("of uptime in %s give each bucket its instant", async (uptime_index) => {
    const { simulator, service, recorder } = await startBoth({ clock }, { clock, traits: { uptime_index } });
    for (const timezone of zones) simulator.world.addLocation({ name: timezone, timezone, recordings: 10 });
    const days = { start: "2026-11-20", end: "2026-11-21" };
    const ask = async () =>
      (await service.uptimes(days)).results.filter(({ recording }) => zones.includes(recording.timezone ?? ""));
    await ask();
    const results = await ask();
    expect(results.length).toBeGreaterThanOrEqual(3);
    for (const { buckets } of results) expect(buckets.at(-1)?.startAt).toBe(NOW - (NOW % HOUR));
    expect(recorder.kinds.length > 0).toBe(uptime_index === "utc");
  });
});

/** The fleet as the client reads it. */
async function startFleet(traits: NonNullable<SimulatorOptions["traits"]>, locations = 4, recordingsPerLocation = 4) {
  const both = await startBoth({ clock }, { clock, traits, locations, recordingsPerLocation });
  const { results } = await both.service.uptimes({ start: "2026-11-15", end: "2026-11-20" });
  const entities = both.simulator.world.locations.map(({ id }) => id);
  const { contexts } = await both.service.areaContexts({ entities, entityType: "location" });
  const zonesOf = Map.groupBy(contexts, ({ recordingId }) => recordingId);
  return { ...both, results, entities, recordings: results.map(({ recording }) => recording), contexts, zonesOf };
}

const DAY = 24 * HOUR;
const lastDays = (days: number, locations: readonly string[]) => ({ start: NOW - days * DAY, end: NOW, locations });
const summed = (rows: readonly { values: Readonly<Record<string, number | undefined>> }[] = [], name: string) =>
  rows.reduce((sum, { values }) => sum + (values[name] ?? 0), 0);

describe("the fleet", () => {
  it("has several organisations and camera servers across and within locations", async () => {
    const spread = { organisations: 2, camera_servers_per_location: 2, locations_per_camera_server: 2 };
    const { recordings } = await startFleet(spread);
    const distinct = (key: "organisation" | "cameraServer" | "locationId") =>
      new Set(recordings.map((recording) => recording[key])).size;
    expect([distinct("organisation"), distinct("cameraServer"), distinct("locationId")]).toEqual([2, 4, 4]);
    for (const of of Map.groupBy(recordings, ({ locationId }) => locationId).values())
      expect(new Set(of.map(({ cameraServer }) => cameraServer)).size).toBe(2);
    for (const on of Map.groupBy(recordings, ({ cameraServer }) => cameraServer).values())
      expect(new Set(on.map(({ locationId }) => locationId)).size).toBe(2);
  });

  it("has several zones per recording and several recordings per zone", async () => {
    const { contexts, zonesOf } = await startFleet({ zones_per_recording: 3, recordings_per_zone: 2 }, 1);
    expect([...zonesOf.values()].map((zones) => zones.length)).toEqual([3, 3, 3, 3]);
    const covering = Map.groupBy(contexts, ({ taxonomy }) => taxonomy);
    expect(Math.min(...[...covering.values()].map((all) => all.length))).toBeGreaterThanOrEqual(2);
  });

  it("counts people at entrances, and visits in zones", async () => {
    const at = await startFleet({ entries_at: "entrances", zones_per_recording: 2 }, 1);
    const query = { ...lastDays(4, at.entities), facets: ["summary"] } as const;
    const people = summed((await at.service.entries(query)).summary, "entries");
    const taxonomies = [...new Set(at.contexts.flatMap(({ taxonomy }) => taxonomy ?? []))];
    const { summary } = await at.service.areaData({ ...query, taxonomies, breakdown: { taxonomy: true } });
    const inZone = (name: string) =>
      summed(
        summary?.filter(({ taxonomy }) => taxonomy === name),
        "area_total_entries",
      );
    expect(people).toBeGreaterThan(0);
    expect(inZone("Ground:Entrance:Main Door")).toBe(people);
    expect(summed(summary, "area_total_entries")).toBeGreaterThan(2 * people);
    const all = await startFleet({ entries_at: "all", zones_per_recording: 2 }, 1);
    expect(summed((await all.service.entries(query)).summary, "entries")).toBeGreaterThan(people);
  });

  it("has visitors of all five roles, by the names given", async () => {
    const roles = ["customer", "staff", "greeted", "served", "advised"];
    const { service, entities } = await startFleet({ roles }, 1);
    const query = { ...lastDays(4, entities), facets: ["summary"] } as const;
    const { summary } = await service.entries({ ...query, breakdown: { role: true } });
    expect(summary?.map(({ role }) => role)).toEqual(roles);
    expect(Math.min(...(summary ?? []).map(({ values }) => values.entries ?? 0))).toBeGreaterThan(0);
    const one = await service.entries({ ...query, breakdown: { role: ["served"] } });
    expect(one.summary).toEqual(summary?.filter(({ role }) => role === "served"));
    await expect(service.entries({ ...query, breakdown: { role: ["nobody"] } })).rejects.toMatchObject({
      code: "bad_request",
    });
  });

  it("is closed on the days given: nobody comes, and scheduled recordings do not upload", async () => {
    const { simulator, service, entities } = await startFleet({ closed_days: ["monday", "2026-11-18"] }, 1, 2);
    const [recording] = simulator.world.recordings;
    simulator.world.setSchedule(recording?.id ?? "", true);
    const query = { start: Date.parse("2026-11-16"), end: Date.parse("2026-11-21"), locations: entities };
    const { segments } = await service.entries({ ...query, facets: ["segments"], aggregationPeriod: "day" });
    const open = segments?.map(({ values }) => (values.entries ?? 0) > 0);
    expect(open).toEqual([false, true, false, true, true]);
    const { buckets } = await service.recordingUptime(recording?.id ?? "", { start: "2026-11-16", end: "2026-11-20" });
    const within = Map.groupBy(buckets, ({ startAt }) => new Date(startAt).toISOString().slice(0, 10));
    expect([...within.values()].map((hours) => hours.some(({ withinSchedule }) => withinSchedule))).toEqual(open);
  });
});

it("token_lifetime and the host are those given", async () => {
  const { service, recorder, simulator } = await startBoth(
    { clock },
    { clock, host: "127.0.0.2", traits: { token_lifetime: "5m" } },
  );
  await service.locations();
  expect(recorder.expiries).toEqual([NOW + 300_000]);
  expect(simulator.baseUrl).toContain("127.0.0.2");
  const bad = { locations: 1, recordingsPerLocation: 1, seed: 1, traits: { token_lifetime: "soon" } };
  await expect(startSimulator(bad)).rejects.toMatchObject({
    code: "bad_option",
    message: expect.stringContaining("token_lifetime"),
  });
});
