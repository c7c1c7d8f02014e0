import { once } from "node:events";
import { get as httpGet, type IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { silentLogger } from "../../src/lib/log.ts";
import { createExposition } from "../../src/metrics/exposition.ts";
import { largeFleet } from "../metrics/fleets.ts";
import { serve } from "./serve.ts";

const fleet = largeFleet(3_000);

function exposition() {
  return createExposition({
    registry: new Registry(),
    log: silentLogger,
    fleet: async () => ({ snapshot: fleet, rules: [], otherAlerts: [] }),
  });
}

/** A response whose body is not read until asked for. */
function open(url: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpGet(url, { headers, agent: false }, resolve);
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

test("more than four scrapes at once are asked to come back, until one has ended", async () => {
  const source = endlessSource();
  const { address, get } = await serve({ metrics: source });
  const scrapes = await Promise.all(Array.from({ length: 4 }, () => open(`${address}/metrics`)));
  for (const scrape of scrapes) scrape.once("error", () => undefined);
  const refused = await get("/metrics");
  expect(refused.status).toBe(503);
  expect(refused.headers.get("retry-after")).toBe("5");
  scrapes[0]?.destroy();
  await source.closed;
  let again = await open(`${address}/metrics`);
  while (again.statusCode === 503) {
    await bodyOf(again);
    again = await open(`${address}/metrics`);
  }
  again.once("error", () => undefined);
  expect(again.statusCode).toBe(200);
});
