import { once } from "node:events";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { FaultName } from "../../src/simulator/faults.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { credentialsOf, getJson, handClock, postJson, refusedUpgrade, startSmall, tokenOf } from "./client.ts";

const clock = handClock();
let sim: Simulator;
let token: string;
beforeAll(async () => {
  sim = await startSmall({ clock, traits: { token_lifetime: "10m" } });
});
afterEach(() => sim.faults.clearAll());
afterAll(() => sim.close());

const askToken = (change = {}) => postJson(`${sim.authUrl}/oauth/token`, { ...credentialsOf(sim), ...change });
const list = (authorization?: string) =>
  fetch(`${sim.baseUrl}/v1/location/list`, { headers: authorization === undefined ? {} : { authorization } });
const ENDPOINTS = {
  token: () => askToken(),
  status: () => fetch(`${sim.baseUrl}/v1/status`),
  location_list: () => list(`Bearer ${token}`),
  uptimes: () => postJson(`${sim.baseUrl}/v1/recording/uptimes`, { start: "2026-10-25", end: "2026-10-25" }, token),
  upgrade: async () => ({ status: (await refusedUpgrade(sim, `?token=${token}`).catch(() => 101)) ?? 0 }),
};
const statuses = async (...endpoints: (keyof typeof ENDPOINTS)[]) => {
  const found = [];
  for (const endpoint of endpoints) found.push((await ENDPOINTS[endpoint]()).status);
  return found.join(" ");
};
const claimsOf = (jwt = "") => JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString());

describe("a fault of HTTP", () => {
  beforeAll(async () => {
    token = await tokenOf(sim);
  });

  test.each<[FaultName, object, (keyof typeof ENDPOINTS)[], string]>([
    ["http_error", { status: 502 }, ["token", "status", "location_list", "uptimes", "upgrade"], "502 502 502 502 502"],
    ["http_error", { endpoint: ["uptimes", "token"] }, ["uptimes", "token", "location_list"], "503 503 200"],
    ["http_error", { endpoint: "status", times: 2 }, ["status", "status", "status"], "503 503 200"],
    ["rate_limited", { retry_after: 17 }, ["location_list"], "429"],
    ["token_refused", { status: 403 }, ["token", "status"], "403 200"],
    ["unauthorized", {}, ["location_list", "upgrade", "status"], "401 401 200"],
  ])("%s with %j: %j answer %s, and 200 once it is cleared", async (name, params, endpoints, expected) => {
    sim.faults.set(name, params);
    expect(await statuses(...endpoints)).toBe(expected);
    sim.faults.clear(name);
    expect(sim.faults.active()).toEqual({});
    expect((await ENDPOINTS.location_list()).status).toBe(200);
  });

  test("is a status with Retry-After, a cut, an error in place of the payload, or a wait", async () => {
    sim.faults.set("rate_limited", { retry_after: 17, times: 1 });
    expect((await ENDPOINTS.location_list()).headers.get("retry-after")).toBe("17");
    sim.faults.set("connection_reset", { times: 1 });
    await expect(ENDPOINTS.location_list()).rejects.toThrow();
    sim.faults.set("error_payload", { key: "errors", endpoint: "location_list", times: 1 });
    expect(await (await ENDPOINTS.location_list()).json()).toEqual({ errors: { message: "internal error" } });
    sim.faults.set("slow", { ms: 60, endpoint: "location_list" });
    const before = performance.now();
    await ENDPOINTS.location_list();
    expect(performance.now() - before).toBeGreaterThan(55);
  });

  test.each([
    ["of a name nobody knows", "http_eror", {}, "http_error"],
    ["with a parameter missing", "slow", {}, "ms"],
    ["with a parameter it has not", "empty_snapshot", { every: 2 }, "every"],
    ["with a value out of range", "http_error", { status: 200 }, "status"],
  ])("%s is refused with a sentence", (_, name, params, about) => {
    expect(() => sim.faults.set(name, params)).toThrow(
      expect.objectContaining({ code: "bad_fault", message: expect.stringContaining(about) }),
    );
  });

  test("does not keep requests from being reported, without secrets", async () => {
    const told = once(sim.events, "request");
    await askToken();
    const event = { transport: "http", endpoint: "token", outcome: 200, body: undefined, at: clock.now() };
    expect((await told)[0]).toEqual(event);
    expect(await getJson(`${sim.controlUrl}/faults`, "")).toEqual({});
  });
});

describe("a token", () => {
  test("is a JWT with its kind and lifetime for the right credentials", async () => {
    const response = await askToken();
    const body = (await response.json()) as Record<string, string>;
    expect(body).toEqual({ access_token: expect.any(String), token_type: "Bearer", expires_in: 600 });
    expect(claimsOf(body.access_token)).toMatchObject({ aud: sim.audience, exp: clock.now() / 1000 + 600 });
    sim.faults.set("no_expires_in");
    const bare = (await (await askToken()).json()) as { access_token: string };
    expect(Object.keys(bare)).toEqual(["access_token", "token_type"]);
  });

  test.each([
    [{ client_id: "nobody" }, 401],
    [{ client_secret: "guess" }, 401],
    [{ audience: "https://elsewhere.example" }, 401],
    [{ grant_type: "password" }, 400],
    [{ audience: undefined }, 400],
    [{ client_secret: 5 }, 400],
  ])("is refused to %j with %i", async (change, status) => {
    expect((await askToken(change)).status).toBe(status);
  });

  test("is given for JSON only", async () => {
    const body = new URLSearchParams(credentialsOf(sim));
    expect((await fetch(`${sim.authUrl}/oauth/token`, { method: "POST", body })).status).toBe(415);
  });

  test("opens the Core API and the socket until it ends", async () => {
    const opens = async (one: string) => (await list(`Bearer ${one}`)).status;
    const own = await tokenOf(sim);
    clock.advance(599_999);
    expect(await opens(own)).toBe(200);
    clock.advance(1);
    expect(await opens(own)).toBe(401);
    expect(await refusedUpgrade(sim, `?token=${own}`)).toBe(401);
  });

  test("that is missing, forged or of another simulator opens nothing", async () => {
    const [head, claims = "", signature] = (await tokenOf(sim)).split(".");
    const longer = { ...JSON.parse(Buffer.from(claims, "base64url").toString()), exp: 9_999_999_999 };
    const forged = Buffer.from(JSON.stringify(longer)).toString("base64url");
    const other = await startSmall({ clock });
    const foreign = await tokenOf(other);
    await other.close();
    const wrong = [
      undefined,
      "Basic abc",
      "Bearer ",
      "Bearer a.b.c",
      `Bearer ${head}.${forged}.${signature}`,
      `Bearer ${foreign}`,
    ];
    for (const header of wrong) expect((await list(header)).status).toBe(401);
  });
});
