import { once } from "node:events";
import { get as httpGet, type IncomingMessage, type RequestOptions } from "node:http";
import { connect } from "node:net";
import { gunzipSync } from "node:zlib";
import { Registry } from "prom-client";
import { describe, expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { createExposition } from "../../src/metrics/exposition.ts";
import { largeFleet } from "../metrics/fleets.ts";
import { serve, textOf } from "./serve.ts";

const fleet = largeFleet(3_000);

function exposition() {
  return createExposition({
    registry: new Registry(),
    log: silentLogger,
    fleet: async () => ({ snapshot: fleet, rules: [], otherAlerts: [] }),
  });
}

/** A response whose body is not read until asked for. */
function open(url: string, headers: Record<string, string> = {}, more: RequestOptions = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpGet(url, { headers, agent: false, ...more }, resolve);
    request.once("error", reject);
  });
}

async function bodyOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A source of endless text that tells how much was taken from it, and when it was let go. */
function endlessSource() {
  const closed = Promise.withResolvers<void>();
  const source = { taken: 0, closed: closed.promise, expose: () => ({ contentType: "text/plain", body: chunks() }) };
  async function* chunks(): AsyncGenerator<string, void> {
    try {
      for (;;) {
        source.taken += 1;
        yield "x".repeat(64 * 1024);
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      closed.resolve();
    }
  }
  return source;
}

describe("a scrape", () => {
  test("is the whole fleet, in the format asked for", async () => {
    const { get } = await serve({ metrics: exposition() });
    const text = await get("/metrics");
    expect(text.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect((await text.text()).match(/^lenswatch_recording_online\{/gm)).toHaveLength(3_000);
    const open = await get("/metrics", { accept: "application/openmetrics-text;version=1.0.0" });
    expect(open.headers.get("content-type")).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    expect((await open.text()).endsWith("# EOF\n")).toBe(true);
  });

  test("is gzipped for those who ask, and the same text", async () => {
    const { address } = await serve({ metrics: exposition() });
    const plain = await open(`${address}/metrics`);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    const zipped = await open(`${address}/metrics`, { "accept-encoding": "gzip" });
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect(zipped.headers.vary).toBe("accept, accept-encoding");
    expect(gunzipSync(await bodyOf(zipped)).toString()).toBe((await bodyOf(plain)).toString());
  });

  test("is not gzipped for those who refuse it", async () => {
    const { address } = await serve({ metrics: exposition() });
    const response = await open(`${address}/metrics`, { "accept-encoding": "gzip;q=0, identity" });
    expect(response.headers["content-encoding"]).toBeUndefined();
    await bodyOf(response);
  });
});

describe.each([["identity"], ["gzip"]])("a reader of %s text", (encoding) => {
  const headers = { "accept-encoding": encoding };

  test("that goes away half-way lets go of the source", async () => {
    const source = endlessSource();
    const { address } = await serve({ metrics: source });
    const response = await open(`${address}/metrics`, headers);
    response.once("error", () => undefined);
    await once(response, "data");
    response.destroy();
    await source.closed;
  });
});

test("a reader that does not read makes the source wait", async () => {
  const source = endlessSource();
  const { address } = await serve({ metrics: source });
  const response = await open(`${address}/metrics`);
  response.once("error", () => undefined);
  response.pause();
  // Sockets of both ends fill up; from then on nothing more is taken, however often the event loop turns.
  let before = -1;
  for (let still = 0; still < 500; ) {
    still = source.taken === before ? still + 1 : 0;
    before = source.taken;
    await new Promise((resolve) => setImmediate(resolve));
    expect(source.taken).toBeLessThan(1_000);
  }
  response.destroy();
  await source.closed;
});

test("a reader that takes its time is cut, however much it reads", async () => {
  const source = endlessSource();
  const { address } = await serve({ metrics: source, limits: { takenMs: 200 } });
  const response = await open(`${address}/metrics`);
  response.once("error", () => undefined).resume();
  await source.closed;
});

describe.skipIf(process.platform !== "linux")("scrapes at once", () => {
  test("are four of each client, and served to whoever has none while others never end theirs", async () => {
    const sources = Array.from({ length: 12 }, endlessSource);
    let next = 0;
    const expose = () => sources[next++]?.expose() ?? { contentType: "text/plain", body: textOf("up 1\n") };
    const { address } = await serve({ metrics: { expose } });
    const scrape = (localAddress: string) => open(`${address}/metrics`, {}, { localAddress });
    for (const local of ["127.0.0.2", "127.0.0.3", "127.0.0.4"]) {
      for (let i = 0; i < 4; i++) (await scrape(local)).once("error", () => undefined).pause();
      expect((await scrape(local)).statusCode).toBe(503);
    }
    for (let i = 0; i < 5; i++) expect((await bodyOf(await scrape("127.0.0.6"))).toString()).toBe("up 1\n");
  });
});

describe.skipIf(process.platform !== "linux")("a listener of its own", () => {
  const listen = { host: "127.0.0.1", port: 0 };

  test("has the metrics, which leave the other, and the probes, and nothing else", async () => {
    const { address, metricsAddress = "" } = await serve({ readToken: "read-me-and-nothing", metricsListen: listen });
    const status = async (url: string, headers = {}) => (await open(url, headers)).statusCode;
    const bearer = { authorization: "Bearer read-me-and-nothing" };
    expect(await status(`${metricsAddress}/metrics`, bearer)).toBe(200);
    expect(await status(`${metricsAddress}/metrics`)).toBe(401);
    expect(await status(`${address}/metrics`, bearer)).toBe(404);
    for (const at of [address, metricsAddress]) {
      for (const path of ["/healthz", "/readyz", "/-/healthy", "/-/ready"]) expect(await status(at + path)).toBe(200);
    }
    for (const path of ["/", "/api/v1/recordings", "/api/v2/alerts", "/session", "/events"])
      expect(await status(metricsAddress + path, bearer), path).toBe(404);
  });

  test("is not affected by whoever takes every connection of the other", async () => {
    const limits = { mostConnections: 40, mostFromOneAddress: 20 };
    const { address, metricsAddress = "" } = await serve({ metricsListen: listen, limits });
    const port = Number(new URL(address).port);
    const held = Array.from({ length: 100 }, () => connect(port, "127.0.0.1").on("error", () => undefined));
    onTestFinished(() => held.forEach((socket) => void socket.destroy()));
    await Promise.all(held.map((socket) => once(socket, "connect")));
    expect((await open(`${address}/api/v1/recordings`)).statusCode).toBe(200);
    expect((await open(`${metricsAddress}/metrics`)).statusCode).toBe(200);
    expect((await open(`${metricsAddress}/readyz`)).statusCode).toBe(200);
  });
});
