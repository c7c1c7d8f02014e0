import { describe, expect, test } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import type { RecordingState } from "../../src/health/shard-state.ts";
import { silentLogger } from "../../src/lib/log.ts";
import { createSloSamples, type SloSamplesDeps } from "../../src/poll/slo-samples.ts";
import type { LabelledBudget } from "../../src/store/store.ts";
import { alertState, fleetOf, NOW, recordingState } from "../metrics/fleets.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
type Config = SloSamplesDeps["config"];

const all = { name: "all", objective: 0.99, periodMs: 30 * 86_400_000, matchers: [], by: undefined };
const maintained = {
  name: "stock-take",
  matchers: parseMatchers("recording_id=planned"),
  comment: "",
  timeIntervals: [{ name: "always", intervals: [{}] }],
} as unknown as Config["maintenance"][number];

const offline: Partial<RecordingState> = { status: "offline" };
const recordings = [
  recordingState("up"),
  recordingState("degraded", { status: "degraded" }),
  recordingState("down", offline),
  recordingState("closed", offline),
  recordingState("planned", offline),
  recordingState("stale", { ...offline, readAt: NOW - 10 * MINUTE }),
  recordingState("never", { status: undefined, readAt: 0 }),
  recordingState("missing", {
    readAt: NOW - 10 * MINUTE,
    alerts: {
      RecordingMissing: alertState("RecordingMissing", {
        state: "firing",
        facts: { timezone: "UTC", problem: "missing" },
      }),
    },
  }),
];

function samplesOf(
  config: Partial<Config> = {},
  stored = new Map<string, LabelledBudget>(),
  { crowd = recordings, log = silentLogger, statusIntervalMs = MINUTE } = {},
) {
  const clock = { at: NOW };
  let fails = false;
  const sample = createSloSamples({
    clock: { now: () => clock.at },
    log,
    config: { slos: [all], maintenance: [maintained], ...config },
    watch: { statusIntervalMs },
    schedules: () => ({
      inSchedule: (id) => id !== "closed",
      scheduleOf: () => undefined,
      scheduleBegan: () => undefined,
    }),
    fleet: async () => {
      if (fails) throw new Error("Redis is gone");
      return fleetOf({ recordings: crowd, names: { up: "Entrance", down: "Tills" } });
    },
    store: {
      readAll: async () => new Map(stored),
      async save(rows) {
        for (const [id, row] of rows) stored.set(id, row);
      },
      async forget(ids) {
        for (const id of ids) stored.delete(id);
      },
    },
  });
  return { sample, clock, stored, fail: () => (fails = true) };
}

const sums = (row: LabelledBudget | undefined) => row?.budget.tiers[0]?.map(([, ...rest]) => rest);

