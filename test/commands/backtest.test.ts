/** The command against the simulator: real requests, real pages, a real history. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { gatherVisits } from "../../src/commands/backtest.ts";
import { settingsOf } from "../../src/commands/simulate.ts";
import { HOUR_MS } from "../../src/lib/clock.ts";
import type { SimRecording } from "../../src/simulator/fleet.ts";
import { createHourCalendar } from "../../src/simulator/local-time.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { outagesOf } from "../../src/simulator/uptime.ts";
import { lenswatch } from "./run-command.ts";

const NOW = Date.parse("2026-11-20T12:00:00Z");
const MINUTE_MS = 60_000;
const RULES = [{ alert: "RecordingOffline", when: { status: "offline" } }];

let simulator: Simulator;
let directory: string;
let strict: string;

beforeAll(async () => {
  simulator = await startSimulator({ locations: 12, recordingsPerLocation: 3, seed: 11, clock: { now: () => NOW } });
  directory = await mkdtemp(join(tmpdir(), "lenswatch-backtest-"));
  strict = await configure("strict.yaml", RULES);
});
afterAll(async () => {
  await simulator.close();
  await rm(directory, { recursive: true });
});

async function configure(name: string, rules: unknown, more: object = {}): Promise<string> {
  const file = join(directory, name);
  const service = settingsOf(simulator);
  const receivers = [{ name: "ops", slack_configs: [{ api_url: "https://hooks.slack.com/services/T0/B0/x" }] }];
  await writeFile(file, stringify({ service, rules, receivers, ...more }));
  return file;
}

const backtest = (argv: readonly string[], around: Parameters<typeof lenswatch>[2] = {}) =>
  lenswatch(["backtest", ...argv], {}, { now: NOW, ...around });

interface Answer {
  readonly fleet: { locations: number; recordings: number; withoutHistory: number };
  readonly rules: readonly { rule: string; location: string; week: string; episodes: number }[];
  readonly recordings: readonly { recordingId: string; episodes: number; firingSeconds: number }[];
}

async function answer(...argv: string[]): Promise<Answer> {
  const { stdout, stderr, exitCode } = await backtest(["--config", strict, "--output", "json", ...argv]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return JSON.parse(stdout);
}

const calendar = createHourCalendar();
const SPAN = ["--from", "2026-09-01", "--to", "2026-10-31"] as const;
/** Enough where it does not matter what fires. */
const SHORT = ["--from", "2026-10-18", "--to", "2026-10-31"] as const;

/** Runs of whole hours in which not one segment arrived, from what truly happened. */
function outages(recording: SimRecording, from: number, to: number): { episodes: number; firingSeconds: number } {
  const hours = calendar
    .hoursBetween(from, to, recording.location.timezone)
    .filter(({ hour }) => !recording.useUploadingSchedule || (hour >= 8 && hour < 20));
  const truth = outagesOf(recording, hours, NOW);
  const isDark = (startAt: number) => {
    const near = truth.filter(([start, end]) => start < startAt + HOUR_MS && end > startAt);
    return Array.from({ length: 60 }, (_, minute) => startAt + minute * MINUTE_MS).every((at) =>
      near.some(([start, end]) => start < at + MINUTE_MS && end > at),
    );
  };
  const isDarkHour = hours.map(({ startAt }) => isDark(startAt));
  return {
    episodes: isDarkHour.filter((dark, i) => dark && !isDarkHour[i - 1]).length,
    firingSeconds: isDarkHour.filter((dark) => dark).length * 3600,
  };
}

