import { rootCertificates } from "node:tls";
import { describe, expect, test } from "vitest";
import { configOf, problemsOf, service } from "./text.ts";

const PEM = `${rootCertificates[0]}\n`;
const canary = "c4nary";

/** A receiver with one entry of a kind, in flow style. */
const entry = (kind: string, rest: string) => `${service}receivers: [{ name: ops, ${kind}: [${rest}] }]\n`;
const webhook = (rest: string) => entry("webhook_configs", rest);
const alertmanager = (rest: string) => entry("alertmanager_configs", rest);
const place = "lenswatch.yaml:8:";
const problems = (text: string) => problemsOf(text).map((one) => one.slice(place.length).replace(/^\d+: /, ""));

describe("a webhook", () => {
  test("needs its address alone", () => {
    expect(configOf(webhook("{ url: 'https://a.example/x?y=z' }")).receivers[0]?.webhook).toEqual([
      {
        url: "https://a.example/x?y=z",
        secret: undefined,
        maxAlerts: 0,
        http: { authorization: undefined, basicAuth: undefined, tls: undefined },
        sendResolved: true,
      },
    ]);
  });

  test("takes its secrets from files, and Alertmanager's words for the rest", () => {
    const files: Record<string, string> = { url: "https://a.example/\n", secret: "s3cret\n", token: "t0ken", ca: PEM };
    const tls = "tls_config: { ca_file: ca, server_name: b.example }";
    const http = `http_config: { authorization: { type: Token, credentials_file: token }, ${tls} }`;
    const text = webhook(`{ url_file: url, secret_file: secret, max_alerts: 20, send_resolved: false, ${http} }`);
    expect(configOf(text, {}, (path) => files[path] ?? "").receivers[0]?.webhook).toEqual([
      {
        url: "https://a.example/",
        secret: "s3cret",
        maxAlerts: 20,
        http: {
          authorization: { type: "Token", credentials: "t0ken" },
          basicAuth: undefined,
          tls: { ca: PEM.trimEnd(), cert: undefined, key: undefined, servername: "b.example" },
        },
        sendResolved: false,
      },
    ]);
  });

  test("is refused with its position, without a secret", async () => {
    const texts = [
      "{}",
      `{ url: "https://me:${canary}@a.example" }`,
      "{ url: 'https://a.example', max_alerts: -1 }",
      `{ url: 'https://a.example', http_config: { authorization: { credentials: ${canary} }, basic_auth: { username: a, password: ${canary} } } }`,
      `{ url: 'https://a.example', http_config: { authorization: { credentials: "${canary} ${canary}" } } }`,
      "{ url: 'https://a.example', http_config: { proxy_url: x } }",
    ];
    const told = texts.map((rest) => problems(webhook(rest)).join("\n"));
    expect(told.join()).not.toContain(canary);
    await expect(`${told.join("\n")}\n`).toMatchFileSnapshot("webhook-problems.txt");
  });

  test("a certificate without its key is refused at the key that is missing", () => {
    const text = webhook("{ url: 'https://a.example', http_config: { tls_config: { cert_file: c } } }");
    const [problem] = problemsOf(text, {}, () => PEM);
    expect(problem).toContain("tls_config.key: found nothing, expected a key beside the cert");
  });
});

describe("an Alertmanager", () => {
  test("needs its address alone", () => {
    expect(configOf(alertmanager("{ url: 'http://am:9093/prefix/' }")).receivers[0]?.alertmanager).toEqual([
      {
        url: "http://am:9093/prefix",
        resendMs: 60_000,
        http: { authorization: undefined, basicAuth: undefined, tls: undefined },
      },
    ]);
  });

  test("is refused with its position", async () => {
    const texts = [
      "{ url: 'http://am:9093?x=y' }",
      "{ url: 'http://am:9093', resend_interval: 1h }",
      "{ url: 'http://am:9093', send_resolved: false }",
    ];
    const told = texts.map((rest) => problems(alertmanager(rest)).join("\n"));
    await expect(`${told.join("\n")}\n`).toMatchFileSnapshot("alertmanager-problems.txt");
  });
});

