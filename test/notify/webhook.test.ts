import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { inspect } from "node:util";
import { afterEach, describe, expect, it, vi } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import type { NotifyError } from "../../src/notify/notifier.ts";
import type { HttpClientSettings } from "../../src/notify/web-endpoint.ts";
import { createWebhookNotifier } from "../../src/notify/webhook.ts";
import { type HttpSink, startHttpSink } from "../support/http-sink.ts";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { describeChannel, type RigOptions } from "./contract.ts";
import { alertOf, NOW, notificationOf } from "./fixtures.ts";
import { CANARY, type HttpRig, httpFaults } from "./http-faults.ts";

const PLAIN: HttpClientSettings = { authorization: undefined, basicAuth: undefined, tls: undefined };
const NOTIFICATION = notificationOf({ firing: [alertOf("Till 3")] });
const SIGNAL = new AbortController().signal;

async function startRig({ timeoutMs, log }: RigOptions): Promise<HttpRig> {
  const sink = await startHttpSink();
  const url = `${sink.url}/hooks/${CANARY}?key=${CANARY}-query`;
  const password = `${CANARY}-password`;
  const http = { ...PLAIN, basicAuth: { username: "lenswatch", password } };
  const secret = `${CANARY}-secret`;
  const notifier = createWebhookNotifier({ url, secret, maxAlerts: 0, http, timeoutMs, log });
  return {
    sink,
    notifier,
    secrets: [CANARY, Buffer.from(`lenswatch:${password}`).toString("base64")],
    accepted: () => sink.messages.length,
    hang: () => sink.respond("hang"),
    vanish: () => sink.close(),
    async close() {
      await notifier.close();
      await sink.close();
    },
  };
}

describeChannel("The webhook", startRig, httpFaults);

