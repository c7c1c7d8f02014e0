import { once } from "node:events";
import { type RequestOptions, request } from "node:https";
import { connect as connectPlain } from "node:net";
import { text } from "node:stream/consumers";
import { type ConnectionOptions, connect } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import type { HttpDeps } from "../../src/http/deps.ts";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { type Served, serve } from "./serve.ts";

const pki = hasOpenssl ? makePki() : undefined;
const strangers = hasOpenssl ? makePki() : undefined;
const nobody = { cert: "", key: "" };
const { ca = "", server = nobody, elsewhere = nobody, client = nobody } = pki ?? {};

type Web = NonNullable<HttpDeps["web"]>;
type Tls = NonNullable<Web["tls"]>;

const policies = {
  none: { ask: false, need: false, verify: false },
  ifGiven: { ask: true, need: false, verify: true },
  any: { ask: true, need: true, verify: false },
  verified: { ask: true, need: true, verify: true },
} as const;

function web(differing: { pair?: typeof server; policy?: keyof typeof policies } & Partial<Tls> = {}): Web {
  const { pair = server, policy = "none", options = {}, ...rest } = differing;
  const tls = {
    options: { ...pair, ca, minVersion: "TLSv1.2", maxVersion: "TLSv1.3", honorCipherOrder: true, ...options } as const,
    clientAuth: policies[policy],
    allowedSans: [],
    ...rest,
  };
  return { tls, users: {}, headers: {} };
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
  readonly issued: string;
}

/** One request on a connection of its own. Rejects where the connection fails. */
async function ask(url: string, options: RequestOptions = {}): Promise<Answer> {
  const asked = request(url, { ca, agent: false, ...options }).end();
  const [answer] = await once(asked, "response");
  const issued = answer.socket.getPeerCertificate().subject.CN;
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer), issued };
}

