import { describe, expect, test } from "vitest";
import { isRemotePlainHttp, isSameOrigin } from "../../src/http/gate.ts";

const host = "lens.example:9595";

describe("a form", () => {
  test.each([
    ["the browser says so", { host, "sec-fetch-site": "same-origin" }],
    ["it comes from the host that was asked", { host, origin: "http://lens.example:9595" }],
    [
      "a proxy says which host was asked",
      { host: "app:9595", "x-forwarded-host": "ops.example", origin: "https://ops.example" },
    ],
    ["it comes from where people reach the page", { host: "app:9595", origin: "https://status.example" }],
    ["no browser sent it", { host }],
  ])("is ours where %s", (_, headers) => {
    expect(isSameOrigin(headers, "https://status.example/lens")).toBe(true);
  });

  test.each([
    ["another site", { host, "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["another host of the same site", { host, "sec-fetch-site": "same-site", origin: "https://x.example" }],
    ["a page that hides where it is", { host, origin: "null" }],
    ["another port", { host, origin: "http://lens.example:9596" }],
    ["a host that only begins like ours", { host, origin: "http://lens.example:9595.evil.example" }],
    [
      "a browser that was told to say we are it",
      { host, "sec-fetch-site": "cross-site", origin: "http://lens.example:9595" },
    ],
    ["nobody's address", { host, origin: "" }],
  ])("is not ours from %s", (_, headers) => {
    expect(isSameOrigin(headers, undefined)).toBe(false);
  });
});

test.each([
  ["http://lens.example", true],
  ["http://10.0.0.1:9595", true],
  ["http://127.0.0.1:9595", false],
  ["http://localhost:9595", false],
  ["https://lens.example", false],
  [undefined, false],
])("a page at %s is plain and far: %s", (origin, far) => {
  expect(isRemotePlainHttp(origin === undefined ? {} : { origin })).toBe(far);
});
