import { describe, expect, test } from "vitest";
import { scrub } from "../../src/lib/log.ts";

describe("scrub", () => {
  test.each([
    ["wss://h/?token=abc.def&x=1", "wss://h/?token=[redacted]&x=1"],
    ["Authorization: Bearer abc.def-_=", "Authorization: Bearer [redacted]"],
    [
      "https://hooks.slack.com/services/T0/B0/abc failed",
      "https://hooks.slack.com/services/[redacted] failed",
    ],
    ["redis://:pass@127.0.0.1:6379/0", "redis://:[redacted]@127.0.0.1:6379/0"],
    ["at https://dana:pass@proxy.example.com.", "at https://dana:[redacted]@proxy.example.com."],
    ["at 127.0.0.1:80, no secret: none@all", "at 127.0.0.1:80, no secret: none@all"],
  ])("%s", (text, clean) => {
    expect(scrub(text)).toBe(clean);
  });

  test.each(["x", "x:", "://", "a://", "a://:", "?token=", "Bearer ", "hooks.slack.com/services/"])(
    "takes no time over 200,000 characters of %s",
    (piece) => {
      const began = performance.now();
      scrub(piece.repeat(200_000 / piece.length));
      expect(performance.now() - began).toBeLessThan(1_000);
    },
  );
});
