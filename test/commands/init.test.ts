import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ExitCode } from "../../src/commands/cli/command.ts";
import { settingsOf } from "../../src/commands/simulate.ts";
import { loadWithWarnings } from "../../src/config/load.ts";
import { type Simulator, startSimulator } from "../../src/simulator/simulator.ts";
import { temporaryDirectory } from "../support/directory.ts";
import { type HttpSink, startHttpSink } from "../support/http-sink.ts";
import { startSlackSink } from "../support/slack-sink.ts";
import { startSmtpSink } from "../support/smtp-sink.ts";
import { until } from "../support/until.ts";
import { type Around, lenswatch } from "./run-command.ts";

const CLIENT_SECRET = "s3cret-of-the-client";
let simulator: Simulator;
let empty: Simulator;
let hook: HttpSink;

beforeAll(async () => {
  simulator = await startSimulator({ locations: 2, recordingsPerLocation: 3, seed: 1, clientSecret: CLIENT_SECRET });
  empty = await startSimulator({ locations: 0, recordingsPerLocation: 0, seed: 1 });
  hook = await startHttpSink();
});

afterAll(async () => {
  await Promise.all([simulator.close(), empty.close(), hook.close()]);
});

/** Runs `init`; without `isTTY` there is no terminal. */
const run = (argv: readonly string[], { env = {}, ...around }: Around & { env?: Record<string, string> } = {}) =>
  lenswatch(["init", ...argv], env, around);

/** Variables for the simulator and a webhook. */
function variables(url = `${hook.url}/alerts`, of = simulator): Record<string, string> {
  const service = Object.entries(settingsOf(of)).map(([key, value]) => [`LENSWATCH_${key.toUpperCase()}`, value]);
  return { ...Object.fromEntries(service), LENSWATCH_WEBHOOK_URL: url };
}

async function newFile(): Promise<string> {
  return join(await temporaryDirectory(), "etc", "lenswatch.yaml");
}

