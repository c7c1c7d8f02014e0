import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/lib/redact.ts";
import { openConnection } from "../../src/service/connection.ts";
import { startProxy } from "../support/proxy.ts";
import { someStatus, startClient, startScripted, statusRow } from "./support.ts";

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
      limits: { bytes: 1_000, values: 1_000 },
      proxy: { ...noProxy, httpProxy: url },
      redactor: createRedactor([]),
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
