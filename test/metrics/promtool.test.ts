/** promtool is Prometheus' parser and linter. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Registry } from "prom-client";
import { expect, onTestFinished, test } from "vitest";
import type { FleetSnapshot } from "../../src/health/shard-state.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createExposition } from "../../src/metrics/exposition.ts";
import { createMetrics } from "../../src/metrics/metrics.ts";
import { alertState, fleetOf, NO_LABELS, recordingState } from "./fleets.ts";

const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;
const testWithPromtool = test.skipIf(!hasPromtool);
if (!hasPromtool) test.skip("skipped: promtool is not installed", () => undefined);

const HOSTILE = [
  'quote " and \\',
  "line\nbreak\r\n# TYPE evil counter\nevil 1",
  "\u0000\u0007\u001b[31m",
  "x".repeat(10_000),
  "🎥".repeat(300),
  "\ud800 half",
  '"} 1\nlenswatch_recording_online{recording="',
  "",
  "<!channel> {{ $labels }}",
];

const healthy = fleetOf({
  recordings: ["a", "b", "c"].map((id) => recordingState(id, { alerts: { x: alertState("RecordingOffline") } })),
  uptimes: { a: 1, b: 0.5 },
});
const hostile = fleetOf({
  recordings: HOSTILE.map((text, i) =>
    recordingState(`${i}${text}`, { locationId: text, alerts: { x: alertState(text) } }),
  ),
  names: Object.fromEntries(HOSTILE.map((text, i) => [`${i}${text}`, text])),
  locations: HOSTILE.map((text) => ({ id: text, name: text })),
});

async function scrape(snapshot: FleetSnapshot, accept: string): Promise<string> {
  const registry = new Registry();
  const metrics = createMetrics(registry, {
    version: "1.2.3",
    known: {
      ...NO_LABELS,
      endpoints: ["uptimes"],
      outcomes: ["ok"],
      integrations: [{ receiver: "ops", type: "slack" }],
    },
  });
  metrics.sweepFinished(0.2);
  const exposition = createExposition({
    registry,
    log: silentLogger,
    fleet: async () => ({ snapshot, rules: [], otherAlerts: [] }),
  });
  let text = "";
  for await (const chunk of exposition.expose(accept).body) text += chunk;
  return text;
}

function promtool(args: readonly string[], stdin = ""): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("promtool", args);
    let said = "";
    child.stdout.on("data", (data) => {
      said += data;
    });
    child.stderr.on("data", (data) => {
      said += data;
    });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, said }));
    child.stdin.end(stdin);
  });
}

testWithPromtool.each([
  ["a healthy fleet", healthy],
  ["a hostile fleet", hostile],
])("promtool check metrics has nothing to say about %s", async (_, snapshot) => {
  const text = await scrape(snapshot, "text/plain");
  expect(text).toContain("lenswatch_recording_online{");
  const lines = text.trimEnd().split("\n");
  expect(new Set(lines).size).toBe(lines.length);
  expect(await promtool(["check", "metrics"], text)).toEqual({ code: 0, said: "" });
});

testWithPromtool.each([
  ["a healthy fleet", healthy],
  ["a hostile fleet", hostile],
])("Prometheus' OpenMetrics parser reads %s", async (_, snapshot) => {
  const directory = await mkdtemp(join(tmpdir(), "lenswatch-openmetrics-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const text = await scrape(snapshot, "application/openmetrics-text");
  expect(text.endsWith("\n# EOF\n")).toBe(true);
  // promtool has no check for this format, but imports it into blocks, for which samples need a time.
  const timed = text.replace(/^([^#\n].*)$/gm, "$1 1769860800");
  await writeFile(join(directory, "metrics.txt"), timed);
  const imported = await promtool([
    "tsdb",
    "create-blocks-from",
    "openmetrics",
    join(directory, "metrics.txt"),
    join(directory, "data"),
  ]);
  expect(imported).toMatchObject({ code: 0 });
});
