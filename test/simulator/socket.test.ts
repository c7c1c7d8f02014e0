import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { type Client, connect, handClock, locationIds, refusedUpgrade, snapshot, startSmall } from "./client.ts";

interface FaultRefusal {
  error: { code: string; message: string };
}

const clock = handClock();
let sim: Simulator;
let client: Client;
beforeAll(async () => {
  sim = await startSmall({ clock, traits: { token_lifetime: "1h" } });
  client = await connect(sim);
});
afterAll(() => sim.close());

const range = () => ({
  start: "2026-11-01T00:00:00.000Z",
  end: "2026-11-02T00:00:00.000Z",
  entities: locationIds(sim),
  entityType: "location",
});

test("the upgrade is refused without a token of ours, and on another path", async () => {
  for (const query of ["", "?token=", "?token=x.y.z"]) expect(await refusedUpgrade(sim, query)).toBe(401);
  expect(await refusedUpgrade({ ...sim, wsUrl: `${sim.wsUrl}/other` }, "")).toBe(404);
});

describe("a reply", () => {
  test("is `<id>|0|0|<json>` with the caller's id", async () => {
    client.send("status", "status/uptime", { entities: [], entityType: "location" }, "my-id 7");
    expect((await client.next()).raw).toBe("my-id 7|0|0|[]");
  });
});

describe("status/uptime", () => {
  test("gives one row per recording of a location, in the contract's shape", async () => {
    const [location] = sim.world.locations;
    const rows = await snapshot(client, [location?.id ?? ""]);
    expect(rows.map((row) => row.recording_id)).toEqual(location?.recordings.map(({ id }) => id));
    expect(rows[0]).toEqual({
      recording_id: location?.recordings[0]?.id,
      location_id: location?.id,
      status: "online",
      last_seen_utc: expect.stringMatching(/^2026-11-20T12:\d\d:\d\d\.\d{3}Z$/),
      average_quality: location?.recordings[0]?.quality,
    });
  });

  test("takes recordings as entities, each once, and passes over what does not exist", async () => {
    const ids = sim.world.recordings.slice(4, 6).map(({ id }) => id);
    const rows = await snapshot(client, [...ids, ...ids, "0".repeat(24)], "recording");
    expect(rows.map((row) => row.recording_id)).toEqual(ids);
  });

  test("is refused with dates, without entities, or of another kind of entity", async () => {
    for (const wrong of [{ start: range().start }, { entities: undefined }, { entityType: "camera" }]) {
      const { error } = await client.ask<FaultRefusal>("status", "status/uptime", {
        entities: [],
        entityType: "location",
        ...wrong,
      });
      expect(error.code).toBe("bad_request");
    }
  });

  test("says offline, and when it was last heard of, from the moment on", async () => {
    const [id = ""] = sim.world.recordings.map((recording) => recording.id);
    sim.world.setStatus(id, "offline");
    const goneAt = new Date(clock.now()).toISOString();
    clock.advance(60_000);
    const [row] = await snapshot(client, [id], "recording");
    expect(row).toMatchObject({ status: "offline", last_seen_utc: goneAt });
    sim.world.setStatus(id, "online");
  });
});

describe("detail/list", () => {
  test("gives the zone each recording covers", async () => {
    const [location] = sim.world.locations;
    const body = { returnEntityType: "area_context", entities: [location?.id], entityType: "location" };
    const rows = await client.ask("detail", "detail/list", body);
    expect(rows).toEqual(
      location?.recordings.map(({ id, taxonomies: [taxonomy] }) => ({
        area_type: "taxonomy",
        taxonomy,
        recording_id: id,
      })),
    );
  });

  test("is refused for another type of return", async () => {
    const body = { returnEntityType: "line_context", entities: [], entityType: "location" };
    expect((await client.ask<FaultRefusal>("detail", "detail/list", body)).error.message).toContain("returnEntityType");
  });
});

describe("a wrong request gets an error frame with its id", () => {
  test.each([
    ["a route nobody knows", "metric", "passers-by"],
    ["a route under another action", "metric", "status/uptime"],
    ["an action nobody knows", "delete", "entries"],
  ])("%s", async (_, action, route) => {
    client.send(action, route, {}, "e1");
    const frame = await client.next();
    expect(frame.raw).toMatch(/^e1\|0\|0\|\{"error":/);
    expect(JSON.parse(frame.text).error.code).toBe("unknown_route");
  });

  test.each([
    ["a date-only start", { start: "2026-11-01" }, "start"],
    ["a timestamp without zone", { start: "2026-11-01T00:00:00.000" }, "start"],
    ["a timestamp without milliseconds", { end: "2026-11-01T00:00:00Z" }, "end"],
    ["a moment that does not exist", { start: "2026-13-01T00:00:00.000Z" }, "start"],
    ["no start", { start: undefined }, "start"],
    ["an end before the start", { end: "2026-10-01T00:00:00.000Z" }, "end"],
    ["a facet nobody knows", { facets: ["totals"] }, "facets"],
    ["ages without the age dimension", { ages: ["25_34"] }, "age"],
    ["an age of another shape", { ages: ["25-34"], breakdownByDimensions: ["age"] }, "ages"],
    ["an area type, which entries have not", { areaType: "taxonomy" }, "areaType"],
  ])("entries with %s", async (_, change, about) => {
    const { error } = await client.ask<FaultRefusal>("metric", "entries", {
      ...range(),
      facets: ["summary"],
      ...change,
    });
    expect(error).toMatchObject({ code: "bad_request", message: expect.stringContaining(about) });
  });

  test("text that is no request has no id to echo", async () => {
    for (const text of ["not json", "[]", '{"action":"status"}']) {
      client.ws.send(text);
      expect((await client.next()).raw).toMatch(/^\|0\|0\|\{"error":/);
    }
  });
});

test("once its token has ended a connection answers with an error and closes", async () => {
  const late = await connect(sim);
  clock.advance(3_600_000);
  const closed = once(late.ws, "close");
  const { error } = await late.ask<FaultRefusal>("status", "status/uptime", { entities: [], entityType: "location" });
  expect(error.code).toBe("token_expired");
  expect((await closed)[0]).toBe(4401);
});
