import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Faults } from "../../src/simulator/faults.ts";
import { usualQuality } from "../../src/simulator/fleet.ts";
import { playScenario } from "../../src/simulator/player.ts";
import { parseScenario } from "../../src/simulator/scenario.ts";
import { World } from "../../src/simulator/world.ts";
import { connect, getJson, handClock, locationIds, NOON, snapshot, startSmall } from "./client.ts";

let player: ReturnType<typeof playScenario> | undefined;
afterEach(() => player?.stop());

function play(events: string, clock = handClock()) {
  const emitter = new EventEmitter();
  const world = new World({ seed: 7, locations: 3, recordingsPerLocation: 2, clock, events: emitter });
  const faults = new Faults(emitter);
  const problems: string[] = [];
  const scenario = parseScenario(`events:\n${events}`);
  player = playScenario(scenario, { world, faults, clock }, ({ message }) => problems.push(message));
  const catchUp = player.catchUp;
  const advance = (ms: number) => {
    clock.advance(ms);
    catchUp();
  };
  return { world, faults, problems, advance };
}

const story = ({ world }: { world: World }) =>
  world.ledger.map(({ at, recordingId, status }) => {
    const recording = world.recordings.findIndex(({ id }) => id === recordingId);
    return `${(at - NOON) / 1000}s ${recording} ${status}`;
  });

describe("a scenario", () => {
  test("is played at its own times, however late the clock is looked at", () => {
    const it = play("- { at: 10s, location: L2, status: offline, for: 90s }");
    it.advance(9_999);
    expect(story(it)).toEqual([]);
    it.advance(500_000);
    expect(story(it)).toEqual(["10s 2 offline", "10s 3 offline", "100s 2 online", "100s 3 online"]);
  });

  test("names locations and recordings by place, name or id", () => {
    const it = play(`
- { at: 1s, recording: L1/2, status: offline }
- { at: 2s, recording: "#2/1", status: offline }
- { at: 3s, recording: Bath Southgate Tills, status: offline }`);
    it.advance(3_000);
    expect(story(it)).toEqual(["1s 1 offline", "2s 2 offline", "3s 5 offline"]);
  });

  test("lets the later of two overlapping events win, and the other have its time back", () => {
    const it = play(`
- { at: 10s, location: L1, status: offline, for: 100s }
- { at: 50s, recording: L1/1, status: degraded, for: 20s }
- { at: 90s, recording: L1/2, status: degraded, for: 60s }`);
    it.advance(200_000);
    expect(story(it)).toEqual([
      ...["10s 0 offline", "10s 1 offline", "50s 0 degraded", "70s 0 offline"],
      ...["90s 1 degraded", "110s 0 online", "150s 1 online"],
    ]);
  });

  test("repeats what it is told to repeat", () => {
    const it = play("- { at: 1s, recording: L1/1, status: offline, for: 2s, repeat: { every: 10s, times: 3 } }");
    it.advance(60_000);
    expect(story(it)).toEqual([1, 11, 21].flatMap((s) => [`${s}s 0 offline`, `${s + 2}s 0 online`]));
  });

  test("lowers quality and gives it back", () => {
    const it = play("- { at: 1s, recording: L1/1, quality: 0.3, for: 5s }");
    const id = it.world.recordings[0]?.id ?? "";
    it.advance(1_000);
    expect(it.world.recording(id)?.quality).toBe(0.3);
    it.advance(5_000);
    expect(it.world.recording(id)?.quality).toBe(usualQuality(id));
  });

  test("switches faults on and off; one replaced meanwhile stays", () => {
    const it = play(`
- { at: 1s, fault: slow, ms: 5, for: 10s }
- { at: 2s, fault: http_error, status: 500, for: 4s }
- { at: 5s, fault: slow, ms: 9 }
- { at: 20s, clear_faults: true }`);
    it.advance(2_000);
    expect(Object.keys(it.faults.active())).toEqual(["slow", "http_error"]);
    it.advance(12_000);
    expect(it.faults.active()).toEqual({ slow: { ms: 9 } });
    it.advance(6_000);
    expect(it.faults.active()).toEqual({});
  });

  test("adds, renames, schedules and removes; what it adds it may name", () => {
    const it = play(`
- { at: 1s, add_location: Hull Paragon, timezone: Europe/Paris, recordings: 2 }
- { at: 2s, location: Hull Paragon, add_recording: Back Door }
- { at: 3s, recording: Back Door, rename: Side Door }
- { at: 4s, recording: Side Door, schedule: true }
- { at: 5s, location: Hull Paragon, rename: Hull Station }
- { at: 6s, recording: Side Door, status: offline }
- { at: 7s, location: L1, remove: true }`);
    it.advance(10_000);
    expect(it.problems).toEqual([]);
    expect(it.world.locations.map(({ name }) => name)).toEqual([
      "Manchester Market Street",
      "Bath Southgate",
      "Hull Station",
    ]);
    expect(it.world.locations[2]?.recordings.at(-1)).toMatchObject({
      name: "Side Door",
      useUploadingSchedule: true,
      status: "offline",
    });
  });

  test("that names what is not there is refused with the line and the nearest name", () => {
    expect(() => play("- { at: 1s, location: Leeds Brigate, status: offline }")).toThrow(
      'line 2: There is no location "Leeds Brigate"; did you mean "Leeds Briggate"?',
    );
    expect(() => play("- { at: 1s, recording: L9/1, status: offline }")).toThrow("line 2: There is no recording");
  });

  test("goes on where something it names has gone meanwhile", () => {
    const it = play(`
- { at: 1s, recording: L1/1, remove: true }
- { at: 2s, recording: Leeds Briggate Entrance, status: offline }
- { at: 3s, location: L2, status: offline }`);
    it.advance(5_000);
    expect(it.problems).toHaveLength(1);
    expect(story(it).slice(1)).toEqual(["3s 1 offline", "3s 2 offline"]);
  });
});

