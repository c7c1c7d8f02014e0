import { describe, expect, test } from "vitest";
import { acceptsGzip, bodyOf } from "../../src/http/stream.ts";

async function* endless(): AsyncGenerator<string, void> {
  for (;;) {
    yield "x".repeat(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe.each([[false], [true]])("a body read too slowly (gzip: %s)", (gzip) => {
  test("is given up with an error, once", async () => {
    let ends = 0;
    const ended = Promise.withResolvers<void>();
    const onEnd = () => {
      ends += 1;
      ended.resolve();
    };
    const body = bodyOf(endless(), { gzip, longestMs: 5, onEnd });
    const failed = new Promise<Error>((resolve) => body.once("error", resolve));
    expect((await failed).message).toBe("the client read too slowly");
    await ended.promise;
    expect(ends).toBe(1);
  });
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