describe("the webhook's sender", () => {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    vi.unstubAllEnvs();
  });

  async function start(tls?: Parameters<typeof startHttpSink>[0]): Promise<HttpSink> {
    const made = await startHttpSink(tls);
    cleanups.push(() => made.close());
    return made;
  }

  function notifier(url: string, more: { secret?: string; http?: Partial<HttpClientSettings> } = {}) {
    const made = createWebhookNotifier({
      url,
      secret: more.secret,
      maxAlerts: 0,
      http: { ...PLAIN, ...more.http },
      timeoutMs: 60_000,
      log: silentLogger,
      clock: { now: () => NOW },
    });
    cleanups.push(() => made.close());
    return made;
  }

  it("signs the time and the body as they are sent, and names the message", async () => {
    const sink = await start();
    await notifier(sink.url, { secret: "geheim" }).send(NOTIFICATION, { signal: SIGNAL });
    const { headers, text } = await sink.next();
    const at = headers["x-lenswatch-timestamp"];
    expect(at).toBe(String(NOW / 1_000));
    const mac = createHmac("sha256", "geheim").update(`${at}.${text}`).digest("hex");
    expect(headers["x-lenswatch-signature"]).toBe(`sha256=${mac}`);
    expect(headers["x-lenswatch-message-id"]).toBe(NOTIFICATION.messageId);
    expect(headers["content-type"]).toBe("application/json");
  });

  it("passes the signature check that docs/messages.md shows", async () => {
    const page = readFileSync(new URL("../../docs/messages.md", import.meta.url), "utf8");
    const code = /^```js\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? "";
    const { isFromLenswatch } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    const sink = await start();
    const signed = createWebhookNotifier({
      url: sink.url,
      secret: "geheim",
      maxAlerts: 0,
      http: PLAIN,
      timeoutMs: 60_000,
      log: silentLogger,
    });
    await signed.send(NOTIFICATION, { signal: SIGNAL });
    await signed.close();
    const { headers, text } = await sink.next();
    const old = { ...headers, "x-lenswatch-timestamp": "1700000000" };
    expect(isFromLenswatch(headers, text, "geheim")).toBe(true);
    expect(isFromLenswatch(headers, `${text} `, "geheim")).toBe(false);
    expect(isFromLenswatch(headers, text, "other")).toBe(false);
    expect(isFromLenswatch(old, text, "geheim")).toBe(false);
    expect(isFromLenswatch({}, text, "geheim")).toBe(false);
  });

  it("signs nothing without a secret, and sends no login without one", async () => {
    const sink = await start();
    await notifier(sink.url).send(NOTIFICATION, { signal: SIGNAL });
    const { headers } = await sink.next();
    expect(headers).not.toHaveProperty("x-lenswatch-signature");
    expect(headers).not.toHaveProperty("authorization");
  });

  it.each<[string, Partial<HttpClientSettings>, string]>([
    ["a token", { authorization: { type: "Bearer", credentials: "t0ken" } }, "Bearer t0ken"],
    ["a login", { basicAuth: { username: "me", password: "pä:ss" } }, `Basic ${btoa("me:pÃ¤:ss")}`],
  ])("sends %s", async (_, http, expected) => {
    const sink = await start();
    await notifier(sink.url, { http }).send(NOTIFICATION, { signal: SIGNAL });
    expect((await sink.next()).headers.authorization).toBe(expected);
  });

  it("keeps the Retry-After", async () => {
    const sink = await start();
    sink.respond({ status: 503, headers: { "retry-after": "7" } });
    const error: unknown = await notifier(sink.url)
      .send(NOTIFICATION, { signal: SIGNAL })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "server_error", retryAfterMs: 7_000 });
  });

  it("takes the message nowhere else: no redirect is followed", async () => {
    const [asked, elsewhere] = [await start(), await start()];
    asked.respond({ status: 307, headers: { location: elsewhere.url } });
    await expect(notifier(asked.url).send(NOTIFICATION, { signal: SIGNAL })).rejects.toMatchObject({ code: "other" });
    expect(elsewhere.messages).toHaveLength(0);
  });

  it("reads no more of an endless answer than it needs", async () => {
    const server = createServer((request, response) => {
      request.resume();
      response.writeHead(200);
      const pour = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", pour);
      pour();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    await notifier(`http://127.0.0.1:${port}/`).send(NOTIFICATION, { signal: SIGNAL });
  });

  it.skipIf(!hasOpenssl)("speaks TLS with certificates of one's own (skipped without openssl)", async () => {
    const pki = makePki();
    const tls = { cert: pki.server.cert, key: pki.server.key, ca: pki.ca, requestCert: true };
    const sink = await start({ ...tls, rejectUnauthorized: true });
    const own = { ca: pki.ca, cert: pki.client.cert, key: pki.client.key, servername: undefined };
    await notifier(sink.url, { http: { tls: own } }).send(NOTIFICATION, { signal: SIGNAL });
    expect(sink.messages).toHaveLength(1);
    for (const http of [
      {},
      { tls: { ...own, cert: undefined, key: undefined } },
      { tls: { ...own, servername: "other.example" } },
    ]) {
      const error: NotifyError = await notifier(sink.url, { http })
        .send(NOTIFICATION, { signal: SIGNAL })
        .catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "network" });
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("PRIVATE KEY");
    }
    expect(sink.messages).toHaveLength(1);
  });

  it("goes through the proxy that the environment names", async () => {
    const sink = await start();
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.end("ok");
    });
    proxy.on("connect", (request, socket) => {
      asked.push(request.url ?? "");
      const upstream = connect(Number(new URL(sink.url).port), "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      for (const one of [upstream, socket]) one.on("error", () => one.destroy());
      cleanups.push(() => socket.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    cleanups.push(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    vi.stubEnv("http_proxy", `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    vi.stubEnv("no_proxy", "");
    await notifier(sink.url).send(NOTIFICATION, { signal: SIGNAL });
    expect(asked).toHaveLength(1);
  });
});
