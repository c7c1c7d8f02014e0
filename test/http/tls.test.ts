import { once } from "node:events";
import { type RequestOptions, request } from "node:https";
import { connect as connectPlain } from "node:net";
import { text } from "node:stream/consumers";
import { connect } from "node:tls";
import { describe, expect, test } from "vitest";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { serve } from "./serve.ts";

const pki = hasOpenssl ? makePki() : undefined;
const nobody = { cert: "", key: "" };
const { ca = "", server: tls = nobody, elsewhere = nobody } = pki ?? {};

/** One request on a connection of its own. Rejects where the connection fails. */
async function ask(url: string, options: RequestOptions = {}, body?: string) {
  const asked = request(url, { ca, agent: false, ...options }).end(body);
  const [answer] = await once(asked, "response");
  const issued = answer.socket.getPeerCertificate().subject.CN as string;
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer), issued };
}

describe.skipIf(!hasOpenssl)("a listener with TLS", () => {
  test("gives a session cookie that is sent over TLS alone and that only this host can set, whatever the external URL", async () => {
    const adminToken = "admin-token-of-32-characters-long";
    const { address } = await serve({ tls, adminToken });
    const headers = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
    const signedIn = await ask(`${address}/session`, { method: "POST", headers }, `name=dana&token=${adminToken}`);
    const [value, ...attributes] = signedIn.headers["set-cookie"][0].split("; ");
    expect(value).toMatch(/^__Host-lenswatch=./);
    expect(attributes).toEqual(["Max-Age=43200", "Path=/", "HttpOnly", "Secure", "SameSite=Strict"]);
    const page = await ask(address, { headers: { cookie: value } });
    expect(page.body).toContain("<bdi>dana</bdi>");
  });

  test("answers over https at both addresses, also what is no request, and nothing in clear", async () => {
    const { address, metricsAddress } = await serve({ tls, metricsListen: { host: "127.0.0.1", port: 0 } });
    for (const one of [address, metricsAddress ?? ""]) {
      expect(one).toMatch(/^https:\/\/127/);
      expect((await ask(`${one}/healthz`)).headers).toMatchObject({ "x-content-type-options": "nosniff" });
      await expect(fetch(one.replace("https", "http"))).rejects.toThrow();
      const socket = connect({ port: Number(new URL(one).port), host: "127.0.0.1", ca });
      socket.write("GARBAGE\r\n\r\n");
      expect(await text(socket)).toMatch(/^HTTP\/1.1 400 .*nosniff/s);
    }
  });

  test("a changed certificate is that of the next connection", async () => {
    let current = tls;
    const { address } = await serve({
      get tls() {
        return current;
      },
    });
    expect((await ask(`${address}/healthz`)).issued).toBe("server");
    current = elsewhere;
    expect((await ask(`${address}/healthz`, { servername: "another.example" })).issued).toBe("elsewhere");
  });

  test("neither a failed nor an unfinished handshake lives on or delays the end", async () => {
    const served = await serve({ tls, limits: { requestMs: 300 } });
    const port = Number(new URL(served.address).port);
    const garbage = connectPlain(port, "127.0.0.1");
    garbage.write("GARBAGE ".repeat(100));
    garbage.resume().on("error", () => undefined);
    await once(garbage, "close");
    const slow = connectPlain(port, "127.0.0.1");
    await once(slow.resume(), "close");
    const last = connectPlain(port, "127.0.0.1");
    last.on("error", () => undefined);
    await once(last, "connect");
    const begun = performance.now();
    await served.server.close();
    expect(performance.now() - begun).toBeLessThan(10_000);
  });
});
