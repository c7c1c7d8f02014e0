import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { FaultInput } from "../../src/simulator/faults.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { credentialsOf, getJson, handClock, postJson, refusedUpgrade, startSmall, tokenOf } from "./client.ts";

const clock = handClock();
let sim: Simulator;
let token: string;
beforeAll(async () => {
  sim = await startSmall({ clock });
  token = await tokenOf(sim);
});
afterEach(() => sim.faults.clearAll());
afterAll(() => sim.close());

const askToken = () => postJson(`${sim.authUrl}/oauth/token`, credentialsOf(sim));
const status = () => fetch(`${sim.baseUrl}/v1/status`);
const list = () => fetch(`${sim.baseUrl}/v1/location/list`, { headers: { authorization: `Bearer ${token}` } });
const uptimes = () =>
  postJson(`${sim.baseUrl}/v1/recording/uptimes`, { start: "2026-10-25", end: "2026-10-25" }, token);

describe("http_error", () => {
  test("answers everything with its status, the upgrade too, until it is cleared", async () => {
    sim.faults.set("http_error", { status: 502 });
    const statuses = [await askToken(), await status(), await list(), await uptimes()].map((r) => r.status);
    expect(statuses).toEqual([502, 502, 502, 502]);
    expect(await refusedUpgrade(sim, `?token=${token}`)).toBe(502);
    sim.faults.clear("http_error");
    expect((await list()).status).toBe(200);
  });

  test("can be of some endpoints only", async () => {
    sim.faults.set("http_error", { endpoint: ["uptimes", "token"] });
    expect([(await uptimes()).status, (await askToken()).status, (await list()).status]).toEqual([503, 503, 200]);
  });

  test("ends by itself after so many hits", async () => {
    sim.faults.set("http_error", { endpoint: "status", times: 2 });
    expect([(await status()).status, (await status()).status, (await status()).status]).toEqual([503, 503, 200]);
    expect(sim.faults.active()).toEqual({});
  });
});

test("rate_limited is 429 with Retry-After", async () => {
  sim.faults.set("rate_limited", { retry_after: 17 });
  const response = await list();
  expect([response.status, response.headers.get("retry-after")]).toEqual([429, "17"]);
});

test("http_garbage is 200 and no JSON", async () => {
  sim.faults.set("http_garbage", { endpoint: "location_list" });
  const response = await list();
  expect(response.status).toBe(200);
  await expect(response.json()).rejects.toThrow(SyntaxError);
});

test("connection_reset cuts the connection instead of an answer", async () => {
  sim.faults.set("connection_reset", {});
  await expect(list()).rejects.toThrow();
});

test("error_payload is 200 with an error in place of the payload", async () => {
  sim.faults.set("error_payload", { key: "errors", endpoint: "location_list" });
  expect(await (await list()).json()).toEqual({ errors: { message: "internal error" } });
});

test("slow answers later than asked", async () => {
  sim.faults.set("slow", { ms: 60, endpoint: "location_list" });
  const before = performance.now();
  await list();
  expect(performance.now() - before).toBeGreaterThan(55);
});

describe("of the issuer", () => {
  test("token_refused refuses the right credentials", async () => {
    sim.faults.set("token_refused", { status: 403 });
    expect((await askToken()).status).toBe(403);
  });

  test("short_tokens end soon", async () => {
    sim.faults.set("short_tokens", { lifetime_ms: 1500 });
    const short = await tokenOf(sim);
    const open = () => fetch(`${sim.baseUrl}/v1/location/list`, { headers: { authorization: `Bearer ${short}` } });
    clock.advance(1499);
    expect((await open()).status).toBe(200);
    clock.advance(1);
    expect((await open()).status).toBe(401);
  });

  test("no_expires_in and no_exp leave out what tells the lifetime", async () => {
    sim.faults.set("no_expires_in");
    sim.faults.set("no_exp");
    const reply = (await (await askToken()).json()) as { access_token: string };
    expect(Object.keys(reply)).toEqual(["access_token", "token_type"]);
    const claims = Buffer.from(reply.access_token.split(".")[1] ?? "", "base64url").toString();
    expect(JSON.parse(claims)).not.toHaveProperty("exp");
  });

  test("unauthorized refuses good tokens, at the Core API and at the upgrade", async () => {
    sim.faults.set("unauthorized", {});
    expect((await list()).status).toBe(401);
    expect(await refusedUpgrade(sim, `?token=${token}`)).toBe(401);
    expect((await status()).status).toBe(200);
  });
});

describe("of the location list", () => {
  type Shape = FaultInput<"location_list_shape">["shape"];
  test.each<[Shape, (rows: { id: string; name: string; timezone: string }[]) => unknown]>([
    ["ids", (rows) => rows.map(({ id }) => id)],
    ["_id", (rows) => rows.map(({ id, ...rest }) => ({ _id: id, ...rest }))],
    ["locations", (rows) => ({ locations: rows })],
    ["data", (rows) => ({ data: rows })],
    ["items", (rows) => ({ items: rows })],
    ["results", (rows) => ({ results: rows })],
  ])("location_list_shape gives it as %s", async (shape, expected) => {
    const rows = sim.world.locations.map(({ id, name, timezone }) => ({ id, name, timezone }));
    sim.faults.set("location_list_shape", { shape });
    expect(await (await list()).json()).toEqual(expected(rows));
  });

  test("empty_list gives no rows", async () => {
    sim.faults.set("empty_list");
    expect(await (await list()).json()).toEqual([]);
  });
});

describe("of uptime", () => {
  type Result = { recording: { timezone: string }; uptime: Record<string, unknown>[] }[];

  test("odd_uptime without a field leaves every nth bucket without figures", async () => {
    sim.faults.set("odd_uptime", { every: 2 });
    const [result] = (await (await uptimes()).json()) as Result;
    expect(result?.uptime.slice(0, 2).map(({ overallUptime }) => overallUptime)).toEqual([null, expect.any(Number)]);
  });
});

describe("a fault that cannot be", () => {
  test.each([
    ["of a name nobody knows", "http_eror", {}, "http_error"],
    ["with a parameter missing", "slow", {}, "ms"],
    ["with a parameter it has not", "empty_list", { every: 2 }, "every"],
    ["with a value out of range", "http_error", { status: 200 }, "status"],
  ])("%s is refused with a sentence", (_, name, params, about) => {
    expect(() => sim.faults.set(name, params)).toThrow(
      expect.objectContaining({ code: "bad_fault", message: expect.stringContaining(about) }),
    );
  });
});

test("requests are told as events, without secrets", async () => {
  const told = once(sim.events, "request");
  await askToken();
  const [event] = await told;
  expect(event).toEqual({ transport: "http", endpoint: "token", outcome: 200, body: undefined, at: clock.now() });
  expect(await getJson(`${sim.controlUrl}/faults`, "")).toEqual({});
});
