import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { isOwnHost } from "../../src/http/host.ts";
import { fleetOf } from "../metrics/fleets.ts";
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
  "lens.localhost:9595",
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
  "evil.local",
  "evil.internal",
  "evil.test",
  "evil.home.arpa",
  "lenswatch.evil.svc:9595",
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

describe("a page of another site", () => {
  const paths = ["/", "/?q=a", "/api/v1/recordings", "/api/v2/alerts", "/metrics", "/events"];
  const of = (site: string, mode = "no-cors", dest = "empty") => ({
    ...{ "sec-fetch-site": site, "sec-fetch-mode": mode, "sec-fetch-dest": dest },
  });

  test.each([
    of("cross-site"),
    of("same-site"),
    of("cross-site", "cors"),
    of("cross-site", "no-cors", "image"),
    of("cross-site", "navigate", "iframe"),
    of("cross-site", "", ""),
  ])("has no work done for it by a visitor, also where reading is open: %j", async (headers) => {
    let asked = 0;
    const fleet = async () => {
      asked += 1;
      return fleetOf({});
    };
    const { address } = await serve({ fleet });
    for (const path of paths) expect((await ask(address, path, headers)).status, path).toBe(403);
    expect(asked).toBe(0);
  });

  test("may lead to ours, and ours asks for more", async () => {
    const { address } = await serve();
    for (const headers of [of("cross-site", "navigate", "document"), of("same-origin"), of("none", "navigate"), {}])
      expect((await ask(address, "/", headers)).status, JSON.stringify(headers)).toBe(200);
  });

  test("is of no concern to whoever sends a token", async () => {
    const { address } = await serve({ readToken: "read-me-and-nothing" });
    const headers = { ...of("cross-site", "cors"), authorization: "Bearer read-me-and-nothing" };
    expect((await ask(address, "/api/v1/recordings", headers)).status).toBe(200);
  });

  test("can neither embed an answer nor keep hold of its window", async () => {
    const { get } = await serve();
    for (const path of ["/", "/api/v1/recordings", "/readyz", "/nothing"]) {
      const { headers } = await get(path);
      expect(headers.get("cross-origin-resource-policy"), path).toBe("same-origin");
      expect(headers.get("cross-origin-opener-policy"), path).toBe("same-origin");
    }
  });
});
