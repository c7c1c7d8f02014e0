import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseScenario } from "../../../src/simulator/scenario.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { type Client, connect, handClock, NOON, postJson, startSmall } from "../client.ts";

const HOUR = 3_600_000;
const TILLS = "Ground:Service:Tills";
const scenario = parseScenario(`
events:
  - { at: -5h, recording: L1/1, sees: 0 }
  - { at: -5h, recording: L1/2, sees: 0.5, for: 2h }
  - { at: -10h, recording: L2/1, ghosts: 60, for: 4h }
  - { at: -1d, recording: L3/1, freeze: true, for: 2h, repeat: { every: 22h, times: 2 } }
  - { at: -2h, recording: L3/1, turned: true }
  - { at: 1h, location: L4, sees: 0, for: 1h }
`);

const clock = handClock();
let sim: Simulator;
let client: Client;
beforeAll(async () => {
  sim = await startSmall({ clock, scenario, traits: { token_lifetime: "1w" } });
  client = await connect(sim);
});
afterAll(() => sim.close());

interface Truth {
  came: number;
  counted: number;
  missed: number;
  false: number;
  sales: number;
  faults: { recordingId: string; kind: string; value: unknown; from: number; until: number | null }[];
}
const span = (from: number, to: number) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
async function truth(of: Record<string, string>, from = NOON - 4 * HOUR, to = NOON): Promise<Truth> {
  const url = `${sim.controlUrl}/visits?${new URLSearchParams({ ...of, ...span(from, to) })}`;
  return (await (await fetch(url)).json()) as Truth;
}
async function entries(nth: number, from: number, to: number, zone?: string): Promise<number | null> {
  const { from: start, to: end } = span(from, to);
  const [route, more] = zone ? ["area/data", { areaType: "taxonomy", taxonomy: [zone] }] : ["entries", {}];
  const body = { start, end, entities: [sim.world.locations[nth]?.id], entityType: "location", ...more };
  const { summary } = await client.ask<{ summary: Record<string, number | null>[] }>("metric", route as string, body);
  return summary[0]?.[zone ? "area_total_entries" : "entries"] ?? null;
}
const recording = (place: number, nth = 0) => sim.world.locations[place]?.recordings[nth]?.id ?? "";

describe("a camera that saw nothing since before the start", () => {
  test("is online with its quality, and counts 0 while people come, buy and are counted elsewhere", async () => {
    const rows = await client.ask<{ status: string; recording_id: string; average_quality: number }[]>(
      ...(["status", "status/uptime", { entities: [recording(0)], entityType: "recording" }] as const),
    );
    expect(rows).toMatchObject([{ status: "online", average_quality: sim.world.recording(recording(0))?.quality }]);
    expect(await entries(0, NOON - 4 * HOUR, NOON)).toBe(0);
    expect(await entries(0, NOON - 4 * HOUR, NOON, TILLS)).toBeGreaterThan(0);
    expect((await truth({ location: "L1" })).sales).toBeGreaterThan(0);
  });

  test("is in the ledger with what it truly missed", async () => {
    const { came, counted, missed, faults } = await truth({ recording: "L1/1" });
    expect(counted).toBe(0);
    expect(missed).toBeGreaterThan(0.8 * came);
    expect(missed).toBeLessThanOrEqual(came);
    expect(faults).toEqual([
      { recordingId: recording(0), kind: "sees", value: 0, from: sim.world.startedAt - 5 * HOUR, until: null },
    ]);
    const ledger = (await (await fetch(`${sim.controlUrl}/ledger`)).json()) as object[];
    const of = { recordingId: recording(0, 1), change: "sees", status: "online" };
    expect(ledger).toContainEqual(expect.objectContaining({ ...of, value: 0.5, at: sim.world.startedAt - 5 * HOUR }));
    expect(ledger).toContainEqual(expect.objectContaining({ ...of, value: 1, at: sim.world.startedAt - 3 * HOUR }));
  });
});

test("a poster is counted at night, and is no visit", async () => {
  const { came, counted, false: none } = await truth({ location: "L2" }, NOON - 9.5 * HOUR, NOON - 6.5 * HOUR);
  expect(came).toBe(0);
  expect(counted).toBe(none);
  expect(none).toBeGreaterThan(60);
});

test("a frozen picture repeats, and one turned aside counts others", async () => {
  const { faults, missed, false: none } = await truth({ recording: "L3/1" }, NOON - 30 * HOUR, NOON);
  const begun = sim.world.startedAt;
  expect(faults.map(({ kind, from, until }) => [kind, from - begun, until === null ? null : until - begun])).toEqual([
    ["freeze", -24 * HOUR, -22 * HOUR],
    ["freeze", -2 * HOUR, 0],
    ["turned", -2 * HOUR, null],
  ]);
  expect(none).toBe(0);
  expect(missed).toBeGreaterThan(0);
  const later = await truth({ recording: "L3/1" }, NOON, NOON + 24 * HOUR);
  expect(later.false).toBeGreaterThan(0);
  expect(later.missed).toBeGreaterThan(later.counted - later.false);
});

test("a change by the control interface may begin in the past, not in the future", async () => {
  const change = (at: string) => postJson(`${sim.controlUrl}/world`, { recording: "L4/1", sees: 0, at });
  expect((await change("1h")).status).toBe(400);
  expect(await entries(3, NOON - 3 * HOUR, NOON)).toBeGreaterThan(0);
  expect(await (await change("-3h")).json()).toMatchObject([{ at: clock.now() - 3 * HOUR, change: "sees", value: 0 }]);
  expect(await entries(3, NOON - 3 * HOUR + 60_000, NOON)).toBe(0);
  await postJson(`${sim.controlUrl}/world`, { recording: "L4/1", sees: 1, at: "-3h" });
  expect(await entries(3, NOON - 3 * HOUR, NOON)).toBeGreaterThan(0);
});

test("counts come late on the service's grid, and stay once they are corrected overnight", async () => {
  const hours = [NOON - 3 * HOUR, NOON + HOUR / 4] as const;
  const served = [await entries(1, ...hours)];
  for (let tick = 0; tick < 20; tick++) {
    clock.advance(2 * 60_000);
    served.push(await entries(1, ...hours));
  }
  expect(served).toEqual(served.toSorted((a, b) => Number(a) - Number(b)));
  expect(new Set(served).size).toBeGreaterThan(2);
  expect(new Set(served).size).toBeLessThan(6);
  clock.advance(15 * HOUR);
  const final = await entries(1, ...hours);
  expect(final).not.toBe(served.at(-1));
  expect(Math.abs(Number(final) - Number(served.at(-1)))).toBeLessThan(5 + 0.1 * Number(final));
  clock.advance(5 * 24 * HOUR);
  expect(await entries(1, ...hours)).toBe(final);
});