describe.skipIf(!hasOpenssl)("a listener with TLS", () => {
  test("gives a session cookie that is sent over TLS alone and that only this host can set, whatever the external URL", async () => {
    const adminToken = "admin-token-of-32-characters-long";
    const { address } = await serve({ web: web(), adminToken });
    const asked = request(`${address}/session`, {
      ca,
      agent: false,
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
    }).end(`name=dana&token=${adminToken}`);
    const [{ headers }] = await once(asked, "response");
    const [cookie = ""] = headers["set-cookie"] ?? [];
    const [value, ...attributes] = cookie.split("; ");
    expect(value).toMatch(/^__Host-lenswatch=./);
    expect(attributes).toEqual(["Max-Age=604800", "Path=/", "HttpOnly", "Secure", "SameSite=Strict"]);
    const page = await ask(address, { headers: { cookie: value ?? "" } });
    expect(page.body).toContain("<bdi>dana</bdi>");
  });

  test("answers over https, with the headers of the web configuration, and nothing in clear", async () => {
    const headers = { "Strict-Transport-Security": "max-age=60", "X-Frame-Options": "sameorigin" };
    const { address } = await serve({ web: { ...web(), headers } });
    expect(address).toMatch(/^https:\/\/127/);
    for (const path of ["/healthz", "/", "/nowhere", "/%ff", "/metrics"]) {
      const answer = await ask(address + path);
      const lower = { "strict-transport-security": "max-age=60", "x-frame-options": "sameorigin" };
      expect(answer.headers, path).toMatchObject({ ...lower, "x-content-type-options": "nosniff" });
    }
    await expect(fetch(address.replace("https", "http"))).rejects.toThrow();
  });

  test("what is no request is answered inside the connection", async () => {
    const { address } = await serve({ web: web() });
    const socket = connect({ port: Number(new URL(address).port), host: "127.0.0.1", ca });
    socket.write("GARBAGE\r\n\r\n");
    expect(await text(socket)).toMatch(/^HTTP\/1.1 400 .*nosniff/s);
  });

  test("a changed certificate is that of the next connection", async () => {
    let current = web();
    const { address } = await serve({
      get web() {
        return current;
      },
    });
    expect((await ask(`${address}/healthz`)).issued).toBe("server");
    current = web({ pair: elsewhere });
    expect((await ask(`${address}/healthz`, { servername: "another.example" })).issued).toBe("elsewhere");
  });

  test("neither a failed nor an unfinished handshake lives on or delays the end", async () => {
    const served = await serve({ web: web(), limits: { requestMs: 300 } });
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

  test.each<[string, Partial<Tls["options"]>, ConnectionOptions, string | undefined, string | undefined]>([
    ["TLS 1.3 where both can", {}, {}, "TLSv1.3", undefined],
    ["no TLS 1.2 with min_version TLS13", { minVersion: "TLSv1.3" }, { maxVersion: "TLSv1.2" }, undefined, undefined],
    ["no TLS 1.3 with max_version TLS12", { maxVersion: "TLSv1.2" }, {}, "TLSv1.2", undefined],
    [
      "the cipher suites given",
      { ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384" },
      { maxVersion: "TLSv1.2" },
      "TLSv1.2",
      "ECDHE-ECDSA-AES256-GCM-SHA384",
    ],
    ["the curves given", { ecdhCurve: "P-384" }, { ecdhCurve: "X25519" }, undefined, undefined],
  ])("speaks %s", async (_, options, ours, version, cipher) => {
    const base = web().tls?.options;
    const { address } = await serve({ web: web({ options: { ...base, ...options } as Tls["options"] }) });
    const socket = connect({ port: Number(new URL(address).port), host: "127.0.0.1", ca, ...ours });
    onTestFinished(() => void socket.destroy());
    const done = await once(socket, "secureConnect").then(
      () => socket,
      () => undefined,
    );
    expect(done?.getProtocol()).toBe(version);
    if (cipher) expect(done?.getCipher().name).toBe(cipher);
  });
});

describe.skipIf(!hasOpenssl)("a client's certificate", () => {
  const isLetIn = ({ address }: Served, options: RequestOptions) =>
    ask(`${address}/healthz`, options).then(
      ({ status }) => status === 200,
      () => false,
    );

  test.each<[keyof typeof policies, string[], none: boolean, ours: boolean, strange: boolean]>([
    ["none", [], true, true, true],
    ["ifGiven", [], true, true, false],
    ["any", [], false, true, true],
    ["verified", [], false, true, false],
    ["verified", ["127.0.0.1"], false, true, false],
    ["verified", ["elsewhere.example"], false, false, false],
    ["ifGiven", ["elsewhere.example"], true, false, false],
  ])("with the policy %s and the names %j", async (policy, allowedSans, none, ours, strange) => {
    const served = await serve({ web: web({ policy, allowedSans }) });
    const found = [{}, client, strangers?.client ?? {}].map((pair) => isLetIn(served, pair));
    expect(await Promise.all(found)).toEqual([none, ours, strange]);
  });

  test("is not needed for a probe at a listener of metrics; what it reads there needs one, or a login", async () => {
    const metricsListen = { host: "127.0.0.1", port: 0 };
    const { address, metricsAddress } = await serve({
      web: web({ policy: "verified" }),
      readToken: "read-me-and-nothing",
      metricsListen,
    });
    await expect(ask(`${address}/healthz`)).rejects.toThrow();
    expect((await ask(`${metricsAddress}/healthz`)).status).toBe(200);
    expect((await ask(`${metricsAddress}/metrics`)).status).toBe(401);
    expect((await ask(`${metricsAddress}/metrics`, client)).status).toBe(200);
    await expect(ask(`${metricsAddress}/metrics`, strangers?.client)).rejects.toThrow();
  });

  test.each<[keyof typeof policies, number]>([
    ["ifGiven", 200],
    ["any", 401],
    ["none", 401],
  ])("that was verified reads, and changes nothing (%s)", async (policy, status) => {
    const tokens = { readToken: "read-me-and-nothing", adminToken: "admin-and-everything" };
    const { address } = await serve({ web: web({ policy }), ...tokens });
    expect((await ask(`${address}/api/v1/recordings`, client)).status).toBe(status);
    expect((await ask(`${address}/-/reload`, { ...client, method: "POST" })).status).toBeGreaterThan(400);
  });
});
