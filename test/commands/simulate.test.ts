import { expect, test } from "vitest";
import { parse } from "yaml";
import { configuration, lenswatch, start } from "./run-command.ts";

async function json<T>(url: string, body?: object): Promise<T> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, body && { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

async function simulate(...args: string[]) {
  const it = start(["simulate", "--output", "json", ...args]);
  const [line] = await it.heard(/^.*\n/);
  return { ...it, line, settings: JSON.parse(line) as Record<string, string> };
}

test("json prints one line with what a client needs, and the service answers there until the end", async () => {
  const it = await simulate("--locations", "2", "--recordings-per-location", "3", "--seed", "9");
  const { client_id, client_secret, audience, auth_url, base_url, ws_url, control_url, ...rest } = it.settings;
  expect([ws_url, rest]).toEqual([expect.stringMatching(/^ws:/), {}]);
  const grant = { client_id, client_secret, audience, grant_type: "client_credentials" };
  await json(`${auth_url}/oauth/token`, grant);
  const { locations } = await json<{ locations: { recordings: object[] }[] }>(`${control_url}/world`);
  expect(locations.map(({ recordings }) => recordings.length)).toEqual([3, 3]);
  it.stop();
  expect(await it.ended).toEqual({ stdout: it.line, stderr: "", exitCode: 0 });
  await expect(fetch(`${base_url}/v1/status`)).rejects.toThrow();
});

test("text prints a service block that can be pasted into a configuration", async () => {
  const it = start(["simulate"]);
  const [printed, block = ""] = await it.heard(/20 recordings in 5 locations: Leeds Briggate.*?(service:.*)\nFaults/s);
  it.stop();
  await it.ended;
  expect(printed).toContain("ws_url: ws://127.0.0.1:");
  const keys = ["base_url", "ws_url", "auth_url", "client_id", "client_secret", "audience"];
  expect(Object.keys(parse(block).service)).toEqual(keys);
});

test("a scenario is played", async () => {
  const scenario = await configuration("events: [{ at: 0s, location: L1, status: offline }]");
  const it = await simulate("--scenario", scenario);
  const ledger = await json<{ status: string }[]>(`${it.settings.control_url}/ledger`);
  it.stop();
  await it.ended;
  expect(ledger.map(({ status }) => status)).toEqual(Array(4).fill("offline"));
});

test("a scenario with problems is exit code 1 and every problem with its place; one that is not there is 3", async () => {
  const bad = await configuration("events: [{ at: soon, location: L1, status: offline }]");
  const { exitCode, stderr } = await lenswatch(["simulate", "--scenario", bad]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`${bad}:1:16: events.0.at: must be a duration`)]);
  const none = await lenswatch(["simulate", "--scenario", `${bad}.none`]);
  expect([none.exitCode, none.stderr]).toEqual([3, expect.stringContaining("check the path")]);
});

test.each([
  ["--locations", "many"],
  ["--port", "-1"],
  ["--output", "xml"],
])("%s %s is wrong usage", async (...args) => {
  expect(await lenswatch(["simulate", ...args])).toMatchObject({ exitCode: 2, stdout: "" });
});
