import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { openConnection } from "../../src/service/connection.ts";
import { createSecrets } from "../../src/service/secrets.ts";
import { someStatus, startClient, startScripted, statusRow } from "./support.ts";

/** A forward proxy that notes what passes: absolute-form requests, upgrades and CONNECT tunnels. */
async function startProxy() {
  const seen: string[] = [];
  const proxy = createServer((request, response) => {
    seen.push(`${request.method} ${new URL(request.url ?? "").pathname}`);
    fetch(request.url ?? "", { method: request.method ?? "GET" }).then(
      async (reply) => response.writeHead(reply.status).end(await reply.text()),
      () => response.writeHead(502).end(),
    );
  });
  proxy.on("connect", (request, client, head) => {
    seen.push(`CONNECT ${request.url}`);
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const target = connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 Connected\r\n\r\n");
      target.write(head);
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
  });
  proxy.on("upgrade", (request, client, head) => {
    const url = new URL(request.url ?? "");
    seen.push(`UPGRADE ${url.pathname}`);
    const target = connect(Number(url.port), url.hostname, () => {
      const headers = request.rawHeaders.map((text, i) => (i % 2 ? `${text}\r\n` : `${text}: `)).join("");
      target.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${headers}\r\n`);
      target.write(head);
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, seen };
}

/** A certificate for 127.0.0.1, trusted by this process; undefined where there is no openssl. */
async function certificate(): Promise<{ key: string; cert: string } | undefined> {
  const dir = await mkdtemp(join(tmpdir(), "lenswatch-tls-"));
  const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  const request = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 -keyout ${key} -out ${cert}`;
  try {
    await promisify(execFile)("openssl", request.split(" "));
    return { key: await readFile(key, "utf8"), cert: await readFile(cert, "utf8") };
  } catch {
    return undefined;
  } finally {
    await rm(dir, { recursive: true });
  }
}

const trusted = await certificate();
if (trusted) tls.setDefaultCACertificates([trusted.cert]);

describe("a proxy of the environment", () => {
  const script = {
    http: (_: unknown, response: { end(text: string): void }) => response.end("[]"),
    asked: (asked: { reply(payload: unknown): void }) => asked.reply([statusRow()]),
  };

  it.skipIf(!trusted)("is tunnelled through for HTTPS and wss (skipped without openssl)", async () => {
    const { url, seen } = await startProxy();
    const scripted = await startScripted({ ...script, ...(trusted ? { tls: trusted } : {}) });
    const { service } = startClient(scripted, { proxyEnv: { HTTPS_PROXY: url } });
    await service.checkStatus();
    expect(seen).toEqual([`CONNECT ${new URL(scripted.baseUrl).host}`]);
    await service.statusUptime(someStatus);
    expect(new Set(seen)).toEqual(new Set([`CONNECT ${new URL(scripted.baseUrl).host}`]));
    expect(seen.length).toBeGreaterThan(1);
  });

  it.skipIf(!trusted)("is not needed for wss (skipped without openssl)", async () => {
    const scripted = await startScripted({ ...script, ...(trusted ? { tls: trusted } : {}) });
    await startClient(scripted).service.statusUptime(someStatus);
  });

  it("is used for plain HTTP", async () => {
    const { url, seen } = await startProxy();
    const scripted = await startScripted(script);
    const { service } = startClient(scripted, { proxyEnv: { HTTP_PROXY: url } });
    await service.checkStatus();
    expect(seen).toEqual(["GET /v1/status"]);
  });

  it("is used for a plain socket", async () => {
    const { url, seen } = await startProxy();
    const scripted = await startScripted(script);
    const noProxy = { httpsProxy: "", noProxy: "" };
    const events = { onMessage: () => {}, onClose: () => {} };
    const deps = {
      wsUrl: scripted.wsUrl,
      pingIntervalMs: 10_000,
      maxMessageBytes: 1_000,
      proxyEnv: { ...noProxy, httpProxy: url },
      secrets: createSecrets(),
      clock: { now: () => 0 },
    };
    const connection = await openConnection(deps, "t", events, new AbortController().signal);
    expect(seen).toEqual(["UPGRADE /"]);
    await connection.close();
  });

  it("is not used for what NO_PROXY names", async () => {
    const { url, seen } = await startProxy();
    const scripted = await startScripted(script);
    const { service } = startClient(scripted, { proxyEnv: { http_proxy: url, no_proxy: "127.0.0.1" } });
    await service.checkStatus();
    await service.statusUptime(someStatus);
    expect(seen).toEqual([]);
  });
});
