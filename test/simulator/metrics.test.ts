import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { type Client, connect, handClock, locationIds, startSmall } from "./client.ts";

type CountRow = Record<string, string | number | null>;
interface Payload {
  summary: CountRow[];
  segments: CountRow[];
  estimates: CountRow[];
  meta: { units: Record<string, string> };
  error?: { code: string; message: string };
}

const clock = handClock();
let sim: Simulator;
let client: Client;
beforeAll(async () => {
  sim = await startSmall({ clock, locations: 6, recordingsPerLocation: 5, traits: { token_lifetime: "1d" } });
  client = await connect(sim);
});
afterAll(() => sim.close());

const week = { start: "2026-09-28T23:00:00.000Z", end: "2026-10-05T22:59:59.999Z" };
const ask = (route: string, body: object) =>
  client.ask<Payload>("metric", route, { ...week, entities: locationIds(sim), entityType: "location", ...body });
const total = (rows: readonly CountRow[], measure = "entries") =>
  rows.reduce((sum, row) => sum + Number(row[measure]), 0);
const zones = () => [...new Set(sim.world.recordings.flatMap(({ taxonomies }) => taxonomies))];

describe("entries", () => {
  test("have the contract's rows and unit", async () => {
    const { segments, summary, meta } = await ask("entries", {
      facets: ["segments", "summary"],
      aggregationPeriod: "day",
    });
    expect(meta.units).toEqual({ entries: "peopleCount" });
    expect(summary).toHaveLength(6);
    expect(summary[0]).toEqual({ location: locationIds(sim)[0], entries: expect.any(Number) });
    expect(segments[0]).toEqual({
      index: "2026-09-29T00:00:00.000",
      location: locationIds(sim)[0],
      entries: expect.any(Number),
    });
  });

  test("by hour, which the contract does not show, are refused", async () => {
    const refused = await ask("entries", { facets: ["segments"], aggregationPeriod: "hour" });
    expect(refused).toMatchObject({ error: { code: "bad_request" } });
  });

  test("split any way add up to the whole, and a filter is its part of the split", async () => {
    const [whole] = (await ask("entries", { entities: locationIds(sim).slice(0, 1), facets: ["summary"] })).summary;
    const dimensions = fc.uniqueArray(fc.constantFrom("taxonomy", "age", "gender", "role", "entity"), { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(dimensions, async (breakdownByDimensions) => {
        const entities = locationIds(sim).slice(0, 1);
        const { summary } = await ask("entries", { entities, facets: ["summary"], breakdownByDimensions });
        expect(total(summary)).toBe(whole?.entries);
        for (const row of summary) {
          const fields = breakdownByDimensions.map((dimension) => (dimension === "entity" ? "location" : dimension));
          expect(Object.keys(row)).toEqual(expect.arrayContaining(fields));
        }
        if (!breakdownByDimensions.includes("age")) return;
        const filtered = await ask("entries", {
          entities,
          facets: ["summary"],
          breakdownByDimensions,
          ages: ["25_34"],
        });
        expect(filtered.summary).toEqual(summary.filter(({ age }) => age === "25_34"));
      }),
      { numRuns: 25 },
    );
  });

  test("of the night are 0, counted and none; of the future there are no rows", async () => {
    const night = {
      start: "2026-10-06T00:00:00.000Z",
      end: "2026-10-06T02:00:00.000Z",
      entities: locationIds(sim).slice(0, 1),
    };
    expect((await ask("entries", { ...night, facets: ["summary"] })).summary[0]?.entries).toBe(0);
    const future = { start: "2027-01-01T00:00:00.000Z", end: "2027-01-02T00:00:00.000Z" };
    expect((await ask("entries", { ...future, facets: ["segments"] })).segments).toEqual([]);
  });
});

describe("zones", () => {
  const area = (body: object) =>
    ask("area/data", { areaType: "taxonomy", taxonomy: zones(), facets: ["summary"], ...body });

  test("have entries and dwell with total = average × entries, and dwell in seconds", async () => {
    const { summary, meta } = await area({ breakdownByDimensions: ["taxonomy"] });
    expect(meta.units).toEqual({ area_total_dwell_time: "seconds", area_average_dwell_time: "seconds" });
    expect(summary.map((row) => row.taxonomy).sort()).toEqual(zones().sort());
    for (const row of summary) {
      const product = Number(row.area_average_dwell_time) * Number(row.area_total_entries);
      expect(product).toBeCloseTo(Number(row.area_total_dwell_time), 3);
    }
  });

  test("must be named, with their area type", async () => {
    expect((await area({ taxonomy: [] })).error?.message).toContain("taxonomy");
    expect((await area({ areaType: undefined })).error?.message).toContain("areaType");
    expect((await area({ areaType: "location-dwell" })).error?.message).toContain("areaType");
  });
});

describe("conversion", () => {
  const convert = (body: object) => ask("transactions/conversion-rate", { breakdownByDimensions: ["entity"], ...body });

  test("is a rate from 0 to 1 per location", async () => {
    const { summary, meta } = await convert({});
    expect(meta.units).toEqual({ sales_conversion_rate: "rate" });
    expect(summary.map(({ location }) => location)).toEqual(locationIds(sim));
    for (const row of summary) {
      expect(row.sales_conversion_rate).toBeGreaterThan(0);
      expect(row.sales_conversion_rate).toBeLessThan(1);
    }
  });

  test.each([
    ["the entity dimension missing", { breakdownByDimensions: [] }],
    ["a demographic filter", { ages: ["25_34"] }],
    ["a demographic split", { breakdownByDimensions: ["entity", "gender"] }],
  ])("is refused with %s", async (_, body) => {
    expect((await convert(body)).error?.code).toBe("bad_request");
  });
});

describe("an outage", () => {
  test("leaves fewer entries in its hours, and the estimates as they would have been", async () => {
    const [location] = sim.world.locations;
    const hours = { start: "2026-11-20T12:00:00.000Z", end: "2026-11-20T15:00:00.000Z" };
    const body = { ...hours, entities: [location?.id], facets: ["segments", "estimates"] };
    sim.world.setStatus(location?.recordings[0]?.id ?? "", "offline");
    clock.advance(3 * 3_600_000);
    const { segments, estimates } = await ask("entries", body);
    expect(segments).toHaveLength(1);
    for (const [i, segment] of segments.entries()) {
      expect(segment.entries).toBeLessThan(Number(estimates[i]?.entries));
    }
  });

  test("of the whole location is null, no data, and not 0", async () => {
    const [, location] = sim.world.locations;
    const hour = { start: new Date(clock.now() + 1_800_000).toISOString() };
    sim.world.setStatus({ locationId: location?.id ?? "" }, "offline");
    clock.advance(2 * 3_600_000);
    const body = { ...hour, end: new Date(clock.now()).toISOString(), entities: [location?.id], facets: ["summary"] };
    expect((await ask("entries", body)).summary).toEqual([{ location: location?.id, entries: null }]);
  });
});
