import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { simulateCommand } from "../../src/commands/simulate.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "simulate-"));
});
afterAll(() => rm(directory, { recursive: true }));

function start(...args: string[]) {
  const controller = new AbortController();
  const stdout = new PassThrough({ encoding: "utf8" });
  const stderr = new PassThrough({ encoding: "utf8" });
  const codes: number[] = [];
  const io = { signal: controller.signal, stdout, stderr, setExitCode: (code: number) => void codes.push(code) };
  const command = simulateCommand(io)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const done = command.parseAsync(args, { from: "user" });
  return { done, stop: () => controller.abort(), stdout, stderr, codes };
}

test("json prints exactly one line with what a client needs, and the service answers there until the end", async () => {
  const it = start("--output", "json", "--locations", "2", "--recordings-per-location", "3", "--seed", "9");
  const [printed] = (await once(it.stdout, "data")) as [string];
  expect(printed.match(/\n/g)).toHaveLength(1);
  const line = JSON.parse(printed) as Record<string, string>;
  expect(Object.keys(line)).toEqual([
    ...["base_url", "ws_url", "auth_url", "client_id", "client_secret", "audience", "control_url"],
  ]);
  const { client_id, client_secret, audience } = line;
  const token = await fetch(`${line.auth_url}/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_id, client_secret, audience, grant_type: "client_credentials" }),
  });
  expect(token.status).toBe(200);
  const world = (await (await fetch(`${line.control_url}/world`)).json()) as { locations: { recordings: object[] }[] };
  expect(world.locations.map(({ recordings }) => recordings.length)).toEqual([3, 3]);
  it.stop();
  await it.done;
  await expect(fetch(`${line.base_url}/v1/status`)).rejects.toThrow();
  expect(it.codes).toEqual([]);
});

test("text prints a service block that can be pasted into a configuration", async () => {
  const it = start();
  const [printed] = (await once(it.stdout, "data")) as [string];
  it.stop();
  await it.done;
  expect(printed).toContain("20 recordings in 5 locations: Leeds Briggate");
  const block = printed.slice(printed.indexOf("service:"), printed.indexOf("\nFaults"));
  expect(parse(block)).toEqual({
    service: {
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      ws_url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\//),
      auth_url: expect.any(String),
      client_id: expect.any(String),
      client_secret: expect.any(String),
      audience: expect.any(String),
    },
  });
});

test("a scenario is played", async () => {
  const file = join(directory, "day.yaml");
  await writeFile(file, "events: [{ at: 0s, location: L1, status: offline }]");
  const it = start("--output", "json", "--scenario", file);
  const { control_url } = JSON.parse(((await once(it.stdout, "data")) as [string])[0]) as { control_url: string };
  const ledger = (await (await fetch(`${control_url}/ledger`)).json()) as { status: string }[];
  it.stop();
  await it.done;
  expect(ledger.map(({ status }) => status)).toEqual(Array(4).fill("offline"));
});

test("a scenario with problems is exit code 1 and every problem with its place", async () => {
  const file = join(directory, "bad.yaml");
  await writeFile(file, "events: [{ at: soon, location: L1, status: offline }]");
  const it = start("--scenario", file);
  await it.done;
  expect(it.codes).toEqual([1]);
  expect(it.stderr.read()).toContain(`${file}:1:16: events.0.at: must be a duration`);
});

test("a scenario that is not there is an error with the next step", async () => {
  await expect(start("--scenario", join(directory, "none.yaml")).done).rejects.toMatchObject({
    code: "cannot_read",
    message: expect.stringContaining("check the path"),
  });
});

test.each([
  ["--locations", "many"],
  ["--port", "-1"],
  ["--output", "xml"],
])("%s %s is wrong usage", async (...args) => {
  await expect(start(...args).done).rejects.toMatchObject({ code: "commander.invalidArgument" });
});
