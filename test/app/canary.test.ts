/**
 * A canary in the place of every secret, and a daemon that meets success and every failure: no canary sings anywhere
 * but where it is used. That is, of all that leaves lenswatch:
 *
 *   client_secret          body of POST {auth_url}/oauth/token
 *   the token              `Authorization` to the Core API, `token` of the metrics socket's query
 *   a webhook's address    path of the POST to it, Slack's and others'
 *   a webhook's secret     nowhere: it signs
 *   http_config            `Authorization` of the POST to its webhook or Alertmanager
 *   heartbeat.url          path of the GET to it
 *   smtp.password          SMTP's AUTH
 *   the password of Redis  Redis' AUTH
 *   a proxy's login        `Proxy-Authorization` to the proxy
 *   admin and read token   `Authorization` from a command to the daemon, the form that signs in
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFailed, onTestFinished } from "vitest";
import { lenswatch } from "../commands/run-command.ts";
import { pictured, prepareWatch } from "../support/app.ts";
import { type Daemon, startDaemon } from "../support/daemon.ts";
import { startHttpSink } from "../support/http-sink.ts";
import { startProxy } from "../support/proxy.ts";
import { describeWithRedis } from "../support/redis.ts";
import { dumpRedis } from "../support/redis-dump.ts";
import { startSmtpSink } from "../support/smtp-sink.ts";
import { until } from "../support/until.ts";

const CANARIES = {
  clientSecret: "canary/client+secret",
  smtpPassword: "canary-smtp?pass=word",
  proxyPassword: "canary-proxy-passw0rd",
  adminToken: "canary-admin-token",
  readToken: "canary-read-token",
  alertsToken: "canary-alerts-token",
  wrongToken: "canary-wrong-token",
  heartbeatPath: "canary-heartbeat-path",
  slackPath: "canaryslackwebhookpath",
  webhookPath: "canary-webhook-path",
  webhookSecret: "canary-webhook-secret",
  webhookCredentials: "canary-webhook-credentials",
  alertmanagerPassword: "canary-alertmanager-password",
  wrongRedisPassword: "canary-wrong-redis-password",
};

/** A secret as it is, and as it may look in a URL, in JSON, in Base64. */
function formsOf(secret: string): string[] {
  const base64 = (whole: string) => Buffer.from(whole).toString("base64").replace(/=+$/, "");
  const logins = [secret, `canary:${secret}`, `:${secret}`, `\0canary\0${secret}`].map(base64);
  return [...new Set([secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1), ...logins])];
}

/** One output: its place and its text. */
type Shown = Map<string, string>;

function leaks(shown: Shown, secrets: Readonly<Record<string, string>>): string[] {
  return [...shown].flatMap(([where, said]) =>
    Object.entries(secrets).flatMap(([name, secret]) => {
      const form = formsOf(secret).find((one) => said.includes(one));
      if (form === undefined) return [];
      const at = said.indexOf(form);
      return [`${name} in ${where}: …${said.slice(Math.max(0, at - 120), at + form.length + 20)}…`];
    }),
  );
}

