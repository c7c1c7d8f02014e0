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
    for (;;) {
      const found = words.exec(soFar);
      if (found) return found;
      await once(stdout, "data");
    }
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

/** How many locations have counts. */
async function storedCounts(url: string): Promise<number> {
  const redis = new Redis(url);
  const keys = await redis.keys("*:counts:*");
  redis.disconnect();
  return keys.length;
}

/** Of these tests alone: another demo may be running on this machine. */
const temporary = mkdtempSync(join(tmpdir(), "lenswatch-demo-test-"));
vi.stubEnv("TMPDIR", temporary);
afterAll(() => rmSync(temporary, { recursive: true }));

/** Everything the demo had started, as its daemon saw it, is gone. */
async function expectAllGone(config: Config | undefined): Promise<void> {
  expect(await answers(config?.service.baseUrl ?? "")).toBe(false);
  expect(await answers(config?.receivers[0]?.slack[0]?.app?.apiBase ?? "")).toBe(false);
  expect(await redisAnswers(config?.redis.url ?? "")).toBe(false);
  expect(readdirSync(temporary)).toEqual([]);
}

describeWithRedis("the demo", () => {
  test("gives the daemon a service, a Redis and an inbox, prints what arrives, and ends all of it on Ctrl-C", async () => {
    let config: Config | undefined;
    const stopped: string[] = [];
    const { ended, interrupt } = demo(async (deps) => {
      config = deps.config;
      expect(await storedCounts(config.redis.url ?? "")).toBe(6);
      expect((await fetch(`${config.service.baseUrl}/v1/status`)).status).toBe(200);
      const { apiBase = "", botToken = "", channel = "" } = config.receivers[0]?.slack[0]?.app ?? {};
      const headers = { authorization: `Bearer ${botToken}`, "content-type": "application/json" };
      const body = JSON.stringify({ channel, text: "1 recording offline · Leeds" });
      await fetch(`${apiBase}/chat.postMessage`, { method: "POST", headers, body });
      interrupt();
      return { stop: async () => void stopped.push("daemon") };
    });
    const printed = await ended;
    expect(printed).toMatch(/event: .+: Entrance is online and has counted nobody since noon there/);
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
    const { ended, printed } = demo(
      async (deps) => {
        config = deps.config;
        throw new Error("no daemon today");
      },
      ["--scenario", "src/demo/scenario.yaml"],
    );
    const failure = await ended.catch(toError);
    expect(failure).toMatchObject({ message: "no daemon today" });
    expect(await printed).toContain("Stopped.");
    await expectAllGone(config);
  });

  test("an outage is handled from the inbox: why, acknowledge, withdraw, silence", async () => {
    const day = join(temporary, "day.yaml");
    writeFileSync(
      day,
      "events: [{ at: 3s, recording: L1/1, status: offline }, { at: 3s, recording: L3/1, status: offline }]",
    );
    const { ended, heard, interrupt } = demo(startApp, ["--scenario", day]);
    await heard(/Slack .*lenswatch started with an empty store: no active alerts/);
    const [, inbox = ""] = await heard(/inbox +(http:\S+)/);
    const [, page = ""] = await heard(/page +(http:\S+)\//);
    const [, control = ""] = await heard(/faults +(http:\S+)\/faults/);
    const send = async (url: string, asked: object, method = "POST") => {
      const headers = { "content-type": "application/json", authorization: "Bearer lenswatch-demo-token" };
      const response = await fetch(url, { method, headers, body: JSON.stringify(asked) });
      expect([url, response.status, response.ok]).toEqual([url, response.status, true]);
    };
    await heard(/Slack .*🔴 Entrance offline · Leeds Briggate @here/);
    await heard(/e-mail .*🔴 Entrance offline · Leeds Briggate/);
    await heard(/Slack .*🔴 Entrance offline · Bath Southgate/);
    const [, ...articles] = (await (await fetch(inbox)).text()).split("<article ");
    const rootOf = (location: string) =>
      /data-ts="([\d.]+)"/.exec(
        articles.find((one) => one.includes(`class="slack"`) && one.includes(location)) ?? "",
      )?.[1];
    const ts = rootOf("Entrance offline · Leeds Briggate");
    await send(`${inbox}/press`, { ts, action: "why" });
    await heard(/Slack .*to you alone: Entrance · Leeds Briggate/);
    await send(`${inbox}/press`, { ts, action: "acknowledge" });
    await heard(/Slack .*edited: 🔴 Entrance offline · Leeds Briggate — acknowledged: .*acknowledged by you/);
    const matching = `filter=${encodeURIComponent('location="Leeds Briggate"')}`;
    const [alert] = (await (await fetch(`${page}/api/v2/alerts?${matching}`)).json()) as { fingerprint: string }[];
    await send(`${page}/api/v1/alerts/${alert?.fingerprint}/ack`, {}, "DELETE");
    await heard(/Slack .*edited: 🔴 Entrance offline · Leeds Briggate: /);
    const silenced = { ts: rootOf("Entrance offline · Bath Southgate"), action: "silence", value: "alerts.1h" };
    await send(`${inbox}/press`, silenced);
    await heard(/Slack .*edited: 🔴 Entrance offline · Bath Southgate — silenced: /);
    await send(`${control}/world`, { recording: "L1/1", status: "online" });
    await heard(/Slack .*↳ ✅ Entrance recovered · Leeds Briggate/);
    await heard(/e-mail .*✅ Entrance recovered · Leeds Briggate/);
    interrupt();
    await ended;
    rmSync(day);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("refuses a scenario that is none before it starts anything", async () => {
    const { ended, printed } = demo(nothing, ["--scenario", "package.json"]);
    await expect(ended).rejects.toMatchObject({ code: "bad_scenario" });
    expect(await printed).toBe("");
  });
});