describe("against the simulator's past", () => {
  test("every outage of a whole hour fires, and nothing else", async () => {
    const { recordings, fleet } = await answer(...SPAN);
    const [from, to] = [Date.parse("2026-09-01"), Date.parse("2026-11-01")];
    const expected = simulator.world.recordings
      .filter(({ useUploadingSchedule }) => !useUploadingSchedule)
      .map((one) => ({ recordingId: one.id, ...outages(one, from, to) }))
      .filter(({ episodes }) => episodes > 0);
    expect(expected.length).toBeGreaterThan(8);
    const scheduled = new Set(simulator.world.recordings.filter((one) => one.useUploadingSchedule).map(({ id }) => id));
    const found = recordings
      .filter(({ recordingId }) => !scheduled.has(recordingId))
      .map(({ recordingId, episodes, firingSeconds }) => ({ recordingId, episodes, firingSeconds }));
    const byId = (a: { recordingId: string }, b: { recordingId: string }) => (a.recordingId < b.recordingId ? -1 : 1);
    expect(found.sort(byId)).toEqual(expected.sort(byId));
    expect(fleet).toEqual({ locations: 12, recordings: 36, withoutHistory: 0 });
  });

  test("what its ledger says of today is in today's history", async () => {
    const [recording] = simulator.world.recordings;
    if (!recording) throw new Error("no recording");
    simulator.world.setStatus(recording.id, "offline", NOW - 5 * HOUR_MS - 10 * MINUTE_MS);
    simulator.world.setStatus(recording.id, "online", NOW - 2 * HOUR_MS - 10 * MINUTE_MS);
    const [down, up] = simulator.world.ledger.filter(({ recordingId }) => recordingId === recording.id);
    const whole = Math.floor(((up?.at ?? 0) - (down?.at ?? 0)) / HOUR_MS) - 1;
    const { recordings } = await answer("--from", "2026-11-20", "--to", "2026-11-20");
    expect(recordings.filter(({ recordingId }) => recordingId === recording.id)).toMatchObject([
      { episodes: 1, firingSeconds: whole * 3600 },
    ]);
  });
});

test("a location is named by its name or its id, and only it is asked for", async () => {
  const [first, second] = simulator.world.locations;
  if (!first || !second) throw new Error("no locations");
  const { fleet, rules } = await answer(...SHORT, "--location", first.name, "--location", second.id);
  expect(fleet).toMatchObject({ locations: 2, recordings: 6 });
  expect(new Set(rules.map(({ location }) => location)).size).toBeLessThanOrEqual(2);
});

test("what a configuration does not watch is not asked for, nor what it excludes", async () => {
  const [location] = simulator.world.locations;
  const [recording, other] = location?.recordings ?? [];
  const watch = { locations: [location?.id], exclude: [recording?.id] };
  const config = await configure("watch.yaml", RULES, { watch });
  const { stdout } = await backtest(["--config", config, ...SHORT, "--output", "json"]);
  const { fleet, recordings } = JSON.parse(stdout) as Answer;
  expect(fleet.locations).toBe(1);
  expect(recordings.some(({ recordingId }) => recordingId === recording?.id)).toBe(false);
  expect(other).toBeDefined();
});

test("as a table shows rules, weeks and the worst recordings, and what history cannot show", async () => {
  const { stdout, exitCode } = await backtest(["--config", strict, ...SPAN]);
  expect(exitCode).toBe(0);
  expect(stdout.replace(strict, "FILE")).toMatchSnapshot();
});

test("reports that nothing would have fired, and which rules were not evaluated", async () => {
  const flapping = await configure("flapping.yaml", [{ alert: "Flaps", when: { flapping: {} } }]);
  const { stdout } = await backtest(["--config", flapping, ...SHORT]);
  expect(stdout).toContain("No alert would have fired.");
  expect(stdout).toContain("Flaps is not evaluated: flips within a bucket leave no trace.");
});

