import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, expect, test, vi } from "vitest";
import { startApp } from "../../src/app/app.ts";
import type { CommandIo } from "../../src/commands/cli/command.ts";
import { demoCommand, type StartDaemon } from "../../src/commands/demo.ts";
import type { Config } from "../../src/config/config.ts";
import { describeWithRedis } from "../support/redis.ts";
import { configuration, start } from "./run-command.ts";

/** Runs the demo with another daemon. */
function demo(startDaemon: StartDaemon, ...args: string[]) {
  const entry = { name: "demo", summary: "", load: async (io: CommandIo) => demoCommand(io, startDaemon) };
  return start(["demo", ...args], process.env, { table: [entry] });
}

/** How many locations have counts; undefined where no Redis answers. */
async function storedCounts(url: string | undefined): Promise<number | undefined> {
  const redis = new Redis(url ?? "", { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
  redis.on("error", () => {});
  const keys = await redis.keys("*:counts:*").catch(() => undefined);
  redis.disconnect();
  return keys?.length;
}

/** Of these tests alone: another demo may be running on this machine. */
const temporary = mkdtempSync(join(tmpdir(), "lenswatch-demo-test-"));
vi.stubEnv("TMPDIR", temporary);
afterAll(() => rmSync(temporary, { recursive: true }));

/** Everything the demo had started, as its daemon saw it, is gone. */
async function expectAllGone(config: Config | undefined): Promise<void> {
  const slack = config?.receivers[0]?.slack[0]?.app?.apiBase;
  for (const url of [config?.service.baseUrl, slack]) await expect(fetch(url ?? "")).rejects.toThrow();
  expect(await storedCounts(config?.redis.url)).toBeUndefined();
  expect(readdirSync(temporary).filter((name) => name.startsWith("lenswatch-demo-"))).toEqual([]);
}

describeWithRedis("the demo", () => {
  test("gives the daemon a service, a Redis with counts and an inbox, and ends them where it does not start", async () => {
    let config: Config | undefined;
    const seen: unknown[] = [];
    const { ended } = demo(async (deps) => {
      config = deps.config;
      seen.push(await storedCounts(config.redis.url), (await fetch(`${config.service.baseUrl}/v1/status`)).status);
      throw new Error("no daemon today");
    });
    const { stdout, stderr, exitCode } = await ended;
    expect({ stderr, exitCode, seen }).toEqual({
      stderr: "lenswatch: unexpected Error: no daemon today\n",
      exitCode: 3,
      seen: [6, 200],
    });
    expect(stdout).toMatch(/event: .+: Entrance is online and has counted nobody since noon there/);
    expect(stdout).toMatch(/inbox +http:\/\/127\.0\.0\.1:\d+.*metrics +http:\/\/127\.0\.0\.1:\d+\/metrics/s);
    expect(stdout).toContain("Nothing is left running.");
    await expectAllGone(config);
  });

  const none: StartDaemon = async () => expect.unreachable();

  test("starts nothing when Ctrl-C came first", async () => {
    const { ended, stop } = demo(none);
    stop();
    expect(await ended).toMatchObject({ exitCode: 0, stderr: "" });
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("refuses a scenario that is none before it starts anything", async () => {
    expect(await demo(none, "--scenario", "package.json").ended).toMatchObject({ exitCode: 1, stdout: "" });
  });

  test("an outage is handled from the inbox: why, acknowledge, withdraw, silence", async () => {
    const day = await configuration(
      "events: [{ at: 8s, recording: L1/1, status: offline }, { at: 8s, recording: L3/1, status: offline }]",
    );
    let config: Config | undefined;
    const { ended, heard, stop } = demo(
      (deps) => {
        config = deps.config;
        return startApp(deps);
      },
      "--scenario",
      day,
    );
    await heard(/Slack .*lenswatch watches 24 recordings at 6 locations; no active alerts/);
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
    await send(`${inbox}/press`, { ts, action: "why", typed: {} });
    await heard(/Slack .*to you alone: Entrance · Leeds Briggate/);
    await send(`${inbox}/press`, { ts, action: "acknowledge", typed: {} });
    await heard(/Slack .*edited: 🔵 Entrance offline · Leeds Briggate — acknowledged: .*acknowledged by you/);
    const matching = `filter=${encodeURIComponent('location="Leeds Briggate"')}`;
    const [alert] = (await (await fetch(`${page}/api/v2/alerts?${matching}`)).json()) as { fingerprint: string }[];
    await send(`${page}/api/v1/alerts/${alert?.fingerprint}/ack`, {}, "DELETE");
    await heard(/Slack .*edited: 🔴 Entrance offline · Leeds Briggate: /);
    const bath = rootOf("Entrance offline · Bath Southgate");
    await send(`${inbox}/press`, { ts: bath, action: "silence", typed: {} });
    await heard(/Slack .*to you alone: Silence until when, and why\?/);
    const typed = { until: "08:00", reason: "works" };
    await send(`${inbox}/press`, { ts: bath, action: "silence.alerts", typed });
    await heard(/Slack .*edited: 🔵 Entrance offline · Bath Southgate — silenced: /);
    await send(`${control}/world`, { recording: "L1/1", status: "online" });
    await heard(/Slack .*↳ ✅ Entrance recovered · Leeds Briggate/);
    await heard(/e-mail .*✅ Entrance recovered · Leeds Briggate/);
    stop();
    expect(await ended).toMatchObject({ exitCode: 0 });
    await expectAllGone(config);
  });
});
