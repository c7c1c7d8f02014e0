import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createLogger } from "../../src/lib/log.ts";
import { createReport } from "../../src/service/reporter.ts";
import { createSecrets } from "../../src/service/secrets.ts";
import { createRecorder } from "./support.ts";

function setUp() {
  const clock = { at: 0, now: () => clock.at };
  const lines: { kind: string; unloggedBefore: number; detail: string }[] = [];
  const destination = new PassThrough();
  destination.on("data", (line) => lines.push(JSON.parse(String(line))));
  const { observer, kinds } = createRecorder();
  const log = createLogger({ level: "info", destination });
  return {
    clock,
    lines,
    kinds,
    report: createReport({ clock, log, observer, secrets: createSecrets("hush!") }),
  };
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
