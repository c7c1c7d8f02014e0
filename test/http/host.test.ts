import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { isOwnHost } from "../../src/http/host.ts";
import { serve } from "./serve.ts";

const names = { externalUrl: "https://lens.example.com/a", listen: { host: "watch.example.com" } };

test.each([
  undefined,
  "localhost",
  "localhost:9595",
  "127.0.0.1:9595",
  "10.2.3.4",
  "[::1]:9595",
  "[fd00::1]",
  "lens.example.com",
  "LENS.example.com:443",
  "lens.example.com.",
  "watch.example.com:9595",
  "lenswatch:9595",
  "lenswatch.monitoring.svc:9595",
  "lenswatch.monitoring.svc.cluster.local",
  "nas.local",
])("%s is ours", (host) => expect(isOwnHost(host, names)).toBe(true));

test.each([
  "evil.example",
  "lens.example.com.evil.example",
  "127.0.0.1.evil.example",
  "localhost.evil.example",
  "",
  "a b",
  "evil.example:9595",
  "lens.example.com@evil.example",
  "svc.evil.example",
])("%j is not", (host) => expect(isOwnHost(host, names)).toBe(false));

/** The status of a request with a Host of choice, and its answer. */
async function ask(address: string, path: string, headers: Record<string, string>, method = "GET") {
  const asked = request(address + path, { headers, method, agent: false }).end();
  const [answer] = await once(asked, "response");
  return { status: answer.statusCode, body: await text(answer) };
}

test("a page whose name leads here reads nothing, also where reading is open", async () => {
  const { address } = await serve();
  const evil = { host: "evil.example" };
  for (const path of ["/", "/api/v1/recordings", "/api/v2/alerts", "/metrics", "/events"]) {
    for (const guess of [{}, { authorization: "Bearer guess" }]) {
      const { status, body } = await ask(address, path, { ...evil, ...guess });
      expect([status, body.includes("http.external_url")], path).toEqual([421, true]);
    }
  }
  for (const path of ["/healthz", "/readyz"]) expect((await ask(address, path, evil)).status).toBe(200);
});

test("a token is let in under any name, and without one the page to sign in is shown", async () => {
  const { address } = await serve({ readToken: "read-me-and-nothing" });
  const host = "lens.monitoring";
  expect((await ask(address, "/metrics", { host, authorization: "Bearer read-me-and-nothing" })).status).toBe(200);
  expect((await ask(address, "/metrics", { host })).status).toBe(401);
  expect((await ask(address, "/session", { host })).status).toBe(200);
});
