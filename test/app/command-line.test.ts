/** Any user of a machine can read command lines (`ps`), so no secret is on one, ours or a child's. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { expect, it, onTestFinished, test } from "vitest";
import { commandTable } from "../../src/commands/cli/program.ts";
import { prepareWatch } from "../support/app.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

const SECRETS = {
  clientSecret: "canary-client-secret",
  slackPath: "canary-slack-path",
  webhookSecret: "canary-webhook-secret",
  smtpPassword: "canary-smtp-password",
  adminToken: "canary-admin-token",
  readToken: "canary-read-token",
  heartbeatPath: "canary-heartbeat-path",
  proxyPassword: "canary-proxy-password",
};

async function everyCommand(): Promise<Command[]> {
  const io = {
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env: {},
    signal: new AbortController().signal,
    setExitCode() {},
  };
  const tops = await Promise.all(commandTable.map((entry) => entry.load(io)));
  const withSubs = (command: Command): Command[] => [command, ...command.commands.flatMap(withSubs)];
  return tops.flatMap(withSubs);
}

test("no command has an option or an argument that takes a secret", async () => {
  const words = (await everyCommand()).flatMap((command) => [
    ...command.options.map(({ flags }) => `${command.name()} ${flags}`),
    ...command.registeredArguments.map((argument) => `${command.name()} ${argument.name()}`),
  ]);
  expect(words.length).toBeGreaterThan(30);
  const named = words.filter((word) => /token(?!-lifetime)|secret|password|passphrase|credential|\bkey\b/i.test(word));
  expect(named.filter((word) => !/ --[a-z-]+-file <file>$/.test(word))).toEqual([]);
});

/** Process ids of a process and all its descendants. */
async function family(pid: number): Promise<number[]> {
  const all = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = new Map<number, number>();
  for (const one of all) {
    const stat = await readFile(`/proc/${one}/stat`, "utf8").catch(() => "");
    parents.set(one, Number(stat.replace(/^.*\) /s, "").split(" ")[1]));
  }
  const below = (top: number): number[] => [top, ...all.filter((one) => parents.get(one) === top).flatMap(below)];
  return below(pid);
}

async function commandLines(pid: number): Promise<string[]> {
  const lines = (await family(pid)).map((one) => readFile(`/proc/${one}/cmdline`, "utf8").catch(() => ""));
  return (await Promise.all(lines)).map((line) => line.replaceAll("\0", " "));
}

function startIn(dir: string, env: Record<string, string>, args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  return child;
}

const isLinux = process.platform === "linux";
describeWithRedis("a daemon with a Redis of its own", () => {
  it.skipIf(!isLinux)(
    "shows no secret on its command line or its child's (skipped without /proc)",
    async () => {
      await using stage = await prepareWatch({ simulator: { clientSecret: SECRETS.clientSecret } });
      const dir = await realpath(await mkdtemp(join(tmpdir(), "lenswatch-cmdline-")));
      onTestFinished(() => rm(dir, { recursive: true, force: true }));
      await writeFile(join(dir, "admin"), SECRETS.adminToken);
      const file = join(dir, "lenswatch.yaml");
      const config = stage.config
        .replace(/client_secret: .*/, `client_secret: \${CLIENT_SECRET}`)
        .replace(/redis: .*/, "")
        .replace(stage.slack.url, stage.slack.url.replace(/[^/]+$/, SECRETS.slackPath))
        .replace(
          /email_configs: .*/,
          `webhook_configs: [ { url: "http://127.0.0.1:9", secret: ${SECRETS.webhookSecret} } ]`,
        )
        .replace(/smtp: \{/, `$& username: u, password: ${SECRETS.smtpPassword},`)
        .replace('"127.0.0.1:0"', `$&, admin_token_file: admin, read_token: ${SECRETS.readToken}`)
        .concat(`heartbeat: { url: "http://127.0.0.1:9/${SECRETS.heartbeatPath}" }\n`);
      await writeFile(file, config);
      const proxy = `http://user:${SECRETS.proxyPassword}@proxy.example.com:3128`;
      const env = { CLIENT_SECRET: SECRETS.clientSecret, https_proxy: proxy };
      const daemon = startIn(dir, env, ["run", "--config", file, "--role", "all"]);
      let log = "";
      daemon.stdout?.on("data", (chunk) => {
        log += chunk;
      });
      await until("it watches", () => log.includes('"msg":"started"'));
      const lines = await commandLines(daemon.pid ?? 0);
      expect(lines).toHaveLength(3); // the last one ends Redis with the daemon
      expect(lines[0]).toContain("main.ts run --config");
      expect(lines[1]).toMatch(/(redis|valkey)-server/);
      const secrets = Object.values(SECRETS);
      expect(secrets.filter((secret) => lines.some((line) => line.includes(secret)))).toEqual([]);
      expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
      expect(log).toMatch(/"found":"a login in the http:\/\/ URL of HTTPS_PROXY".*"configuration has a warning"/);
    },
    40_000,
  );
});
