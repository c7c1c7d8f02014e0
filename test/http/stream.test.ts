import { expect, test } from "vitest";
import { acceptsGzip } from "../../src/http/stream.ts";

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
