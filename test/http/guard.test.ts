import { request } from "node:http";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createGuard } from "../../src/http/guard.ts";
import { createLogger } from "../../src/lib/log.ts";
import { NOW } from "../metrics/fleets.ts";
import { serve } from "./serve.ts";

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

test("ten different wrong tokens, block the right one too until the minute is over", async () => {
  let now = NOW;
  const destination = new PassThrough();
  const log = createLogger({ level: "info", destination });
  const { get } = await serve({ ...tokens, clock: { now: () => now }, log });
  const statuses: number[] = [];
  for (const guess of guesses(12)) {
    const headers = { ...bearer(guess), "x-forwarded-for": `10.0.0.${statuses.length}` };
    statuses.push((await get("/api/v1/recordings", headers)).status);
  }
  expect(statuses).toEqual([...Array(10).fill(401), 429, 429]);
  now += 20_000;
  const late = await get("/api/v2/alerts", bearer("boss-token"));
  expect([late.status, late.headers.get("retry-after")]).toEqual([429, "40"]);
  expect(await late.json()).toBe("Too many wrong tokens came from your address; try again in 40 s.");
  now += 40_000;
  expect((await get("/api/v1/recordings", bearer("boss-token"))).status).toBe(200);
  const logged = String(destination.read());
  expect(logged.match(/address blocked after too many wrong tokens/g)).toHaveLength(1);
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
  expect((await end("boss-token")).status).toBe(429);
  expect((await fetch(`${address}/api/v1/recordings`, { headers: bearer("x") })).status).toBe(200);
});

const isLinux = process.platform === "linux";
test.skipIf(!isLinux)("a right token is never blocked by the guesses of other addresses", async () => {
  const { address } = await serve(tokens);
  const url = `${address}/api/v1/recordings`;
  for (const guess of guesses(11)) await statusFrom("127.0.0.2", url, bearer(guess));
  expect(await statusFrom("127.0.0.2", url, bearer("read-me"))).toBe(429);
  expect(await statusFrom("127.0.0.3", url, bearer("read-me"))).toBe(200);
});

test("nor by guesses from its own address, behind a proxy, once it has been right there", async () => {
  const { get } = await serve(tokens);
  expect((await get("/metrics", bearer("read-me"))).status).toBe(200);
  for (const guess of guesses(20)) await get("/metrics", bearer(guess));
  expect((await get("/metrics", bearer("guess-21"))).status).toBe(429);
  expect((await get("/metrics", bearer("read-me"))).status).toBe(200);
});

test("nor by a client of its address that asks again and again with an old token, which is answered 429", async () => {
  const { get } = await serve(tokens);
  const statuses: number[] = [];
  for (let i = 0; i < 30; i++) statuses.push((await get("/metrics", bearer("an-old-one"))).status);
  expect(statuses).toEqual([...Array(10).fill(401), ...Array(20).fill(429)]);
  expect((await get("/metrics", bearer("read-me"))).status).toBe(200);
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

test("guesses from all of an IPv6 network are one guesser's", () => {
  const guard = createGuard();
  const judge = (address: string, token: string, isRight = false) => guard.judge({ address, token, isRight }, NOW).kind;
  for (const guess of guesses(10)) {
    expect(judge(`2001:db8::${guess.slice(6)}`, guess)).toBe("wrong");
  }
  expect(judge("2001:db8::ffff", "right", true)).toBe("blocked");
  expect(judge("2001:db8:0:1::1", "right", true)).toBe("right");
  expect(judge("::ffff:10.0.0.1", "a")).toBe("wrong");
});

test("what is remembered is bounded: an address is forgotten for newer ones", () => {
  const guard = createGuard();
  const judge = (address: string, token: string) => guard.judge({ address, token, isRight: false }, NOW).kind;
  for (const guess of guesses(10)) judge("10.9.9.9", guess);
  expect(judge("10.9.9.9", "more")).toBe("blocked");
  for (let i = 0; i < 5_000; i++) judge(`10.0.${i >> 8}.${i & 255}`, "x");
  expect(judge("10.9.9.9", "more")).toBe("wrong");
});