describe("rules about counts", () => {
  const rules = [...RULES, { alert: "Uncounted", when: { counts: { sensitivity: 30 } } }];

  test("are left out where that is asked for, and named", async () => {
    const config = await configure("counts.yaml", rules);
    const { stdout, exitCode } = await backtest(["--config", config, ...SHORT, "--no-counts"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Uncounted is not evaluated: --no-counts leaves it out.");
  });

  test("are refused before anything is read where that takes too many requests", async () => {
    const config = await configure("counts-slow.yaml", rules, { watch: { locations_per_request: 1 } });
    const { stdout, stderr, exitCode } = await backtest(["--config", config, ...SPAN]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr).toMatch(/at least \d{3},\d{3} requests, 20,000 at most are made; give fewer days, a --location/);
  });

  test("are tried once with each sensitivity", () => {
    expect(["30", "10", "30"].reduce<readonly number[]>((before, text) => gatherVisits(text, before), [])).toEqual([
      30, 10,
    ]);
  });
});

test("as CSV is one table", async () => {
  const argv = ["--config", strict, ...SPAN, "--location", "Cardiff Queen Street", "--output", "csv"];
  expect((await backtest(argv)).stdout).toMatchSnapshot();
});

describe("a service in trouble", () => {
  test("is asked again, and nothing is counted twice", async () => {
    const calmly = await answer(...SHORT);
    simulator.faults.set("http_error", { status: 503, endpoint: "uptimes", times: 2 });
    simulator.faults.set("connection_reset", { endpoint: "location_list", times: 1 });
    expect(await answer(...SHORT)).toEqual(calmly);
  });

  test("that refuses so many days is asked for fewer at once", async () => {
    // The simulator gives 800 days at most.
    const [location] = simulator.world.locations;
    const span = ["--from", "2024-08-10", "--to", "2026-10-31"];
    const { recordings } = await answer(...span, "--location", location?.id ?? "");
    const [from, to] = [Date.parse("2024-08-10"), Date.parse("2026-11-01")];
    const one =
      location?.recordings.find(({ useUploadingSchedule }) => useUploadingSchedule) ?? location?.recordings[0];
    expect(recordings.find(({ recordingId }) => recordingId === one?.id)).toMatchObject(
      one ? outages(one, from, to) : {},
    );
  });

  test("that refuses the credentials ends it with exit code 3 and the next step", async () => {
    const service = { ...settingsOf(simulator), client_secret: "wrong" };
    const config = await configure("wrong.yaml", RULES, { service });
    const { stdout, stderr, exitCode } = await backtest(["--config", config, ...SPAN]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 3 });
    expect(stderr).toMatch(/^lenswatch: .*client_secret.*\n$/);
  });

  test("given up with Ctrl-C, it ends without a word", async () => {
    const stopping = new AbortController();
    simulator.faults.set("slow", { ms: 60_000, endpoint: "uptimes" });
    const fleetIsKnown = new Promise<void>((resolve) =>
      simulator.events.on("request", ({ endpoint }) => {
        if (endpoint === "status/uptime") resolve();
      }),
    );
    const done = backtest(["--config", strict, ...SHORT], { signal: stopping.signal });
    await fleetIsKnown;
    stopping.abort();
    expect(await done).toEqual({ stdout: "", stderr: "", exitCode: 0 });
    simulator.faults.clearAll();
  });
});

test("a progress bar is drawn only on a terminal, and is removed at the end", async () => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const { stderr, stdout } = await backtest(["--config", strict, ...SHORT], { stderr: terminal });
  expect(stderr).toContain("36 of 36 recordings");
  expect(stdout).not.toContain("of 36 recordings");
});

test.each([
  ["a day that is none", ["--from", "2026-02-30"], "a day or time such as 7d"],
  ["days in the wrong order", ["--from", "2026-10-02", "--to", "2026-10-01"], "--from"],
  ["a day to come", ["--from", "2026-10-02", "--to", "2026-12-01"], "--to"],
  ["no day at all", [], "--from"],
  ["a location nobody watches", [...SPAN, "--location", "Atlantis"], '"Atlantis"'],
  ["no sensitivity", [...SPAN, "--counts", "0"], "a number of visits from 1 to 10000"],
  ["half a sensitivity", [...SPAN, "--counts", "1.5"], "a number of visits from 1 to 10000"],
])("%s is wrong usage", async (_, argv, named) => {
  const { stdout, stderr, exitCode } = await backtest(["--config", strict, ...argv]);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  expect(stderr).toContain(named);
});

test("a configuration with problems is refused with all of them", async () => {
  const bad = await configure("bad.yaml", [{ alert: "X", when: { status: "ofline" } }]);
  const { stderr, exitCode } = await backtest(["--config", bad, ...SPAN]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("did you mean offline?");
});
