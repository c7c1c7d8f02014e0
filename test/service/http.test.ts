import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHttpClient } from "../../src/lib/http-client.ts";
import { createRedactor } from "../../src/lib/redact.ts";
import { createSendRequest } from "../../src/service/http.ts";
import { startClient, startScripted } from "./support.ts";

const noProxy = { httpProxy: "", httpsProxy: "", noProxy: "" };

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("HTTP", () => {
  it("never takes the bearer to where a redirect points", async () => {
    const elsewhere: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      elsewhere.push(request.headers.authorization);
      response.end("[]");
    });
    const location = await listen(other);
    const scripted = await startScripted({
      http: (_, response) => response.writeHead(307, { location: `${location}/v1/location/list` }).end(),
    });
    const { service } = startClient(scripted);
    await expect(service.locations()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("redirects are not followed"),
    });
    expect(elsewhere).toEqual([]);
  });

  it("has one time-out over headers and body, however slowly the body drips", async () => {
    const scripted = await startScripted({
      http(_, response) {
        response.writeHead(200);
        const drip = setInterval(() => response.write(" "), 20);
        response.on("close", () => clearInterval(drip));
      },
    });
    const { service } = startClient(scripted, { config: { requestTimeoutMs: 200 } });
    await expect(service.locations()).rejects.toMatchObject({ code: "timeout" });
  });

  it("does not read the body of the health check", async () => {
    const scripted = await startScripted({
      http(_, response) {
        response.writeHead(200).write("never finished");
      },
    });
    const { service } = startClient(scripted);
    await service.checkStatus();
  });

  it.each([204, 302, 500])("treats a health check answered %i as failed", async (status) => {
    const scripted = await startScripted({ http: (_, response) => response.writeHead(status).end() });
    await expect(startClient(scripted).service.checkStatus()).rejects.toMatchObject({ code: "unavailable" });
  });

  it("refuses a body larger than it may be", async () => {
    const origin = await listen(createServer((_, response) => response.end("x".repeat(100_000))));
    const client = createHttpClient({ proxy: noProxy });
    onTestFinished(() => client.close());
    const send = createSendRequest({
      client,
      redactor: createRedactor([]),
      limits: { bytes: 50_000, values: 50_000 },
      report: () => {},
    });
    const reply = await send({ method: "GET", url: origin }, new AbortController().signal);
    await expect(reply.text()).rejects.toMatchObject({ code: "bad_payload" });
  });

  it("gives replies that arrive together in turns of the event loop of their own", async () => {
    const body = async function* () {
      yield Buffer.from("[]");
    };
    const client = { send: async () => ({ status: 200, body: body(), discard() {} }), close: async () => {} };
    const limits = { bytes: 50_000, values: 50_000 };
    const send = createSendRequest({ client, redactor: createRedactor([]), limits, report: () => {} });
    let turns = 0;
    const count = (): void => {
      turns++;
      turn = setImmediate(count);
    };
    let turn = setImmediate(count);
    onTestFinished(() => clearImmediate(turn));
    const readAt = Array.from({ length: 3 }, async () => {
      const reply = await send({ method: "GET", url: "http://127.0.0.1" }, new AbortController().signal);
      await reply.text();
      return turns;
    });
    expect(new Set(await Promise.all(readAt)).size).toBe(3);
  });

  it("names what to check where nothing listens", async () => {
    const server = createServer();
    const origin = await listen(server);
    server.close();
    await once(server, "close");
    const { service } = startClient({ baseUrl: origin, authUrl: origin, wsUrl: origin.replace("http", "ws") });
    await expect(service.checkStatus()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/ECONNREFUSED.*check the address/),
    });
  });
});
