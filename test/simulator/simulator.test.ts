import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { parseScenario } from "../../src/simulator/scenario.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { startSmall } from "./client.ts";

let sim: Simulator;
beforeAll(async () => {
  sim = await startSmall();
});
afterAll(() => sim.close());

const control = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(`${sim.controlUrl}${path}`, {
    method,
    ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe("the control interface", () => {
  test("sets, shows and clears faults", async () => {
    await control("POST", "/faults", { name: "http_error", status: 500 });
    await control("POST", "/faults", { name: "empty_snapshot" });
    expect((await control("GET", "/faults")).body).toEqual({ http_error: { status: 500 }, empty_snapshot: {} });
    expect((await fetch(`${sim.baseUrl}/v1/status`)).status).toBe(500);
    expect((await control("DELETE", "/faults/http_error")).body).toEqual({ empty_snapshot: {} });
    expect((await control("DELETE", "/faults")).body).toEqual({});
  });

  test("shows and changes the world, and the ledger says so", async () => {
    const [location] = sim.world.locations;
    const changed = await control("POST", "/world", [
      { location: "Leeds Briggate", status: "offline" },
      { recording: "L1/1", quality: 0.25 },
    ]);
    expect(changed.body).toHaveLength(4);
    expect((await control("GET", "/ledger")).body).toEqual(changed.body);
    const { locations } = (await control("GET", "/world")).body as { locations: { recordings: object[] }[] };
    expect(locations[0]?.recordings[0]).toMatchObject({
      id: location?.recordings[0]?.id,
      status: "offline",
      quality: 0.25,
    });
  });

  test.each([
    ["/faults", { name: "earthquake" }, "There is no fault"],
    ["/faults", {}, "name"],
    ["/world", { location: "Leds Briggate", status: "offline" }, 'did you mean "Leeds Briggate"'],
    ["/world", { location: "L1" }, "A change needs one of"],
    ["/world", { status: "offline" }, "either a location or a recording"],
    ["/world", [5], "request body"],
  ])("answers a mistake at %s with 400 and a sentence (%j)", async (path, body, sentence) => {
    const answer = await control("POST", path, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(sentence);
  });

  test("works while a fault keeps everything else down", async () => {
    await control("POST", "/faults", { name: "http_error" });
    expect((await control("DELETE", "/faults")).status).toBe(200);
  });
});

describe("starting", () => {
  afterEach(() => void vi.useRealTimers());

  test.each([
    [{ locations: -1 }, "locations must be"],
    [{ locations: 1.5 }, "locations must be"],
    [{ locations: 10_000, recordingsPerLocation: 1_000 }, "at most 1,000,000"],
    [{ seed: Number.NaN }, "seed must be"],
    [{ port: 70_000 }, "port must be"],
    [{ traits: { token_lifetime: "0s" } }, "token_lifetime"],
  ])("with %j is refused with a sentence", async (options, sentence) => {
    await expect(startSmall(options)).rejects.toMatchObject({
      code: "bad_option",
      message: expect.stringContaining(sentence),
    });
  });

  test("on a port that is taken is refused, and leaves nothing behind", async () => {
    const port = Number(new URL(sim.baseUrl).port);
    const scenario = parseScenario("events: [{ at: 1h, location: L1, status: offline }]");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await expect(startSmall({ port, scenario })).rejects.toMatchObject({ code: "cannot_listen" });
    expect(vi.getTimerCount()).toBe(0);
  });
});
