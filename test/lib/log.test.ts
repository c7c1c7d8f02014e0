import { describe, expect, test } from "vitest";
import { createLogger, scrub } from "../../src/lib/log.ts";

describe("scrub", () => {
  test.each([
    ["wss://h/?token=abc.def&x=1", "wss://h/?token=[redacted]&x=1"],
    ["Authorization: Bearer abc.def-_=", "Authorization: Bearer [redacted]"],
    ["xoxb-12-abc and xapp-1-A0-ff", "[redacted] and [redacted]"],
    ["https://hooks.slack.com/services/T0/B0/abc failed", "https://hooks.slack.com/services/[redacted] failed"],
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
      expect(performance.now() - began).toBeLessThan(10_000);
    },
  );
});

describe("a log line", () => {
  const hostile = "a\u009b2J\u202eb\u001b[31m\u2028c";

  function lineOf(field: unknown): string {
    let text = "";
    const destination = {
      write(line: string) {
        text += line;
      },
    };
    const log = createLogger({ level: "debug", destination: destination as unknown as NodeJS.WritableStream });
    log.warn(field, "said");
    return text;
  }

  test("gives a terminal nothing to obey, and its reader all there was", () => {
    const line = lineOf({ alert: hostile });
    expect(line).toMatch(/^[\x20-\x7e]*\n$/);
    expect(JSON.parse(line)).toMatchObject({ alert: hostile, msg: "said" });
  });

  test("logs only the visible characters of an error", () => {
    const cause = new Error(`cause ${hostile}`);
    const line = lineOf({ err: new Error(`message ${hostile}`, { cause }) });
    expect(line).toMatch(/^[\x20-\x7e]*\n$/);
    const { err } = JSON.parse(line) as { err: { message: string; stack: string; cause: { message: string } } };
    expect([err.message, err.cause.message]).toEqual(["message a2Jb[31m c", "cause a2Jb[31m c"]);
    expect(err.stack.split("\n").length).toBeGreaterThan(2);
  });
});
