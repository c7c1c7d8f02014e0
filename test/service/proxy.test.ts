import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/lib/redact.ts";
import { openConnection } from "../../src/service/connection.ts";
import { startProxy } from "../support/proxy.ts";
import { someStatus, startClient, startScripted, statusRow } from "./support.ts";

describe("a proxy of the environment", () => {
  const script = {
    http: (_: unknown, response: { end(text: string): void }) => response.end("[]"),
    asked: (asked: { reply(payload: unknown): void }) => asked.reply([statusRow()]),
  };

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