/** All files below a configuration's directory, and its parent if there is none. */
async function written(file: string): Promise<string[]> {
  const all = await readdir(join(file, "../.."), { recursive: true, withFileTypes: true });
  return all
    .filter((one) => one.isFile())
    .map((one) => one.name)
    .sort();
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

describe("lenswatch init --yes", () => {
  test("writes a configuration without warnings, secrets in files of their owner alone, and tokens of its own", async () => {
    const file = await newFile();
    const { stdout, stderr, exitCode } = await run(["--yes", "--config", file], { env: variables() });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toContain("token issued, 2 locations, 6 recordings\n1 test message accepted\n");
    expect(stdout).toContain(`  lenswatch check-config --config ${file}\n  lenswatch run --config ${file}\n`);
    const { config, warnings } = await loadWithWarnings(file, {});
    expect(warnings).toEqual([]);
    expect(config.service).toMatchObject({ clientSecret: CLIENT_SECRET, baseUrl: simulator.baseUrl });
    expect(config.receivers).toMatchObject([{ name: "ops", webhook: [{ url: `${hook.url}/alerts` }] }]);
    const tokens = config.http.tokens.map(({ name, token, scopes }) => [
      name,
      Buffer.from(token, "base64url").length,
      scopes,
    ]);
    expect(tokens).toEqual([
      ["admin_token", 32, ["admin"]],
      ["read_token", 32, ["read"]],
    ]);
    expect(new Set(config.http.tokens.map(({ token }) => token)).size).toBe(2);
    const secrets = join(file, "../secrets");
    expect(await modeOf(secrets)).toBe("700");
    const names = await readdir(secrets);
    expect(names.sort()).toEqual(["admin_token", "client_secret", "read_token", "webhook_url"]);
    expect(new Set(await Promise.all(names.map((name) => modeOf(join(secrets, name)))))).toEqual(new Set(["600"]));
    const contents = await Promise.all(names.map((name) => readFile(join(secrets, name), "utf8")));
    const shown = (await readFile(file, "utf8")) + stdout;
    expect(contents.filter((secret) => shown.includes(secret.trim()))).toEqual([]);
    expect(shown).toContain("# The URL of the Core API.\n  base_url: ");
  });

  test("sends a test message to each kind of receiver that is given", async () => {
    const [slack, mail] = await Promise.all([startSlackSink(), startSmtpSink()]);
    onTestFinished(() => Promise.all([slack.close(), mail.close()]).then(() => {}));
    const file = await newFile();
    const smtp = `--email-to ops@example.com --smtp-host ${mail.host} --smtp-port ${mail.port} --smtp-from lens@example.com`;
    const argv = ["--yes", "--config", file, ...smtp.split(" "), "--smtp-require-tls", "false"];
    const result = await run(argv, { env: { ...variables(""), LENSWATCH_SLACK_URL: slack.url } });
    expect(result).toMatchObject({
      stderr: "",
      exitCode: 0,
      stdout: expect.stringContaining("2 test messages accepted"),
    });
    expect((await slack.next()).text).toContain("Test");
    expect((await mail.next()).rcpts).toEqual(["ops@example.com"]);
    expect((await loadWithWarnings(file, {})).warnings).toEqual([]);
  });

  test("reads a secret from a file or from stdin, and keeps values as they are", async () => {
    const file = await newFile();
    const secret = join(await temporaryDirectory(), "webhook");
    await writeFile(secret, `${hook.url}/from-a-file\r\n`);
    const secrets = ["--client-secret-file", "-", "--webhook-url-file", secret];
    const argv = ["--yes", "--config", file, ...secrets, "--skip-checks"];
    const clientId = `0x1f $\{HOME}: # 'x'`;
    const env = { ...variables(""), LENSWATCH_CLIENT_SECRET: "", LENSWATCH_CLIENT_ID: clientId };
    expect(await run(argv, { env, stdin: Readable.from(["from stdin\n"]) })).toMatchObject({ stderr: "", exitCode: 0 });
    const { config } = await loadWithWarnings(file, {});
    expect(config.service).toMatchObject({ clientSecret: "from stdin", clientId });
    expect(config.receivers[0]?.webhook[0]?.url).toBe(`${hook.url}/from-a-file`);
  });

  const username = { LENSWATCH_SMTP_USERNAME: "u" };
  const mail = { LENSWATCH_EMAIL_TO: "a@b", LENSWATCH_SMTP_HOST: "h", LENSWATCH_SMTP_FROM: "a@b", ...username };
  test.each<[string, () => Record<string, string>, ExitCode, RegExp, ExitCode]>([
    [
      "a wrong client secret",
      () => ({ LENSWATCH_CLIENT_SECRET: "wr0ng" }),
      1,
      /token issuer answered 401 .*client_secret/,
      0,
    ],
    [
      "a host that is not there",
      () => ({ LENSWATCH_AUTH_URL: "http://127.0.0.1:9" }),
      3,
      /could not be reached .*ECONNREFUSED/,
      0,
    ],
    [
      "a webhook that answers 404",
      () => ({ LENSWATCH_WEBHOOK_URL: `${hook.url}/404` }),
      1,
      /answered 404: check the path/,
      0,
    ],
    ["a service without locations", () => variables(undefined, empty), 1, /lists no locations.*account manager/, 0],
    ["a username without a password", () => mail, 1, /smtp\.password: .*beside the username/, 1],
  ])("writes nothing with %s, unless checks are skipped on purpose", async (_, wrong, exitCode, why, unchecked) => {
    hook.respond(({ path }) => ({ status: path === "/404" ? 404 : 200 }));
    const file = await newFile();
    const env = { ...variables(), ...wrong() };
    const result = await run(["--yes", "--config", file], { env });
    expect(result).toMatchObject({ exitCode, stderr: expect.stringMatching(/^lenswatch: .*; nothing was written\n$/) });
    expect(result.stderr).toMatch(why);
    expect(result.stderr).not.toContain("wr0ng");
    expect(await written(file)).toEqual([]);
    const count = hook.messages.length;
    expect((await run(["--yes", "--config", file, "--skip-checks"], { env })).exitCode).toBe(unchecked);
    expect(hook.messages).toHaveLength(count);
  });

  test("says so where there is no redis-server to embed", async () => {
    const argv = ["--yes", "--config", await newFile(), "--skip-checks"];
    const { stdout, exitCode } = await run(argv, { env: { ...variables(), PATH: await temporaryDirectory() } });
    expect(stdout).toMatch(/\nredis-server is not installed; install it .* or, for the daemon, set redis\.url .*\n$/);
    expect(exitCode).toBe(0);
  });

  test("names everything that is missing or invalid in one sentence, exit code 2", async () => {
    const argv = ["--yes", "--config", await newFile(), "--base-url", "ftp://x", "--audience", "a", "--client-id", "c"];
    expect(await run(argv)).toEqual({
      stdout: "",
      stderr:
        "lenswatch: init needs --ws-url, --auth-url, --client-secret-file, a receiver by --slack-url-file, --email-to or --webhook-url-file (or the variables in `lenswatch init --help`); --base-url must be an http:// or https:// URL without login, query or fragment; nothing was written\n",
      exitCode: 2,
    });
  });

  test("replaces existing files only with --force, and narrows a directory that others can read", async () => {
    const file = await newFile();
    const secrets = join(file, "../secrets");
    await mkdir(secrets, { recursive: true });
    await chmod(secrets, 0o755);
    await writeFile(join(secrets, "admin_token"), "mine");
    const argv = ["--yes", "--config", file, "--skip-checks"];
    const refused = await run(argv, { env: variables() });
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/admin_token already: .*--force/) });
    expect(await written(file)).toEqual(["admin_token"]);
    expect(await readFile(join(secrets, "admin_token"), "utf8")).toBe("mine");
    const { stdout, exitCode } = await run([...argv, "--force"], { env: variables() });
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`${secrets} is now readable by you alone\n`);
    expect(await modeOf(secrets)).toBe("700");
    expect(await readFile(join(secrets, "admin_token"), "utf8")).not.toBe("mine");
  });

  test("leaves nothing behind where a file cannot be written", async () => {
    const file = await newFile();
    await mkdir(join(file, "../secrets/read_token"), { recursive: true });
    const result = await run(["--yes", "--config", file, "--skip-checks", "--force"], { env: variables() });
    expect(result).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("cannot be written") });
    expect((await written(file)).filter((name) => name.endsWith(".new") || name === "lenswatch.yaml")).toEqual([]);
  });
});

