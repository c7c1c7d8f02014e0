import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { Redis } from "ioredis";
import { afterAll, expect, test, vi } from "vitest";
import { startApp } from "../../src/app/app.ts";
import { demoCommand, type StartDaemon } from "../../src/commands/demo.ts";
import type { Config } from "../../src/config/config.ts";
import { toError } from "../../src/lib/errors.ts";
import { describeWithRedis } from "../support/redis.ts";

const nothing: StartDaemon = async () => ({ stop: async () => {} });

/** Runs the demo with another daemon; `ended` gives what it printed, or rejects with what it threw. */
function demo(startDaemon: StartDaemon, args: string[] = []) {
  const controller = new AbortController();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  stderr.resume();
  const io = { stdout, stderr, env: process.env, signal: controller.signal, setExitCode: () => {} };
  const printed = text(stdout);
  let soFar = "";
  stdout.on("data", (chunk) => {
    soFar += chunk;
  });
  const heard = async (words: RegExp) => {
    while (!words.test(soFar)) await once(stdout, "data");
  };
  const run = demoCommand(io, startDaemon).parseAsync(args, { from: "user" });
  const ended = run.finally(() => stdout.end()).then(() => printed);
  return { ended, printed, heard, interrupt: () => controller.abort() };
}

async function answers(url: string): Promise<boolean> {
  return fetch(url, { method: "HEAD" }).then(
    () => true,
    () => false,
  );
}

async function redisAnswers(url: string): Promise<boolean> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on("error", () => {});
  const connected = await redis.connect().then(
    () => true,
    () => false,
  );
  redis.disconnect();
  return connected;
}

/** Of these tests alone: another demo may be running on this machine. */
const temporary = mkdtempSync(join(tmpdir(), "lenswatch-demo-test-"));
vi.stubEnv("TMPDIR", temporary);
afterAll(() => rmSync(temporary, { recursive: true }));

/** Everything the demo had started, as its daemon saw it, is gone. */
async function expectAllGone(config: Config | undefined): Promise<void> {
  expect(await answers(config?.service.baseUrl ?? "")).toBe(false);
  expect(await answers(config?.receivers[0]?.slack[0]?.apiUrl ?? "")).toBe(false);
  expect(await redisAnswers(config?.redis.url ?? "")).toBe(false);
  expect(readdirSync(temporary)).toEqual([]);
}

describeWithRedis("the demo", () => {
  test("gives the daemon a service, a Redis and an inbox, prints what arrives, and ends all of it on Ctrl-C", async () => {
    let config: Config | undefined;
    const stopped: string[] = [];
    const { ended, interrupt } = demo(async (deps) => {
      config = deps.config;
      expect(await redisAnswers(config.redis.url ?? "")).toBe(true);
      expect((await fetch(`${config.service.baseUrl}/v1/status`)).status).toBe(200);
      const slackUrl = config.receivers[0]?.slack[0]?.apiUrl ?? "";
      await fetch(slackUrl, { method: "POST", body: JSON.stringify({ text: "1 recording offline · Leeds" }) });
      interrupt();
      return { stop: async () => void stopped.push("daemon") };
    });
    const printed = await ended;
    expect(printed).toMatch(/inbox +http:\/\/127\.0\.0\.1:\d+/);
    expect(printed).toMatch(/metrics +http:\/\/127\.0\.0\.1:\d+\/metrics/);
    expect(printed).toContain("Slack   1 recording offline · Leeds");
    expect(printed).toContain("Nothing is left running.");
    expect(stopped).toEqual(["daemon"]);
    await expectAllGone(config);
  });

  test("starts nothing when Ctrl-C came first", async () => {
    let started = false;
    const { ended, interrupt } = demo(async (deps) => {
      started = true;
      return nothing(deps);
    });
    interrupt();
    await expect(ended).rejects.toMatchObject({ name: "AbortError" });
    expect(started).toBe(false);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("ends what it had started when the daemon does not start", async () => {
    let config: Config | undefined;
    const { ended, printed } = demo(async (deps) => {
      config = deps.config;
      throw new Error("no daemon today");
    });
    const failure = await ended.catch(toError);
    expect(failure).toMatchObject({ message: "no daemon today" });
    expect(await printed).toContain("Stopped.");
    await expectAllGone(config);
  });

  test("a recording goes offline and recovers; both are sent by Slack and e-mail", { timeout: 60_000 }, async () => {
    const day = join(temporary, "day.yaml");
    writeFileSync(day, "events: [{ at: 5s, recording: L1/1, status: offline, for: 4s }]");
    const { ended, heard, interrupt } = demo(startApp, ["--scenario", day]);
    await heard(/Slack .*lenswatch started with an empty store: no active alerts/);
    await heard(/Slack .*🔴 Entrance offline · Leeds Briggate/);
    await heard(/e-mail .*🔴 Entrance offline · Leeds Briggate/);
    await heard(/Slack .*✅ Entrance recovered · Leeds Briggate/);
    await heard(/e-mail .*✅ Entrance recovered · Leeds Briggate/);
    interrupt();
    const lines = (await ended).split("\n").filter((line) => / {2}(?:Slack|e-mail) /.test(line));
    expect(lines).toHaveLength(6);
    rmSync(day);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("refuses a scenario that is none before it starts anything", async () => {
    const { ended, printed } = demo(nothing, ["--scenario", "package.json"]);
    await expect(ended).rejects.toMatchObject({ code: "bad_scenario" });
    expect(await printed).toBe("");
  });
});