describe("the Slack app", () => {
  const bot = "bot_token: xoxb-0123456789, channel: '#ops'";
  const appOf = (entry: string, more = "") => {
    const text = `${service}receivers: [{ name: ops, slack_configs: [{ ${entry} }] }]\n${more}`;
    return configOf(text).receivers[0]?.slack[0]?.app;
  };
  const refusalOf = (entry: string) =>
    problemsOf(`${service}receivers: [{ name: ops, slack_configs: [{ ${entry} }] }]\n`).map((one) =>
      one.replace(/^.*slack_configs\[0\]\.?/, ""),
    );

  test("has the workspace's API, no buttons without an app token, and its channel's members otherwise", () => {
    expect(appOf(bot)).toEqual({
      apiBase: "https://slack.com/api",
      botToken: "xoxb-0123456789",
      appToken: undefined,
      channel: "#ops",
      mention: [],
      actions: undefined,
    });
    expect(appOf(`${bot}, app_token: xapp-0123456789`)?.actions).toEqual({ allow: "channel" });
    const allowed = appOf(`${bot}, app_token: xapp-0123456789, actions: { allow: [U01, W02] }`);
    expect(allowed?.actions).toEqual({ allow: ["U01", "W02"] });
    expect(appOf(bot, "slack_api_url: https://slack.example.com/api/")?.apiBase).toBe("https://slack.example.com/api");
  });

  test("refuses what has no effect, or is none", async () => {
    const texts = [
      ["neither way", "send_resolved: false"],
      ["both ways", `api_url: https://hooks.example.com/x, ${bot}`],
      ["no channel", "bot_token: xoxb-0123456789"],
      ["a webhook's channel", "api_url: https://hooks.example.com/x, channel: '#ops'"],
      ["buttons without a socket", `${bot}, actions: { allow: channel }`],
      ["the tokens exchanged", "bot_token: xapp-0123456789, channel: C01"],
      ["a channel that is none", "bot_token: xoxb-0123456789, channel: ops"],
      ["a mention that is none", `${bot}, mention: [{ severity: critical, who: '@ana' }]`],
      ["channel among people", `${bot}, app_token: xapp-0123456789, actions: { allow: [channel, U01] }`],
    ] as const;
    const told = texts.map(([name, entry]) => `${name}\n  ${refusalOf(entry).join("\n  ")}\n`);
    await expect(told.join("")).toMatchFileSnapshot("slack-problems.txt");
  });
});

describe("an escalation", () => {
  const receivers = "receivers: [ { name: ops }, { name: phone }, { name: boss } ]";
  const routeOf = (text: string) => configOf(`${service}\n${receivers}\nroute:\n${text}`).route;
  const steps = "[ { after: 15m, receiver: phone }, { after: 45m, receiver: boss } ]";

  test("is inherited but for the steps to the route's own receiver, and ends with an empty list", () => {
    const { escalate, routes } = routeOf(`
  receiver: ops
  escalate: ${steps}
  routes:
    - { matchers: [ a = b ] }
    - { matchers: [ a = c ], receiver: phone, routes: [ { matchers: [ b = c ], receiver: ops } ] }
    - { matchers: [ a = d ], escalate: [] }`);
    const both = [
      { afterMs: 900_000, receiver: "phone" },
      { afterMs: 2_700_000, receiver: "boss" },
    ];
    expect(escalate).toEqual(both);
    expect(routes.map((route) => route.escalate)).toEqual([both, both.slice(1), undefined]);
    expect(routes[1]?.routes[0]?.escalate).toEqual(both);
  });

  test("has each step later than the one before", () => {
    const same = "  receiver: ops\n  escalate: [ { after: 15m, receiver: phone }, { after: 15m, receiver: boss } ]";
    expect(() => routeOf(same)).toThrow(/steps with a later `after` each/);
  });
});
