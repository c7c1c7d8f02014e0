import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Matcher } from "../../src/alerting/matcher.ts";
import { formatMatcher } from "../../src/alerting/matcher.ts";
import { configFile, loadConfig, loadWithWarnings } from "../../src/config/load.ts";
import { ConfigError } from "../../src/config/problem.ts";
import { configOf, problemsOf, receivers, service } from "./text.ts";

const smallest = service + receivers;

describe("LENSWATCH_LISTEN", () => {
  const env = { LENSWATCH_LISTEN: "0.0.0.0:8080" };

  test("says where to listen as long as the file does not", () => {
    expect(configOf(`${smallest}http: { read_token: a-token-of-a-reader }\n`, env).http).toMatchObject({
      host: "0.0.0.0",
      port: 8080,
      tokens: [{ name: "read_token", token: "a-token-of-a-reader", scopes: ["read"] }],
    });
    expect(configOf(`${smallest}http: { listen: 127.0.0.1:1 }\n`, env).http).toMatchObject({ port: 1 });
  });

  test("is refused by its key where it is no address", () => {
    expect(problemsOf(smallest, { LENSWATCH_LISTEN: "everywhere" })).toEqual([
      expect.stringMatching(/http\.listen.*host:port/),
    ]);
  });
});

test("the smallest configuration has the defaults the documentation promises", async () => {
  const readable = (_: string, value: unknown) =>
    typeof value === "object" && value !== null && "operator" in value ? formatMatcher(value as Matcher) : value;
  await expect(`${JSON.stringify(configOf(smallest), readable, 2)}\n`).toMatchFileSnapshot("smallest.txt");
});

describe("rules", () => {
  test("of one name are numbered from the second on", () => {
    const text = `${smallest}rules:
  - { alert: A, when: { status: offline } }
  - { alert: B, when: { status: offline } }
  - { alert: A, when: { status: degraded } }
  - { alert: A, when: { missing: true } }
`;
    expect(configOf(text).rules.map(({ id }) => id)).toEqual(["A", "B", "A#2", "A#3"]);
  });

  test("clear where they fire without a clearing threshold, and may say so", () => {
    const whens = (more: string) =>
      configOf(`${smallest}rules:
  - { alert: A, when: { average_quality: { below: 70%${more && ", clear_above: 0.7"} } } }
  - { alert: B, when: { location_offline: { at_least: 50%${more && ", clear_below: 50%"} } } }
`).rules.map(({ when }) => when);
    for (const more of ["", "said"])
      expect(whens(more)).toEqual([
        { kind: "average_quality", below: 0.7, clearAbove: 0.7 },
        { kind: "location_offline", atLeast: 0.5, clearBelow: 0.5, minRecordings: 2 },
      ]);
  });

  test("on locations are the same rules as those on groups by location_id", () => {
    const rules = (when: string) => configOf(`${smallest}rules: [ { alert: A, when: { ${when} } } ]\n`).rules;
    for (const share of ["at_least: 50%", "at_least: 100%, clear_below: 80%, min_recordings: 4"])
      expect(rules(`group_offline: { by: location_id, ${share} }`)).toEqual(rules(`location_offline: { ${share} }`));
  });

  test("that are only a key with nothing below are the default ones, and an empty list is none", () => {
    expect(configOf(`${smallest}rules: []\n`).rules).toEqual([]);
    expect(configOf(`${smallest}inhibit_rules: []\n`).inhibitRules).toEqual([]);
    expect(configOf(`${smallest}rules:\n  # none of our own yet\n`).rules).toHaveLength(13);
  });
});

