import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { acceptsGzip, bodyOf } from "../../src/http/stream.ts";

async function* endless(): AsyncGenerator<string, void> {
  for (;;) {
    // Barely compressible, so that gzip has to wait for its reader too.
    yield randomBytes(8_000).toString("base64");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe.each([
  [false, { longestMs: 5 }],
  [true, { longestMs: 5 }],
  [false, { stalledMs: 5 }],
  [true, { stalledMs: 5 }],
])("a body read too slowly (gzip: %s, %j)", (gzip, limit) => {
  test("is given up with an error, once", async () => {
    let ends = 0;
    const ended = Promise.withResolvers<void>();
    const onEnd = () => {
      ends += 1;
      ended.resolve();
    };
    const body = bodyOf(endless(), { gzip, ...limit, onEnd });
    const failed = new Promise<Error>((resolve) => body.once("error", resolve));
    body.read(0);
    expect((await failed).message).toBe("the client read too slowly");
    await ended.promise;
    expect(ends).toBe(1);
  });
});

test("a body that is read by nobody, as its answer is too late, is given up without ending the process", async () => {
  const closed = Promise.withResolvers<void>();
  const body = bodyOf(endless(), { longestMs: 5, onEnd: closed.resolve });
  expect(body.listenerCount("error")).toBe(1);
  await closed.promise;
});

test("a body whose source is slow, and whose reader is not, is given up by nobody", async () => {
  async function* slow(): AsyncGenerator<string, void> {
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      yield "x";
    }
  }
  expect(await Array.fromAsync(bodyOf(slow(), { stalledMs: 10 }))).toHaveLength(3);
});

test("a body that nobody reads and that is destroyed has ended too", async () => {
  const ended = Promise.withResolvers<void>();
  bodyOf(endless(), { onEnd: ended.resolve }).destroy();
  await ended.promise;
});

test.each([
  [undefined, false],
  ["", false],
  ["gzip", true],
  ["GZIP;q=0.5", true],
  ["deflate, gzip;q=1.0, *;q=0.5", true],
  ["gzip;q=0", false],
  ["br", false],
])("Accept-Encoding %j takes gzip: %s", (header, gzip) => {
  expect(acceptsGzip(header)).toBe(gzip);
});
