import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { checkConfigCommand } from "../../src/commands/check-config.ts";
import { receivers, service } from "../config/text.ts";

async function fileWith(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lenswatch-check-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "lenswatch.yaml");
  await writeFile(file, text);
  return file;
}

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let code: number = 0;
  const io = { stdout, stderr, env, signal: new AbortController().signal, setExitCode: (set: number) => (code = set) };
  await checkConfigCommand(io).parseAsync(args, { from: "user" });
  return { code, out: String(stdout.read() ?? ""), err: String(stderr.read() ?? "") };
}

const tree = `route:
  receiver: ops
  routes:
    - matchers: [severity="warning"]
      continue: true
      repeat_interval: 1d
`;

test("a valid file is summarised with its rules, receivers and routes", async () => {
  const file = await fileWith(service + receivers + tree);
  const { code, out, err } = await run(["--config", file]);
  expect([code, err]).toEqual([0, ""]);
  expect(out.split("\n")).toEqual([
    `${file}: valid, with 12 rules, 1 receiver, 0 digests`,
    expect.stringMatching(/^rules: RecordingOffline, RecordingDegraded, /),
    "receiver ops: 1 Slack webhook",
    "route: all → ops (by location_id, repeat after 4h)",
    '  └ severity="warning" → ops (by location_id, repeat after 1d, continue)',
    "",
  ]);
});

test("every problem is printed with its position, and the exit code is 1", async () => {
  const file = await fileWith(`${service}${receivers}log: { level: loud }\nrule: []\n`);
  const { code, out } = await run(["--config", file]);
  expect(code).toBe(1);
  expect(out.split("\n")).toEqual([
    `${file}:12:15: log.level: found "loud", expected trace, debug, info, warn, error or silent`,
    expect.stringContaining(`${file}:13:1: rule: found the unknown key`),
    `${file}: 2 problems`,
    "",
  ]);
});

test("a warning does not make a file invalid", async () => {
  const { code, out } = await run(["--config", await fileWith(`${service}${receivers}rules: []\n`)]);
  expect(code).toBe(0);
  expect(out).toContain("\nwarning: ");
});

test("as JSON a valid file is summarised, without any secret", async () => {
  const file = await fileWith(service + receivers + tree);
  const { code, out } = await run(["--config", file, "--output", "json"]);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    file,
    valid: true,
    warnings: [],
    receivers: [{ name: "ops", slack: 1, email: [], webhook: 0, alertmanager: 0 }],
    route: { key: "{}", receiver: "ops", routes: [{ key: '{}/{severity="warning"}/0', receiver: "ops" }] },
  });
  expect(out).not.toContain("a-secret");
  expect(out).not.toContain("hooks.example.com");
});

test("as JSON every problem has its fields", async () => {
  const file = await fileWith(`${service}receivers: [ { name: ops, pager_configs: [] } ]\n`);
  const { code, out } = await run(["--output", "json"], { LENSWATCH_CONFIG: file });
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    file,
    valid: false,
    problems: [{ kind: "unknown_key", file, path: "receivers[0].pager_configs" }],
  });
});

test("a missing file is an error of its own", async () => {
  await expect(run(["--config", "/nonexistent/lenswatch.yaml"])).rejects.toMatchObject({ code: "not_found" });
});