describe("lenswatch init on a terminal", () => {
  const DOWN = "\u001b[B";

  /** A terminal with somebody at it: each answer waits for its question. */
  function terminal() {
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin });
    let shown = "";
    const onFrame = (text: string) => {
      shown += text;
    };
    let from = 0;
    return {
      streams: { stdin, isTTY: true, columns: 100, rows: 50, onFrame },
      screen: () => stripVTControlCharacters(shown),
      async answer(question: string, keys: string) {
        const active = `◆  ${question}`;
        await until(`${question}\n${shown}`, () => stripVTControlCharacters(shown).includes(active, from));
        from = stripVTControlCharacters(shown).indexOf(active, from) + active.length;
        stdin.write(keys);
      },
    };
  }

  test("asks, checks each as it is given, and has only the wrong answer typed again", async () => {
    hook.respond(({ path }) => ({ status: path === "/404" ? 404 : 200 }));
    const file = await newFile();
    const { streams, screen, answer } = terminal();
    const done = run(["--config", file, "--client-id", simulator.clientId], streams);
    await answer("The URL of the Core API", `${simulator.baseUrl}\r`);
    await answer("The URL of the Metrics WebSocket", "nonsense\r");
    await until("it refuses nonsense", () => screen().includes("It must be a ws:// or wss:// URL"));
    streams.stdin.write(`\u0015${simulator.wsUrl}\r`);
    await answer("The URL of the token issuer", `${simulator.authUrl}\r`);
    await answer("The client secret", "wr0ng-secret\r");
    await answer("The API audience", `${simulator.audience}\r`);
    await answer("What next?", `${DOWN.repeat(5)}\r`);
    await answer("The client secret; Enter keeps the one given", `${CLIENT_SECRET}\r`);
    await answer("Where are alerts sent?", `${DOWN.repeat(2)}\r`);
    await answer("The URL each group is posted to", `${hook.url}/404\r`);
    await answer("What next?", `${DOWN}\r`);
    await answer("The URL each group is posted to", `${hook.url}/right\r`);
    await answer("1 test message accepted. Did it arrive?", "n");
    await answer("What next?", "\r");
    await answer("1 test message accepted. Did it arrive?", "y");
    expect(await done).toMatchObject({ stderr: "", exitCode: 0 });
    expect(screen()).toContain("token issuer answered 401");
    expect(screen()).toContain("token issued, 2 locations, 6 recordings");
    expect(screen()).toContain("answered 404");
    expect(["wr0ng-secret", CLIENT_SECRET, `${hook.url}/`].filter((secret) => screen().includes(secret))).toEqual([]);
    const { config, warnings } = await loadWithWarnings(file, {});
    expect(warnings).toEqual([]);
    expect(config.service.clientSecret).toBe(CLIENT_SECRET);
    expect(config.receivers[0]?.webhook[0]?.url).toBe(`${hook.url}/right`);
  });

  test("goes on without a failed check where that is chosen", async () => {
    hook.respond({ status: 500 });
    const file = await newFile();
    const { streams, answer } = terminal();
    const done = run(["--config", file], { ...streams, env: variables() });
    await answer("What next?", `${DOWN.repeat(2)}\r`);
    expect(await done).toMatchObject({ exitCode: 0 });
    expect((await loadWithWarnings(file, {})).warnings).toEqual([]);
  });

  test("writes nothing after Ctrl-C at a question, or a signal during a check", async () => {
    const atQuestion = terminal();
    const file = await newFile();
    const cancelled = run(["--config", file], atQuestion.streams);
    await atQuestion.answer("The URL of the Core API", "\u0003");
    expect(await cancelled).toMatchObject({ stderr: "lenswatch: cancelled; nothing was written\n", exitCode: 1 });

    const controller = new AbortController();
    const hanging = createServer(() => controller.abort());
    onTestFinished(() => void hanging.close());
    await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve));
    const LENSWATCH_AUTH_URL = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`;
    const env = { ...variables(), LENSWATCH_AUTH_URL };
    const { stderr, exitCode } = await run(["--yes", "--config", file], { env, signal: controller.signal });
    expect({ stderr, exitCode }).toEqual({ stderr: "lenswatch: cancelled; nothing was written\n", exitCode: 1 });
    expect(await written(file)).toEqual([]);
  });

  test.each([
    ["needs a terminal: use --yes", false, []],
    ["use --yes with it", true, ["--client-secret-file", "-"]],
  ])("says %j where it cannot ask", async (message, isTerminal, more) => {
    const result = await run(["--config", await newFile(), ...more], isTerminal ? terminal().streams : {});
    expect(result).toEqual({ stdout: "", stderr: expect.stringContaining(message), exitCode: 2 });
  });
});
