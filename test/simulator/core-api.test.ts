import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Simulator } from "../../src/simulator/simulator.ts";
import type { UptimeEntry } from "../../src/simulator/uptime.ts";
import { getJson, handClock, postJson, startSmall, tokenOf } from "./client.ts";

interface UptimeResult {
  recording: Record<string, unknown>;
  uptime: UptimeEntry[];
}

let sim: Simulator;
let token: string;
beforeAll(async () => {
  sim = await startSmall({ clock: handClock() });
  token = await tokenOf(sim);
});
afterAll(() => sim.close());

const first = () => {
  const [recording] = sim.world.recordings;
  if (!recording) throw new Error("the world is empty");
  return recording;
};
const one = (id: string, query: string) =>
  fetch(`${sim.baseUrl}/v1/recording/${id}/uptime${query}`, { headers: { authorization: `Bearer ${token}` } });
const many = (body: unknown) => postJson(`${sim.baseUrl}/v1/recording/uptimes`, body, token);
const day = { start: "2026-11-18", end: "2026-11-18" };

test("the health check is 200 with an empty body and asks for no token", async () => {
  const response = await fetch(`${sim.baseUrl}/v1/status`);
  expect([response.status, await response.text()]).toEqual([200, ""]);
});

test("the location list gives every location's id, name and time zone", async () => {
  const list = await getJson(`${sim.baseUrl}/v1/location/list`, token);
  expect(list).toEqual(sim.world.locations.map(({ id, name, timezone }) => ({ id, name, timezone })));
});

test("without a token the uptime endpoints answer 401", async () => {
  expect((await fetch(`${sim.baseUrl}/v1/recording/${first().id}/uptime?start=2026-11-18&end=2026-11-18`)).status).toBe(
    401,
  );
  expect((await postJson(`${sim.baseUrl}/v1/recording/uptimes`, day)).status).toBe(401);
});

describe("the uptime of one recording", () => {
  test("has the contract's shape, misspelling included", async () => {
    const response = await one(first().id, "?start=2026-11-18&end=2026-11-18");
    const result = (await response.json()) as UptimeResult;
    expect(response.status).toBe(200);
    expect(result.recording).toEqual({
      id: first().id,
      name: first().name,
      organisation: expect.stringMatching(/^[0-9a-f]{24}$/),
      cameraServer: expect.stringMatching(/^[0-9a-f]{24}$/),
      location: first().location.id,
      useUploadingSchedule: false,
      timezone: "Europe/London",
    });
    expect(Object.keys(result.uptime[0] ?? {})).toEqual([
      "index",
      "withinSchedule",
      "segmentsExpected",
      "segmentsReceived",
      "avgUptimeOnSegment",
      "pcSegmentsRecieved",
      "overallUptime",
    ]);
  });

  test("includes both the start and the end date", async () => {
    const { uptime } = (await (await one(first().id, "?start=2026-11-17&end=2026-11-18")).json()) as UptimeResult;
    expect(uptime).toHaveLength(48);
    expect([uptime[0]?.index, uptime.at(-1)?.index]).toEqual(["2026-11-17 00:00", "2026-11-18 23:00"]);
  });

  test("of an unknown recording is 404", async () => {
    expect((await one("0".repeat(24), "?start=2026-11-18&end=2026-11-18")).status).toBe(404);
  });

  test("ends with the hour that is going on", async () => {
    const { uptime } = (await (await one(first().id, "?start=2026-11-20&end=2026-11-21")).json()) as UptimeResult;
    expect(uptime.at(-1)).toMatchObject({ index: "2026-11-20 12:00", segmentsExpected: 30 });
  });
});

test.each([
  { start: "2026-11-18T00:00:00.000Z", end: "2026-11-18" },
  { start: "2026-11-18", end: "2026-11-18T00:00:00Z" },
  { end: "2026-11-18" },
  { start: "2026-11-18" },
  { start: "2026-02-30", end: "2026-03-02" },
  { start: "2026-02-29", end: "2026-03-02" },
  { start: "18-11-2026", end: "18-11-2026" },
  { start: "2026-1-1", end: "2026-01-02" },
  { start: "", end: "2026-11-18" },
  { start: "2026-11-19", end: "2026-11-18" },
])("the range %j is refused with 400, of one recording and of many", async (range) => {
  const query = new URLSearchParams(range as Record<string, string>);
  expect([(await one(first().id, `?${query}`)).status, (await many(range)).status]).toEqual([400, 400]);
});

describe("the uptimes of many recordings", () => {
  const idsOf = (results: UptimeResult[]) => results.map(({ recording }) => recording.id);

  test("are those of every recording where recids is left out", async () => {
    const results = (await (await many(day)).json()) as UptimeResult[];
    expect(idsOf(results)).toEqual(sim.world.recordings.map(({ id }) => id));
  });

  test("are those of recids, the same as asked one by one", async () => {
    const recids = sim.world.recordings.slice(3, 5).map(({ id }) => id);
    const results = (await (await many({ ...day, recids })).json()) as UptimeResult[];
    expect(idsOf(results)).toEqual(recids);
    expect(results[0]).toEqual(await (await one(recids[0] ?? "", "?start=2026-11-18&end=2026-11-18")).json());
  });

  test("pass over recordings that do not exist, and give each once", async () => {
    const response = await many({ ...day, recids: ["f".repeat(24), first().id, first().id] });
    expect(idsOf((await response.json()) as UptimeResult[])).toEqual([first().id]);
  });

  test("of none are an empty array", async () => {
    expect(await (await many({ ...day, recids: [] })).json()).toEqual([]);
  });

  test("are refused where recids is no array of strings", async () => {
    expect((await many({ ...day, recids: first().id })).status).toBe(400);
    expect((await many({ ...day, recids: [1] })).status).toBe(400);
  });
});
