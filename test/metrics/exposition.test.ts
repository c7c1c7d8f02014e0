import { PassThrough } from "node:stream";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { createLogger, silentLogger } from "../../src/lib/log.ts";
import { createExposition, type ExpositionDeps } from "../../src/metrics/exposition.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { fleetOf, NO_LABELS, recordingState, unreadFleet } from "./fleets.ts";

function setUp(deps: Partial<ExpositionDeps> = {}) {
  const registry = new Registry();
  createMetrics(registry, { version: "1.2.3", known: NO_LABELS });
  const exposition = createExposition({
    registry,
    log: silentLogger,
    fleet: async () => ({ snapshot: fleetOf({ recordings: [recordingState("rec-1")] }), rules: [], otherAlerts: [] }),
    ...deps,
  });
  return async (accept?: string) => {
    const { contentType, body } = exposition.expose(accept);
    let text = "";
    for await (const chunk of body) text += chunk;
    return { contentType, text };
  };
}

test("by default it is Prometheus text: process and fleet, every family once", async () => {
  const { contentType, text } = await setUp()();
  expect(contentType).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(text).not.toContain("# EOF");
  const families = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
  expect(families).toContain("process_cpu_seconds_total");
  expect(families).toContain("lenswatch_recording_online");
  expect(new Set(families).size).toBe(families.length);
});

test("OpenMetrics when asked for: counters by the family's name, one end", async () => {
  const { contentType, text } = await setUp()("application/openmetrics-text");
  expect(contentType).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
  expect(text).toContain("# TYPE process_cpu_seconds counter\n");
  expect(text).toMatch(/^process_cpu_seconds_total \d/m);
  expect(text.split("# EOF")).toHaveLength(2);
  expect(text.endsWith("\n# EOF\n")).toBe(true);
  const counters = [...text.matchAll(/^# TYPE (\S+) counter/gm)].map(([, name]) => name);
  expect(counters.filter((name) => name?.endsWith("_total"))).toEqual([]);
  const others = [...text.matchAll(/^# TYPE (\S+) (?:gauge|histogram|summary)/gm)].map(([, name]) => name);
  expect(others.filter((name) => name?.endsWith("_total"))).toEqual([]);
});

test("prom-client's own `Nan`, of an event loop not measured yet, never gets out", async () => {
  const { text } = await setUp()();
  expect(text).not.toMatch(/ [+-]?(?:nan|inf)$/im);
});

describe("without the fleet the process's metrics are still there", () => {
  test("where another replica exposes it", async () => {
    const { text } = await setUp({ fleet: async () => undefined })();
    expect(text).toContain("lenswatch_build_info");
    expect(text).not.toContain("lenswatch_recording");
  });

  test("where it cannot be read, which is logged", async () => {
    const destination = new PassThrough();
    const log = createLogger({ level: "info", destination });
    const fleet = async () => {
      throw new Error("Redis is away");
    };
    const { text } = await setUp({ fleet, log })("application/openmetrics-text");
    expect(text).toContain("lenswatch_build_info");
    expect(text).not.toContain("lenswatch_recording");
    expect(text.endsWith("# EOF\n")).toBe(true);
    expect(String(destination.read())).toContain("Redis is away");
  });
});

describe("what has no series is logged", () => {
  const logged = (destination: PassThrough) => {
    const lines: string[] = [];
    for (let line = destination.read(); line !== null; line = destination.read()) lines.push(String(line));
    return lines;
  };

  test("once where it is the default of a large fleet, with the key to decide otherwise", async () => {
    const destination = new PassThrough();
    const log = createLogger({ level: "info", destination });
    const snapshot = unreadFleet(100_001);
    const scrape = setUp({ log, fleet: async () => ({ snapshot, rules: [], otherAlerts: [] }) });
    expect((await scrape()).text).not.toMatch(/^lenswatch_recording_online/m);
    await scrape();
    expect(logged(destination)).toEqual([
      expect.stringMatching(/"level":"warn".*"recordings":100001,"limit":100000,.*set metrics\.per_recording/),
    ]);
  });

  test("when something begins to be left out", async () => {
    const destination = new PassThrough();
    const log = createLogger({ level: "info", destination });
    const recordings = Array.from({ length: 50_001 }, (_, i) => recordingState(`rec-${i}`, { locationId: `loc-${i}` }));
    let snapshot = fleetOf({ recordings });
    const view = { rules: [], otherAlerts: [], perRecording: "off" } as const;
    const scrape = setUp({ log, fleet: async () => ({ snapshot, ...view }) });
    await scrape();
    await scrape();
    snapshot = fleetOf({});
    await scrape();
    expect(logged(destination)).toEqual([expect.stringContaining('"omitted":{"location":1')]);
    snapshot = fleetOf({ recordings });
    await scrape();
    expect(logged(destination)).toHaveLength(1);
  });
});