describe("routes", () => {
  const tree = `${smallest}route:
  receiver: ops
  group_wait: 5s
  routes:
    - matchers: [severity="warning", 'alertname=~"Low.*"']
      group_by: ["..."]
      continue: true
      routes:
        - matchers: location_id!=""
          repeat_interval: 1d
          group_by: []
    - group_wait: 0
`;

  test("inherit what they leave out", () => {
    const [first, second] = configOf(tree).route.routes;
    expect(first).toMatchObject({ receiver: "ops", groupBy: "...", groupWaitMs: 5_000, continue: true });
    expect(first?.routes[0]).toMatchObject({
      receiver: "ops",
      groupBy: [],
      groupWaitMs: 5_000,
      groupIntervalMs: 300_000,
      repeatIntervalMs: 86_400_000,
      continue: false,
    });
    expect(second).toMatchObject({ matchers: [], groupBy: ["location_id"], groupWaitMs: 0 });
  });

  test("inherit what makes a storm, and say otherwise where they mean to", () => {
    const text = `${smallest}route:
  receiver: ops
  storm: { groups: 40 }
  routes:
    - matchers: [severity="warning"]
      routes: [{ matchers: [location_id!=""], storm: { groups: 5 } }]
    - matchers: [severity="critical"]
      storm: {}
`;
    const { route } = configOf(text);
    const [first, second] = route.routes;
    const all = [route, first, first?.routes[0], second];
    expect(all.map((one) => one?.stormGroups)).toEqual([40, 40, 5, 40]);
  });

  test("have Alertmanager's keys, whatever order their matchers are written in", () => {
    const [first, second] = configOf(tree).route.routes;
    expect(first?.key).toBe('{}/{alertname=~"Low.*",severity="warning"}/0');
    expect(first?.routes[0]?.key).toBe('{}/{alertname=~"Low.*",severity="warning"}/0/{location_id!=""}/0');
    expect(second?.key).toBe("{}/{}/1");
    const turned = tree.replace(
      `[severity="warning", 'alertname=~"Low.*"']`,
      `['alertname=~"Low.*"', severity="warning"]`,
    );
    expect(configOf(turned).route.routes[0]?.key).toBe(first?.key);
  });
});

test("every text stays what it was written as, whatever YAML would make of it", () => {
  const config = configOf(smallest.replace("an-id", "0123").replace("a-secret", "12345678901234567890"));
  expect(config.service.clientId).toBe("0123");
  expect(config.service.clientSecret).toBe("12345678901234567890");
  expect(configOf(smallest.replaceAll("ops", "on")).receivers[0]?.name).toBe("on");
});

test("a byte order mark and Windows line ends change nothing", () => {
  const written = (text: string) => JSON.stringify(configOf(text));
  expect(written(`\uFEFF${smallest.replaceAll("\n", "\r\n")}`)).toEqual(written(smallest));
});

describe("time_intervals", () => {
  const text = `${smallest}time_intervals:
  - name: night
    time_intervals:
      - times: [{ start_time: "20:00", end_time: "24:00" }]
        weekdays: [saturday, "monday:Friday"]
        days_of_month: ["1:5", "-3:-1", "20:-1"]
        months: "november:12"
        years: ["2026:2027"]
        location: Europe/London
      - times: [{ start_time: "00:00", end_time: "06:00" }]
  - { name: always, time_intervals: [{}] }
route:
  receiver: ops
  routes:
    - matchers: severity=warning
      mute_time_intervals: [night]
      routes: [{ matchers: a=b, active_time_intervals: always }]
`;
  const night = {
    name: "night",
    intervals: [
      {
        times: [{ from: 1200, to: 1440 }],
        weekdays: [
          { from: 6, to: 6 },
          { from: 1, to: 5 },
        ],
        daysOfMonth: [
          { from: 1, to: 5 },
          { from: -3, to: -1 },
          { from: 20, to: -1 },
        ],
        months: [{ from: 11, to: 12 }],
        years: [{ from: 2026, to: 2027 }],
        location: "Europe/London",
      },
      { times: [{ from: 0, to: 360 }], location: "UTC" },
    ],
  };

  test("are read as Alertmanager writes them, and stand at the routes that name them", () => {
    const [route] = configOf(text).route.routes;
    expect(route?.muteTimes).toEqual([night]);
    expect(route?.activeTimes).toBeUndefined();
  });

  test("hold for their own route alone, not for those below", () => {
    const below = configOf(text).route.routes[0]?.routes[0];
    expect(below?.muteTimes).toBeUndefined();
    expect(below?.activeTimes).toEqual([{ name: "always", intervals: [{ location: "UTC" }] }]);
  });
});