describe("samples of error budgets", () => {
  test("count what should record, in no maintenance, with a known status; a missing recording does not record", async () => {
    const { sample, clock, stored } = samplesOf();
    await sample();
    clock.at += MINUTE;
    await sample();
    expect(sums(stored.get("all"))).toEqual([[60, 120, 120]]);
    expect(stored.get("all")?.offline).toEqual({ total: 2, names: ["Leeds, Tills", "Leeds, missing"] });
  });

  test("are taken once a minute, whatever calls for them", async () => {
    const { sample, clock, stored } = samplesOf();
    for (let i = 0; i <= 8; i++) {
      await sample();
      clock.at += MINUTE / 4;
    }
    expect(sums(stored.get("all"))).toEqual([[120, 240, 240]]);
  });

  test("count where a status is read once an hour", async () => {
    const { sample, clock, stored } = samplesOf({}, undefined, { statusIntervalMs: 60 * MINUTE });
    await sample();
    clock.at += 60 * MINUTE;
    await sample();
    expect(sums(stored.get("all"))?.[0]?.[0], "seconds").toBe(3_600);
  });

  test("have a budget for each group of those that match", async () => {
    const byServer = {
      ...all,
      name: "servers",
      by: "camera_server" as const,
      matchers: parseMatchers("organisation=org"),
    };
    const byLocation = { ...all, name: "places", by: "location" as const };
    const { sample } = samplesOf({ slos: [byServer, byLocation] });
    expect((await sample())?.map(({ id, title, labels }) => ({ id, title, labels }))).toEqual([
      { id: "servers/cs", title: "SLO servers of cs", labels: { slo: "servers", camera_server: "cs" } },
      {
        id: "places/loc-1",
        title: "SLO places of Leeds",
        labels: { slo: "places", location_id: "loc-1", location: "Leeds" },
      },
    ]);
  });

  test("of objectives that were removed or grouped otherwise are kept for a day, as evidence of nothing", async () => {
    const stored = new Map<string, LabelledBudget>();
    await samplesOf({ slos: [all, { ...all, name: "old" }] }, stored).sample();
    expect([...stored.keys()]).toEqual(["all", "old"]);
    const next = samplesOf({ slos: [{ ...all, by: "location" }] }, stored);
    next.clock.at += MINUTE;
    expect((await next.sample())?.map(({ id }) => id)).toEqual(["all/loc-1"]);
    next.clock.at = NOW + DAY;
    await next.sample();
    expect([...stored.keys()]).toEqual(["all", "old", "all/loc-1"]);
    next.clock.at += MINUTE;
    await next.sample();
    expect([...stored.keys()]).toEqual(["all/loc-1"]);
  });

  test("stay for their period where a group has no recordings any more, and name three that are offline", async () => {
    const crowd = Array.from({ length: 5 }, (_, i) => recordingState(`r${i}`, offline));
    const { sample, clock, stored } = samplesOf({ slos: [{ ...all, by: "location" }] }, new Map(), { crowd });
    await sample();
    expect(stored.get("all/loc-1")?.offline).toMatchObject({ total: 5, names: { length: 3 } });
    crowd.splice(0);
    clock.at += all.periodMs;
    await sample();
    expect([...stored.keys()]).toEqual(["all/loc-1"]);
    clock.at += 1;
    await sample();
    expect([...stored.keys()]).toEqual([]);
  });

  test("are kept of 500 groups, always the same, and a line in the log says how many are left out", async () => {
    const lines: unknown[] = [];
    const log = { ...silentLogger, warn: (...line: unknown[]) => void lines.push(line) } as typeof silentLogger;
    const crowd = Array.from({ length: 502 }, (_, i) => recordingState(`r${i}`, { locationId: `loc-${i}` }));
    const { sample, clock, stored } = samplesOf({ slos: [{ ...all, by: "location" }] }, new Map(), { crowd, log });
    await sample();
    const kept = [...stored.keys()];
    crowd.reverse();
    clock.at += MINUTE;
    await sample();
    expect(kept).toHaveLength(500);
    expect([...stored.keys()]).toEqual(kept);
    expect(lines).toEqual([[{ kept: 500, leftOut: 2 }, "error budgets left out, too many groups"]]);
  });

  test("are not taken without an objective; those of before go on where it is back within a day; a failure is no evidence", async () => {
    const stored = new Map<string, LabelledBudget>();
    const { sample, clock } = samplesOf({}, stored);
    await sample();
    clock.at += MINUTE;
    await sample();
    const none = samplesOf({ slos: [] }, stored);
    none.fail();
    none.clock.at += 2 * MINUTE;
    expect(await none.sample()).toEqual([]);
    const back = samplesOf({}, stored);
    for (back.clock.at += DAY; back.clock.at <= NOW + DAY + MINUTE; back.clock.at += MINUTE) await back.sample();
    expect(stored.get("all")?.budget.tiers[1]?.map(([, watched]) => watched)).toEqual([60, 60]);
    none.clock.at += 3 * DAY;
    await none.sample();
    expect([...stored.keys()]).toEqual([]);
    const broken = samplesOf();
    broken.fail();
    expect(await broken.sample()).toBeUndefined();
  });
});
