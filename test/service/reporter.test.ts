import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createLogger } from "../../src/lib/log.ts";
import { createRedactor } from "../../src/lib/redact.ts";
import { createReport } from "../../src/service/reporter.ts";
import { createRecorder } from "./support.ts";

function setUp(secret = "hush!") {
  const clock = { at: 0, now: () => clock.at };
  const lines: { kind: string; unloggedBefore: number; detail: string }[] = [];
  const destination = new PassThrough();
  destination.on("data", (line) => lines.push(JSON.parse(String(line))));
  const { observer, kinds } = createRecorder();
  const log = createLogger({ level: "info", destination });
  return { clock, lines, kinds, report: createReport({ clock, log, observer, redactor: createRedactor([secret]) }) };
}

it("counts every deviation and logs one of a kind in five minutes", () => {
  const { clock, lines, kinds, report } = setUp();
  for (let i = 0; i < 1000; i += 1) report("bad_row");
  report("bad_value");
  clock.at += 5 * 60_000;
  report("bad_row");
  expect(kinds).toHaveLength(1002);
  expect(lines.map(({ kind, unloggedBefore }) => [kind, unloggedBefore])).toEqual([
    ["bad_row", 0],
    ["bad_value", 0],
    ["bad_row", 999],
  ]);
});

it("logs a short beginning of what came, without secrets, and only then looks at it", () => {
  const { lines, report } = setUp();
  report("bad_row", () => ({ name: `hush!\n${"x".repeat(10_000)}` }));
  report("bad_row", () => expect.fail("must not be looked at"));
  expect(lines[0]?.detail).toMatch(/^\{"name":"\[redacted\]\\nx+…$/);
  expect(lines[0]?.detail.length).toBeLessThan(250);
});

it("blanks a secret that the cut would go through, in text, in JSON and in a URL", () => {
  const secret = `se"c/ret${"0123456789abcdef".repeat(20)}`;
  const { lines, report } = setUp(secret);
  report("bad_json", () => `${"x".repeat(185)}${secret}`);
  report("bad_row", () => [`${"x".repeat(185)}${secret}`]);
  report("bad_payload", () => ({ [`${"x".repeat(185)}${encodeURIComponent(secret)}`]: 1 }));
  expect(lines).toHaveLength(3);
  for (const { detail } of lines) {
    expect(detail).toContain("x[redacted]");
    expect(detail).not.toContain("0123456789");
  }
});

it("looks no further into a value than it shows", () => {
  const { lines, report } = setUp();
  let deep: unknown = "end";
  for (let i = 0; i < 100_000; i++) deep = { [`k${i % 3}`]: [deep] };
  report("bad_row", () => deep);
  report("bad_payload", () => Array(3_000_000).fill("abc"));
  expect(lines[0]?.detail).toMatch(/^\{"k0":\[\{"k2":\[/);
  expect(lines[1]?.detail).toMatch(/^\["abc","abc",/);
  for (const { detail } of lines) expect(detail.length).toBeLessThan(250);
});