test("anchors and aliases work", () => {
  const text = `${smallest}rules:
  - { alert: A, when: &down { status: offline }, labels: &severe { severity: critical } }
  - { alert: B, when: *down, labels: *severe }
`;
  expect(configOf(text).rules[1]).toMatchObject({
    when: { kind: "status", status: "offline" },
    labels: { severity: "critical" },
  });
});

describe("the environment", () => {
  test("is read in every text, with defaults", () => {
    const text = `${smallest.replace("an-id", `id-\${NAME}-\${OTHER:-x}`)}smtp:
  host: \${HOST:-mail.example.com}
  port: \${PORT}
  from: \${EMPTY:-a@example.com}
  require_tls: \${TLS}
`;
    const config = configOf(text, { NAME: "7", PORT: "25", TLS: "false", EMPTY: "" });
    expect(config.service.clientId).toBe("id-7-x");
    expect(config.smtp).toMatchObject({ host: "mail.example.com", port: 25, from: "a@example.com", requireTls: false });
  });

  test(`is not looked into again, and $\${ is a literal \${`, () => {
    const text = smallest.replace("an-id", () => `$\${NAME}`).replace("a-secret", `\${NAME}`);
    const { service: loaded } = configOf(text, { NAME: `\${PATH}` });
    expect(loaded.clientId).toBe(`\${NAME}`);
    expect(loaded.clientSecret).toBe(`\${PATH}`);
  });

  test("gives no more than it has of its own", () => {
    expect(() => configOf(smallest.replace("an-id", `\${constructor}`))).toThrow(`\${constructor}, not set`);
  });
});

describe("secrets from files", () => {
  test("lose one newline at their end, and nothing else", () => {
    const text = smallest.replace("client_secret: a-secret", "client_secret_file: /run/secret");
    const read = (path: string) => ({ "/run/secret": " p w \r\n" })[path] ?? "";
    expect(configOf(text, {}, read).service.clientSecret).toBe(" p w ");
  });

  test("are taken for every secret there is", () => {
    const text = `${service}redis: { url_file: r }
receivers: [{ name: ops, slack_configs: [{ api_url_file: s }] }]
smtp: { host: h, from: a@example.com, username: u, password_file: p }
http: { admin_token_file: a, read_token_file: b }
`;
    const files: Record<string, string> = {
      r: "redis://:pw@h/1",
      s: "https://hooks.example.com/x",
      p: "pw",
      a: "the-token-of-admins",
      b: "the-token-of-readers",
    };
    const config = configOf(text, {}, (path) => `${files[path]}\n`);
    expect(config.redis.url).toBe("redis://:pw@h/1");
    expect(config.receivers[0]?.slack[0]?.apiUrl).toBe("https://hooks.example.com/x");
    expect(config.smtp?.password).toBe("pw");
    expect(config.http).toMatchObject({
      tokens: [{ token: "the-token-of-admins" }, { token: "the-token-of-readers" }],
    });
  });
});

test.each([
  ["127.0.0.1:80", "127.0.0.1", 80],
  ["0.0.0.0:0", "0.0.0.0", 0],
  [":9595", "0.0.0.0", 9595],
  ["localhost:9595", "localhost", 9595],
  ["[::1]:9595", "::1", 9595],
  ["[fe80::1:2]:65535", "fe80::1:2", 65_535],
])("listens on %s", (listen, host, port) => {
  expect(configOf(`${smallest}http: { listen: "${listen}", allow_anonymous: true }\n`).http).toMatchObject({
    host,
    port,
  });
});

test("addresses come as a list or separated by commas", () => {
  const text = (to: string) =>
    `${service}receivers: [{ name: ops, email_configs: [{ to: ${to} }] }]\nsmtp: { host: "::1", from: a@h }\n`;
  const wanted = ["a@example.com", "b+c@mail.example.com"];
  expect(configOf(text("[a@example.com, b+c@mail.example.com]")).receivers[0]?.email[0]?.to).toEqual(wanted);
  expect(configOf(text('"a@example.com, b+c@mail.example.com"')).receivers[0]?.email[0]?.to).toEqual(wanted);
});