describe("on its own timer", () => {
  beforeEach(() => void vi.useFakeTimers({ now: NOON, toFake: ["setTimeout", "clearTimeout", "Date"] }));
  afterEach(() => void vi.useRealTimers());

  test("a scenario is played on time without anybody asking", () => {
    const it = play("- { at: 10m, recording: L1/1, status: offline, for: 30s }", {
      now: () => Date.now(),
      advance() {},
    });
    vi.advanceTimersByTime(599_999);
    expect(story(it)).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(story(it)).toEqual(["600s 0 offline"]);
    vi.advanceTimersByTime(30_000);
    expect(story(it)).toEqual(["600s 0 offline", "630s 0 online"]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("nothing happens once it is stopped", () => {
    const it = play("- { at: 1s, recording: L1/1, status: offline }", { now: () => Date.now(), advance() {} });
    player?.stop();
    vi.advanceTimersByTime(60_000);
    expect(story(it)).toEqual([]);
  });
});

test("a request sees what is due by its time, and the ledger has the scenario's time", async () => {
  const clock = handClock();
  const scenario = parseScenario("events: [{ at: 10s, location: L1, status: offline, for: 20s }]");
  const sim = await startSmall({ clock, scenario });
  const client = await connect(sim);
  const statuses = async () => [
    ...new Set((await snapshot(client, locationIds(sim).slice(0, 1))).map((row) => row.status)),
  ];
  clock.advance(9_999);
  expect(await statuses()).toEqual(["online"]);
  clock.advance(10_001);
  expect(await statuses()).toEqual(["offline"]);
  expect(sim.world.ledger[0]?.at).toBe(NOON + 10_000);
  clock.advance(10_000);
  const { locations } = (await getJson(`${sim.controlUrl}/world`, "")) as { locations: { recordings: object[] }[] };
  expect(locations[0]?.recordings[0]).toMatchObject({ status: "online" });
  expect(await statuses()).toEqual(["online"]);
  await sim.close();
});
