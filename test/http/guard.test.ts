import { request } from "node:http";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { proxyCheck } from "../../src/http/proxies.ts";
import { createLogger } from "../../src/lib/log.ts";
import { anAccess, serve } from "./serve.ts";

const tokens = { readToken: "read-me", adminToken: "boss-token" };
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const guesses = (count: number) => Array.from({ length: count }, (_, i) => `guess-${i}`);

/** The status for a token, from an address of this machine: on Linux all of 127.0.0.0/8 are. */
function statusFrom(localAddress: string, url: string, headers: Record<string, string>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request(url, { localAddress, headers }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  })
    .on("error", reject)
    .end();
  return promise;
}

test("after ten wrong tokens further ones wait until the minute is over, and the right one never does", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const destination = new PassThrough();
  const log = createLogger({ level: "info", destination });
  const { get } = await serve({ ...tokens, log });
  const statuses: number[] = [];
  for (const guess of guesses(12)) {
    const headers = { ...bearer(guess), "x-forwarded-for": `10.0.0.${statuses.length}` };
    statuses.push((await get("/api/v1/recordings", headers)).status);
    expect((await get("/api/v2/alerts", bearer("boss-token"))).status).toBe(200);
  }
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
  vi.advanceTimersByTime(20_000);
  const late = await get("/api/v2/alerts", bearer("another"));
  expect([late.status, late.headers.get("retry-after")]).toEqual([429, "40"]);
  expect(await late.json()).toBe("Too many wrong tokens came from your address; try again in 40 s.");
  vi.advanceTimersByTime(40_000);
  expect((await get("/api/v1/recordings", bearer("another"))).status).toBe(401);
  const logged = String(destination.read());
  expect(logged.match(/too many wrong tokens from an address/g)).toHaveLength(1);
  expect(logged).not.toMatch(/guess-|boss-token/);
});

test("what changes state is guarded where reading is open", async () => {
  const { address } = await serve({ adminToken: "boss-token" });
  const end = (token: string) =>
    fetch(`${address}/api/v2/silence/3fa85f64-5717-4562-b3fc-2c963f66afa6`, {
      method: "DELETE",
      headers: bearer(token),
    });
  for (const guess of guesses(10)) expect((await end(guess)).status).toBe(401);
  expect((await end("guess")).status).toBe(429);
  expect((await end("boss-token")).status).toBe(404);
  expect((await fetch(`${address}/api/v1/recordings`, { headers: bearer("x") })).status).toBe(200);
});

test("sign-in is throttled the same way, by itself", async () => {
  const { address, get } = await serve(tokens);
  const signIn = async (token: string) =>
    (
      await fetch(`${address}/session`, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams({ name: "d", token }),
      })
    ).status;
  for (const guess of guesses(10)) expect(await signIn(guess)).toBe(401);
  expect(await signIn("guess")).toBe(429);
  expect(await signIn("boss-token")).toBe(303);
  expect((await get("/metrics", bearer("guess"))).status).toBe(401);
});

describe("an address", () => {
  const isLinux = process.platform === "linux";
  const block = async (send: (token: string) => Promise<number>) => {
    for (const guess of guesses(10)) await send(guess);
  };

  test.skipIf(!isLinux)("is not throttled for the guesses of others", async () => {
    const { address } = await serve(tokens);
    const url = `${address}/api/v1/recordings`;
    await block((guess) => statusFrom("127.0.0.2", url, bearer(guess)));
    expect(await statusFrom("127.0.0.2", url, bearer("guess"))).toBe(429);
    expect(await statusFrom("127.0.0.3", url, bearer("guess"))).toBe(401);
  });

  test.each([
    ["is the last that a trusted proxy saw", "10.1.1.1, 192.0.2.7", "10.2.2.2, 192.0.2.7"],
    ["is the last before all trusted proxies", "192.0.2.7, 127.0.0.9", "192.0.2.7, 127.0.0.9, 127.0.0.8"],
    ["is known with a port", "192.0.2.7:4711", "192.0.2.7:4712"],
    ["is known in IPv6, by its network", "2001:db8::1", "[2001:db8::2]:80"],
    ["is the proxy's where it is no address", "192.0.2.7, unknown", "another"],
    ["is the proxy's where it is missing", "", ","],
  ])("%s", async (_, first, second) => {
    const access = anAccess({ isTrustedProxy: proxyCheck(["127.0.0.0/8", "::1"]) });
    const { get } = await serve({ access });
    const from = async (forwarded: string) =>
      (await get("/metrics", { ...bearer("guess"), "x-forwarded-for": forwarded })).status;
    await block(() => from(first));
    expect([await from(first), await from(second), await from("198.51.100.1")]).toEqual([429, 429, 401]);
  });

  test("that a client names itself is ignored: only a trusted proxy is believed", async () => {
    const access = anAccess({ isTrustedProxy: proxyCheck(["10.0.0.0/8"]) });
    const { get } = await serve({ access });
    let last = 0;
    await block(() =>
      get("/metrics", { ...bearer("guess"), "x-forwarded-for": `10.0.0.${last++}` }).then(({ status }) => status),
    );
    expect((await get("/metrics", { ...bearer("guess"), "x-forwarded-for": "192.0.2.7" })).status).toBe(429);
  });
});

test.each([
  [
    ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::1"],
    ["10.255.0.1", "::ffff:10.0.0.1", "192.0.2.1", "2001:db8:1::2", "::1"],
  ],
])("of %j are trusted %j and no others", (networks, trusted) => {
  const check = proxyCheck(networks);
  expect(trusted.filter((address) => !check(address))).toEqual([]);
  const others = ["11.0.0.1", "192.0.2.2", "2001:db9::1", "::2", "::ffff:11.0.0.1", "", "10.0.0.1:80", "nowhere"];
  expect(others.filter((address) => check(address))).toEqual([]);
});

test("who gives no token, or one that opens less, is refused and not counted", async () => {
  const { address, get } = await serve(tokens);
  for (let i = 0; i < 15; i++) {
    expect((await get("/metrics")).status).toBe(401);
    expect((await get("/metrics", bearer(""))).status).toBe(401);
    const change = await fetch(`${address}/-/reload`, { method: "POST", headers: bearer("read-me") });
    expect(change.status).toBe(403);
  }
  expect((await get("/metrics", bearer("read-me"))).status).toBe(200);
});