test("addresses that paths are put behind lose their trailing slash, a webhook's does not", () => {
  expect(configOf(smallest.replace("B0/x", "B0/x/")).receivers[0]?.slack[0]?.apiUrl).toMatch(/B0\/x\/$/);
  expect(
    configOf(smallest.replace("https://core.example.com\n", "https://core.example.com/api/\n")).service.baseUrl,
  ).toBe("https://core.example.com/api");
});

describe("from a file", () => {
  async function folder(): Promise<string> {
    const path = await mkdtemp(join(tmpdir(), "lenswatch-config-"));
    onTestFinished(() => rm(path, { recursive: true, force: true }));
    return path;
  }

  test("secrets are found beside it", async () => {
    const path = await folder();
    await writeFile(join(path, "secret"), "from-a-file\n");
    await writeFile(join(path, "c.yaml"), smallest.replace("client_secret: a-secret", "client_secret_file: secret"));
    expect((await loadConfig(join(path, "c.yaml"), {})).service.clientSecret).toBe("from-a-file");
  });

  test("a secret's file has to be a regular one of a sensible size", async () => {
    const path = await folder();
    const file = join(path, "c.yaml");
    const problem = async (secret: string) => {
      await writeFile(file, smallest.replace("client_secret: a-secret", `client_secret_file: ${secret}`));
      const error = await loadConfig(file, {}).catch((thrown: unknown) => thrown);
      return (error as ConfigError).problems.map(({ path: at, found }) => `${at}: ${found}`);
    };
    await writeFile(join(path, "large"), "x".repeat(70_000));
    expect(await problem("large")).toEqual(["service.client_secret_file: a path that cannot be read (EFBIG)"]);
    expect(await problem("/dev/null")).toEqual(["service.client_secret_file: a path that cannot be read (EINVAL)"]);
    expect(await problem("none")).toEqual(["service.client_secret_file: a path that cannot be read (ENOENT)"]);
  });

  test("what is wrong comes as one error with every problem", async () => {
    const path = join(await folder(), "c.yaml");
    await writeFile(path, "service: {}\nlog: { level: loud }\n");
    const error = await loadConfig(path, {}).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error).toMatchObject({ code: "invalid", retryable: false });
    expect((error as ConfigError).problems).toHaveLength(8);
    expect((error as ConfigError).message).toContain("8 problems");
  });

  test("a file that is not there says how to give another", async () => {
    const error = await loadWithWarnings(join(await folder(), "none.yaml"), {}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "not_found", problems: [] });
    expect((error as Error).message).toContain("--config");
  });

  test("a folder in its place is unreadable", async () => {
    await expect(loadConfig(await folder(), {})).rejects.toMatchObject({ code: "unreadable" });
  });

  test("the option goes before the environment, and that before the default", () => {
    expect(configFile("a", { LENSWATCH_CONFIG: "b" })).toBe("a");
    expect(configFile(undefined, { LENSWATCH_CONFIG: "b" })).toBe("b");
    expect(configFile(undefined, { LENSWATCH_CONFIG: "" })).toBe("config/lenswatch.yaml");
  });
});

test("Redis is found through Sentinels, or in a cluster, with certificates from files", () => {
  const pem = `${rootCertificates[0]}\n`;
  const redis = (text: string) => configOf(`${service}${receivers}redis: ${text}\n`, {}, () => pem).redis;
  expect(redis("{ sentinels: [ 'a:26379', '[::1]:26380' ], name: main, sentinel_password: x }")).toMatchObject({
    sentinels: [
      { host: "a", port: 26_379 },
      { host: "::1", port: 26_380 },
    ],
    name: "main",
    sentinelPassword: "x",
  });
  const cluster = redis("{ cluster: [ 'a:1' ], username: u, password: p, tls: { ca_file: ca } }");
  expect(cluster).toMatchObject({
    cluster: [{ host: "a", port: 1 }],
    username: "u",
    password: "p",
    tls: { ca: pem.trimEnd() },
  });
});
