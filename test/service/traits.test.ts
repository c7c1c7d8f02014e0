/** Every trait of the simulated service, as the client reads it. */
import { readFileSync } from "node:fs";
import { DateTime } from "luxon";
import { describe, expect, it } from "vitest";
import { parseScenario } from "../../src/simulator/scenario.ts";
import { Traits } from "../../src/simulator/traits.ts";
import { startBoth } from "./support.ts";

/** Friday, 13:30 in New York. */
const NOW = Date.parse("2026-11-20T18:30:00.000Z");
const clock = { now: () => NOW };
const HOUR = 3_600_000;

it("are documented with their defaults", () => {
  const page = readFileSync(new URL("../../docs/simulator.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| `(\w+)`\s*\|[^|]*\| `?([^|`]*?)`?\s*\|/gm)].map(([, key, value]) => [key, value]);
  const defaults = Object.entries(Traits.parse({})).map(([key, value]) => [key, String(value) || "none"]);
  expect(rows).toEqual(defaults);
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
    for (const timezone of zones) simulator.world.addLocation({ name: timezone, timezone, recordings: 1 });
    const days = { start: "2026-11-20", end: "2026-11-21" };
    const ask = async () =>
      (await service.uptimes(days)).results.filter(({ recording }) => zones.includes(recording.timezone));
    await ask();
    const results = await ask();
    expect(results.length).toBeGreaterThanOrEqual(3);
    for (const { buckets } of results) expect(buckets.at(-1)?.startAt).toBe(NOW - (NOW % HOUR));
    expect(recorder.kinds.length > 0).toBe(uptime_index === "utc");
  });
});
