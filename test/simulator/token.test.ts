import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { credentialsOf, handClock, postJson, refusedUpgrade, startSmall, tokenOf } from "./client.ts";

const clock = handClock();
let sim: Simulator;
beforeAll(async () => {
  sim = await startSmall({ clock, traits: { token_lifetime: "10m" } });
});
afterAll(() => sim.close());

const ask = (body: unknown) => postJson(`${sim.authUrl}/oauth/token`, body);
const list = (authorization?: string) =>
  fetch(`${sim.baseUrl}/v1/location/list`, { headers: authorization === undefined ? {} : { authorization } });

describe("the token issuer", () => {
  test("gives a JWT with its kind and lifetime for the right credentials", async () => {
    const response = await ask(credentialsOf(sim));
    const body = (await response.json()) as Record<string, string>;
    expect(response.status).toBe(200);
    expect(body).toEqual({ access_token: expect.any(String), token_type: "Bearer", expires_in: 600 });
    const claims = JSON.parse(Buffer.from(body.access_token?.split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ aud: sim.audience, exp: clock.now() / 1000 + 600 });
  });

  test.each([
    ["a wrong client id", { client_id: "nobody" }, 401],
    ["a wrong secret", { client_secret: "guess" }, 401],
    ["another audience", { audience: "https://elsewhere.example" }, 401],
    ["another grant", { grant_type: "password" }, 400],
    ["a missing audience", { audience: undefined }, 400],
    ["a secret that is no string", { client_secret: 5 }, 400],
  ])("refuses %s", async (_, change, status) => {
    expect((await ask({ ...credentialsOf(sim), ...change })).status).toBe(status);
  });

  test("takes JSON only", async () => {
    const body = new URLSearchParams(credentialsOf(sim));
    expect((await fetch(`${sim.authUrl}/oauth/token`, { method: "POST", body })).status).toBe(415);
  });
});

describe("a token", () => {
  test("opens the Core API until it ends, and the socket too", async () => {
    const token = await tokenOf(sim);
    clock.advance(599_000);
    expect((await list(`Bearer ${token}`)).status).toBe(200);
    clock.advance(1_000);
    expect((await list(`Bearer ${token}`)).status).toBe(401);
    expect(await refusedUpgrade(sim, `?token=${token}`)).toBe(401);
  });

  test.each([
    ["no header", undefined],
    ["another scheme", "Basic abc"],
    ["no token", "Bearer "],
    ["a token nobody issued", "Bearer a.b.c"],
  ])("is missed: %s", async (_, authorization) => {
    expect((await list(authorization)).status).toBe(401);
  });

  test("that was tampered with opens nothing", async () => {
    const [head, claims = "", signature] = (await tokenOf(sim)).split(".");
    const longer = { ...JSON.parse(Buffer.from(claims, "base64url").toString()), exp: 9_999_999_999 };
    const forged = Buffer.from(JSON.stringify(longer)).toString("base64url");
    expect((await list(`Bearer ${head}.${forged}.${signature}`)).status).toBe(401);
  });

  test("of another simulator opens nothing here", async () => {
    const other = await startSmall({ clock });
    const foreign = await tokenOf(other);
    await other.close();
    expect((await list(`Bearer ${foreign}`)).status).toBe(401);
  });
});