async function startStage() {
  const stage = await prepareWatch({
    simulator: { clientSecret: CANARIES.clientSecret, traits: { token_lifetime: "8s" } },
    http: `http: { listen: "127.0.0.1:0", external_url: "https://lenswatch.example.com" }`,
  });
  onTestFinished(() => stage[Symbol.asyncDispose]());
  const login = { username: "canary", password: CANARIES.smtpPassword };
  const mail = await startSmtpSink({ login });
  onTestFinished(() => mail.close());
  const [proxy, heartbeat] = await Promise.all([startProxy(), startHttpSink()]);
  const [webhook, alertmanager] = await Promise.all([startHttpSink(), startHttpSink()]);
  heartbeat.respond(({ path }) => ({ status: 200, body: path }));
  onTestFinished(() =>
    Promise.all([webhook, alertmanager, heartbeat].map((sink) => sink.close())).then(() => undefined),
  );
  const dir = await mkdtemp(join(tmpdir(), "lenswatch-canary-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const slackUrl = stage.slack.url.replace(/[^/]+$/, CANARIES.slackPath);
  const redisPassword = new URL(stage.redis.url).password;
  const text = stage.config
    .replace(/client_secret: .*/, `client_secret: "${CANARIES.clientSecret}"`)
    .replaceAll(stage.slack.url, slackUrl)
    .replace(
      "email_configs: [ { to: [ ops@example.com ] } ]",
      `$&
    webhook_configs: [ { url: "${webhook.url}/${CANARIES.webhookPath}", secret: "${CANARIES.webhookSecret}", http_config: { authorization: { credentials: "${CANARIES.webhookCredentials}" } } } ]
    alertmanager_configs: [ { url: "${alertmanager.url}", http_config: { basic_auth: { username: canary, password: "${CANARIES.alertmanagerPassword}" } } } ]`,
    )
    .replace(
      /smtp: .*/,
      `smtp: { host: ${mail.host}, port: ${mail.port}, from: lenswatch@example.com, require_tls: false, username: canary, password: "${CANARIES.smtpPassword}" }`,
    )
    .replace(
      "external_url:",
      `admin_token: "${CANARIES.adminToken}", read_token: "${CANARIES.readToken}", tokens: [ { name: prometheus, token: "${CANARIES.alertsToken}", scopes: [ alerts ] } ], external_url:`,
    )
    .replace("log: { level: debug }", "log: { level: trace }")
    .concat(`
heartbeat: { url: "${heartbeat.url}/${CANARIES.heartbeatPath}", interval: 1s }
digests: [ { name: daily, cron: "0 8 * * *", timezone: Europe/London, period: 1d, to: [ ops@example.com ] } ]
`);
  return { ...stage, mail, proxy, heartbeat, webhook, alertmanager, dir, text, slackUrl, redisPassword };
}
type CanaryStage = Awaited<ReturnType<typeof startStage>>;

/** The same configuration with every secret in a file. */
async function withFiles({ dir, text, slackUrl, redisPassword, webhook, heartbeat }: CanaryStage): Promise<string> {
  expect(text).toContain(redisPassword);
  const secrets = [
    ["client_secret", CANARIES.clientSecret],
    ["api_url", slackUrl],
    ["url", `${webhook.url}/${CANARIES.webhookPath}`],
    ["secret", CANARIES.webhookSecret],
    ["credentials", CANARIES.webhookCredentials],
    ["password", CANARIES.alertmanagerPassword],
    ["password", CANARIES.smtpPassword],
    ["admin_token", CANARIES.adminToken],
    ["read_token", CANARIES.readToken],
    ["token", CANARIES.alertsToken],
    ["url", `${heartbeat.url}/${CANARIES.heartbeatPath}`],
  ] as const;
  let config = text;
  for (const [nth, [key, secret]] of secrets.entries()) {
    const file = join(dir, `secret-${nth}`);
    await writeFile(file, `${secret}\n`);
    config = config.replace(`${key}: "${secret}"`, `${key}_file: "${file}"`);
  }
  expect(config.match(/_file: /g)).toHaveLength(secrets.length);
  expect(leaks(new Map([["the file", config]]), CANARIES)).toEqual([]);
  return config;
}

/** Runs a command in this process; gives its output. */
async function command(argv: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { stdout, stderr, exitCode } = await lenswatch(argv, { LENSWATCH_LOG_LEVEL: "trace", ...env });
  return `${stdout}
${stderr}
exit code ${exitCode}`;
}

const times = ({ log }: Daemon, msg: string) => log.filter((line) => line.msg.startsWith(msg)).length;

/** Runs `cause` and waits for a new log line that begins like this. */
async function logs(daemon: Daemon, msg: string, cause: () => unknown): Promise<void> {
  const before = times(daemon, msg);
  await cause();
  await until(`logged: ${msg}`, () => times(daemon, msg) > before);
}

const PATHS = [
  "/",
  "/?show=locations",
  "/metrics",
  "/healthz",
  "/readyz",
  "/api/v1/recordings",
  "/api/v1/locations",
  "/api/v1/incidents",
  "/api/v2/status",
  "/api/v2/receivers",
  "/api/v2/alerts",
  "/api/v2/alerts/groups",
  "/api/v2/silences",
];

/** Repeats a request once, since a kept-alive connection may be closed just as it is used. */
const ask = (url: string, init: RequestInit = {}) => fetch(url, init).catch(() => fetch(url, init));

async function visit(address: string, shown: Shown, when: string): Promise<void> {
  const tokens = [CANARIES.readToken, CANARIES.adminToken, CANARIES.alertsToken, CANARIES.wrongToken];
  const visits = tokens.flatMap((token) => PATHS.map((path) => ({ path, token })));
  await Promise.all(
    visits.map(async ({ path, token }) => {
      const response = await ask(address + path, { headers: { authorization: `Bearer ${token}` } });
      const head = JSON.stringify([...response.headers]);
      shown.set(`${path} with ${token} ${when}`, head + (await response.text()));
    }),
  );
  for (const token of [CANARIES.readToken, CANARIES.alertsToken, CANARIES.wrongToken]) {
    const signed = await ask(`${address}/session`, {
      method: "POST",
      redirect: "manual",
      headers: { origin: address, host: new URL(address).host },
      body: new URLSearchParams({ name: "canary", token, to: "" }),
    });
    const head = JSON.stringify([...signed.headers]);
    shown.set(`signing in with ${token} ${when}`, `${signed.status} ${head}${await signed.text()}`);
  }
  const posted = await ask(`${address}/api/v2/silences`, {
    method: "POST",
    headers: { authorization: `Bearer ${CANARIES.wrongToken}`, "content-type": "application/json" },
    body: JSON.stringify({ comment: "x" }),
  });
  shown.set(`a silence refused ${when}`, await posted.text());
}

async function commands(address: string, file: string, shown: Shown, when: string): Promise<void> {
  const url = ["--url", address];
  const tokens = { LENSWATCH_ADMIN_TOKEN: CANARIES.adminToken, LENSWATCH_READ_TOKEN: CANARIES.readToken };
  const lines: [string[], Record<string, string>][] = [
    [["status", ...url], tokens],
    [["status", ...url], { LENSWATCH_READ_TOKEN: CANARIES.wrongToken }],
    [["status", "--url", address.replace("://", `://canary:${CANARIES.proxyPassword}@`)], tokens],
    [["status", "--alerts", ...url, "--output", "json"], tokens],
    [["why", "nobody", ...url], tokens],
    [["silence", "add", "alertname=X", "--duration", "1m", "--comment", "c", "--author", "a", ...url], tokens],
    [
      ["silence", "add", "alertname=X", "--duration", "1m", "--comment", "c", "--author", "a", ...url],
      { LENSWATCH_ADMIN_TOKEN: CANARIES.wrongToken },
    ],
    [["silence", "list", ...url], tokens],
    [["ack", "0123456789abcdef", "--author", "a", ...url], tokens],
    [["check-config", "--config", file], {}],
    [["check-config", "--config", file, "--output", "json"], {}],
    [["digest", "preview", "daily", "--config", file, "--out", `${file}.html`], {}],
    [["digest", "send", "daily", "--config", file], {}],
    [["notify-test", "ops", "--config", file], {}],
  ];
  for (const [argv, env] of lines) {
    const name = argv.slice(0, 2).join(" ");
    shown.set(`${name} ${when} (${shown.size})`, await command(argv, env));
  }
}

/** Makes everything fail at once, each failure echoing its request. */
async function failures(stage: CanaryStage, daemon: Daemon, address: string, shown: Shown): Promise<void> {
  const { simulator, slack, mail, heartbeat, proxy, webhook, alertmanager } = stage;
  for (const sink of [webhook, alertmanager]) {
    sink.respond(({ path, headers }, position) => {
      const status = [500, 401, 404, 400][position % 4] ?? 500;
      return { status, body: `${path} ${JSON.stringify(headers)}`, headers: { location: path } };
    });
  }
  const [token = ""] = [...proxy.tokens].slice(-1);
  const echo = `${CANARIES.clientSecret} ${token} ?token=${token} Bearer ${token}`;
  const [, , camera, , other] = simulator.world.recordings;

  await logs(daemon, "heartbeat not accepted", () => heartbeat.respond(({ path }) => ({ status: 500, body: path })));

  slack.respond(({ path }, position) => {
    const status = [404, 500, 403, 400, 429][position % 5] ?? 500;
    return { status, body: `${path} ${echo}`, headers: { "retry-after": "1", location: path } };
  });
  const password = `no: ${CANARIES.smtpPassword} ${Buffer.from(CANARIES.smtpPassword).toString("base64")}`;
  mail.respond({ auth: { code: 535, message: password }, mailFrom: { code: 454, message: password } });
  const before = slack.messages.length;
  simulator.world.setStatus(camera?.id ?? "", "offline");
  await until("Slack refused", () => slack.messages.length > before);
  await visit(address, shown, "while every receiver fails");
  await commands(address, daemon.file, shown, "while every receiver fails");
  for (let nth = 0; nth < 3; nth++)
    shown.set(`notify-test refused, ${nth}`, await command(["notify-test", "ops", "--config", daemon.file]));
  slack.respond("hang");
  simulator.world.setStatus(other?.id ?? "", "offline");

  await logs(daemon, "sweep failed, keeping the last known state", () =>
    simulator.faults.set("error_payload", { message: echo, endpoint: "status/uptime" }),
  );
  simulator.faults.clear("error_payload");
  simulator.faults.set("http_error", { status: 500, endpoint: ["token", "uptimes", "location_list"] });
  simulator.faults.set("unauthorized", { endpoint: "upgrade" });
  await logs(daemon, "token renewal failed, retrying", () => simulator.faults.set("drop_sockets", {}));
  simulator.faults.set("token_refused", {});
  simulator.faults.clear("http_error");
  await until("the service is unreachable", async () => {
    const headers = { authorization: `Bearer ${CANARIES.readToken}` };
    return (await (await ask(`${address}/api/v2/alerts`, { headers })).text()).includes("ServiceUnreachable");
  });
  await visit(address, shown, "while the service is unreachable");
  simulator.faults.clearAll();
}

describeWithRedis("canary values in place of all secrets", () => {
  it("a secret appears only where it is used, through success and every failure", async () => {
    const stage = await startStage();
    const { simulator, slack, mail, proxy, heartbeat, webhook, alertmanager, redis, redisPassword } = stage;
    const shown: Shown = new Map();
    const env = { HTTP_PROXY: `http://canary:${CANARIES.proxyPassword}@${proxy.host}`, NO_PROXY: "", no_proxy: "" };
    const daemon = await startDaemon(await withFiles(stage), { env });
    onTestFinished(() => void daemon.end("SIGKILL"));
    onTestFailed(() => void process.stderr.write(daemon.text.slice(-6000)));
    const listening = await daemon.logged("listening");
    const { address, externalUrl } = listening as unknown as { address: string; externalUrl: string };
    expect(externalUrl, "what a container listens on says not where it is").toBe("https://lenswatch.example.com");
    await daemon.logged("started");
    await pictured(stage);

    const [camera] = simulator.world.recordings;
    simulator.world.setStatus(camera?.id ?? "", "offline");
    await Promise.all([slack, mail, webhook, alertmanager].map((sink) => sink.next()));
    await until("the heartbeat was called", () => heartbeat.messages.length > 0);
    await visit(address, shown, "when all is well");
    await commands(address, daemon.file, shown, "when all is well");
    shown.set("Redis when all is well", await dumpRedis(redis.url));

    await failures(stage, daemon, address, shown);
    shown.set("Redis when all has failed", await dumpRedis(redis.url));

    // From files to inline secrets, then invalid configurations, each by SIGHUP.
    await writeFile(daemon.file, stage.text);
    await logs(daemon, "configuration reloaded, nothing changed", () => daemon.signal("SIGHUP"));
    const wrongRedis = stage.text.replaceAll(redisPassword, CANARIES.wrongRedisPassword);
    const broken = {
      "another password of Redis": wrongRedis,
      "a webhook that is no URL": stage.text.replace(/api_url: "http:/, 'api_url: "no:'),
      "a token under a misspelt key": stage.text.replace("admin_token:", "admin_tokn:"),
      "a quote left open": stage.text.replace(`${CANARIES.smtpPassword}"`, CANARIES.smtpPassword),
      "a heartbeat that is no URL": stage.text.replace(`heartbeat: { url: "http`, 'heartbeat: { url: "x'),
    };
    for (const [name, config] of Object.entries(broken)) {
      expect(config, name).not.toBe(stage.text);
      await writeFile(daemon.file, config);
      const taken = config === wrongRedis;
      const msg = taken
        ? "these keys changed: they take effect at the next start"
        : "configuration refused, keeping the active one";
      await logs(daemon, msg, () => daemon.signal("SIGHUP"));
      shown.set(`check-config with ${name}`, await command(["check-config", "--config", daemon.file]));
      if (taken)
        shown.set("digest without Redis", await command(["digest", "preview", "daily", "--config", daemon.file]));
    }

    await redis.kill();
    await until("not ready", async () => (await ask(`${address}/readyz`)).status === 503);
    await visit(address, shown, "without Redis");
    await redis.restart();
    await simulator.close();
    slack.respond({ status: 200, body: "ok" });
    mail.respond({});
    await until("ready", async () => (await ask(`${address}/readyz`)).status === 200);
    shown.set("Redis at the end", await dumpRedis(redis.url));
    expect(await daemon.end("SIGTERM")).toBe(0);

    shown.set("the daemon's log", daemon.text);
    for (const [i, { body }] of [...slack.starts.messages, ...slack.messages].entries())
      shown.set(`Slack message ${i}`, JSON.stringify(body));
    for (const [i, { raw, html, text: words }] of [...mail.starts.messages, ...mail.messages].entries())
      shown.set(`mail ${i}`, `${raw}\n${html}\n${words}`);
    for (const sink of [webhook, alertmanager])
      for (const [i, { text: body }] of sink.messages.entries()) shown.set(`post ${i}, ${shown.size}`, body);
    const secrets = {
      ...CANARIES,
      redisPassword,
      ...Object.fromEntries([...proxy.tokens].map((token, i) => [`token ${i}`, token])),
    };
    expect(leaks(shown, secrets)).toEqual([]);

    // Every secret was used.
    expect([...proxy.logins]).toEqual([`canary:${CANARIES.proxyPassword}`]);
    expect(proxy.tokens.size).toBeGreaterThan(1);
    expect(new Set(heartbeat.messages.map(({ path }) => path))).toEqual(new Set([`/${CANARIES.heartbeatPath}`]));
    expect(slack.messages[0]?.path).toContain(CANARIES.slackPath);
    expect(mail.messages.length).toBeGreaterThan(1);
    const [post] = webhook.messages;
    expect(post?.path).toBe(`/${CANARIES.webhookPath}`);
    expect(post?.headers).toMatchObject({
      authorization: `Bearer ${CANARIES.webhookCredentials}`,
      "x-lenswatch-signature": expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
    });
    const login = Buffer.from(`canary:${CANARIES.alertmanagerPassword}`).toString("base64");
    expect(alertmanager.messages[0]?.headers.authorization).toBe(`Basic ${login}`);
    expect(daemon.text.length).toBeGreaterThan(5_000);
    expect(shown.size).toBeGreaterThan(150);
  });

  it("a leaked canary would be found", () => {
    const said = (text: string) => leaks(new Map([["somewhere", text]]), { secret: "canary/secret" });
    for (const form of formsOf("canary/secret")) expect(said(`before ${form} after`)).toHaveLength(1);
    expect(said("canary")).toEqual([]);
  });
});
