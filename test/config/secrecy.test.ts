import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../src/config/load.ts";
import { formatProblem } from "../../src/config/problem.ts";
import { problemsOf, service } from "./text.ts";

const canary = "Canary-pw!";

/** Every place a secret can have, in the file and in the environment. */
const text = `service:
  base_url: https://core.example.com
  ws_url: wss://metrics.example.com
  auth_url: https://issuer.example.com
  client_id: an-id
  client_secret: "${canary}"
  audience: \${AUDIENCE}
  request_timeout: \${TIMEOUT:-9s}
redis: { url: "redis://:${canary}@127.0.0.1:6379/0", prefix: lenswatch }
watch: { locations: all, status_interval: 30s }
rules:
  - alert: RecordingOffline
    when: { status: offline }
    for: 2m
    labels: { severity: critical }
route:
  receiver: ops
  routes:
    - { matchers: ['severity = "warning"'], group_wait: 30s }
receivers:
  - name: ops
    slack_configs:
      - api_url: https://hooks.slack.com/services/T0/B0/${canary}
      - api_url: \${SLACK_URL}
    email_configs:
      - to: [ops@example.com]
    webhook_configs:
      - url: https://example.com/${canary}
        secret: ${canary}
        http_config: { basic_auth: { username: lenswatch, password: "${canary}" } }
    alertmanager_configs:
      - url: https://alertmanager.example.com
        http_config: { authorization: { credentials: "${canary}" } }
smtp:
  host: smtp.example.com
  from: lenswatch@example.com
  username: lenswatch
  password: '${canary}'
http:
  admin_token: ${canary}-for-admins
  tokens: [{ name: prometheus, token: "${canary}-for-alerts", scopes: [alerts] }]
  read_token: \${READ_TOKEN}
`;

const env = {
  AUDIENCE: `https://${canary}/`,
  SLACK_URL: `https://hooks.slack.com/services/T0/B0/${canary}`,
  READ_TOKEN: `${canary}-for-readers`,
  /** At no secret's key anywhere: nothing but having come from the environment keeps it from being shown. */
  PLAIN: "x Xanary",
};

function printed(mangled: string, variables: Record<string, string> = env): string {
  const parsed = parseConfig(mangled, { file: "lenswatch.yaml", env: variables });
  const { problems, warnings } =
    "problems" in parsed ? { ...parsed, warnings: [] } : { problems: [], warnings: parsed.warnings };
  return JSON.stringify([...problems, ...warnings]) + [...problems, ...warnings].map(formatProblem).join("\n");
}

test("the text that is mangled below is right to begin with", () => {
  expect(printed(text)).toBe("[]");
});

describe("a secret is not shown when it is itself what is wrong", () => {
  const slack = (value: string) => `${service}receivers: [{ name: ops, slack_configs: [${value}] }]\n`;

  test.each([
    ["a webhook URL that is none", slack(`{ api_url: "${canary}" }`)],
    ["a webhook URL of another scheme", slack(`{ api_url: "ftp://${canary}" }`)],
    ["a webhook URL in place of a mapping", slack(`"https://hooks.slack.com/services/T/B/${canary}"`)],
    ["a webhook URL under a misspelt key", slack(`{ api_ulr: "https://hooks.slack.com/${canary}" }`)],
    ["a webhook URL with another in its place", slack(`{ api_url: "x", api_url_file: "${canary}" }`)],
    ["a secret in place of the path to its file", slack(`{ api_url_file: "${canary}" }`)],
    ["a webhook URL out of the environment", slack(`{ api_url: "\${READ_TOKEN}" }`)],
    ["a mapping as a secret", slack(`{ api_url: { "${canary}": "${canary}" } }`)],
    ["a list as a secret", slack(`{ api_url: ["${canary}"] }`)],
    ["a bot token with the app token's key", slack(`{ bot_token: "xoxb-${canary}", app_token: "xoxb-${canary}" }`)],
    ["a bot token in place of a channel", slack(`{ bot_token: "xoxb-0123456789", channel: "xoxb-${canary}" }`)],
    ["a login in an address", text.replace("https://core", () => `https://u:${canary}@core`)],
    [
      "a token in the socket's address",
      text.replace("metrics.example.com", () => `metrics.example.com?token=${canary}`),
    ],
    ["a token with a space", text.replace(`admin_token: ${canary}-for-admins`, () => `admin_token: "a ${canary}"`)],
    ["a Redis address that is none", text.replace("redis://", "redit://")],
    ["a misspelt Redis key", text.replace("{ url:", "{ uri:")],
    ["a password without a username", text.replace("  username: lenswatch\n", "")],
    ["a secret as an anchor's name", text.replace('client_secret: "', "client_secret: *").replace('!"\n', "!\n")],
    ["a secret as a tag", text.replace('client_secret: "', "client_secret: !").replace('!"\n', "!\n")],
    ["a secret as a key", text.replace('client_secret: "', "? ").replace('!"\n', "!\n")],
    ["a variable where a duration is due", text.replace("30s }", `"\${PLAIN}" }`)],
    ["a variable where a matcher is due", text.replace("['severity = \"warning\"']", `'\${PLAIN}'`)],
    ["a variable where a receiver is due", text.replace("receiver: ops", `receiver: \${PLAIN}`)],
    ["a variable where an address is due", text.replace("[ops@example.com]", `\${PLAIN}`)],
    ["a variable where a condition is due", text.replace("status: offline", `status: "\${PLAIN}"`)],
    ["a quote left open", text.replace('!"\n', "!\n")],
  ])("%s", (_name, mangled) => {
    const said = printed(mangled);
    expect(said).toMatch(mangled.includes("PLAIN") ? /found an invalid value in \$\{PLAIN\}/ : /found/);
    expect(said).not.toContain("anary");
  });
});

test("a secret's file that holds something else is not shown either", () => {
  const wrong = `${service}receivers: [{ name: ops, slack_configs: [{ api_url_file: webhook }] }]\n`;
  expect(problemsOf(wrong, {}, () => canary)).toEqual([
    "lenswatch.yaml:8:58: receivers[0].slack_configs[0].api_url: found an invalid secret, expected an http:// or https:// URL",
  ]);
  const unreadable = () => {
    throw Object.assign(new Error(`ENOENT: no such file ${canary}`), { code: "ENOENT" });
  };
  expect(problemsOf(wrong, {}, unreadable)).toEqual([
    "lenswatch.yaml:8:58: receivers[0].slack_configs[0].api_url_file: found a path that cannot be read (ENOENT), expected the path of a readable file, absolute or relative to the configuration file",
  ]);
});

test("a warning does not show what came out of the environment", () => {
  const odd = text.replace("['severity = \"warning\"']", () => `"\${ODD}"`);
  const said = printed(odd, { ...env, ODD: "locaton_id=canary" });
  expect(said).toContain("found an unknown label");
  expect(said).not.toMatch(/anary|locaton/);
});

test("a secret that occurs elsewhere is masked there too", () => {
  const said = problemsOf(`${service.replace("a-secret", "Blue-Rabbit")}log: { level: Blue-Rabbit }\nreceivers: []\n`);
  expect(said).toContain(
    'lenswatch.yaml:8:15: log.level: found "[secret]", expected trace, debug, info, warn, error or silent',
  );
});

const symbols = [..."{}[]:,&*!|>'\"%@`#- \t\n?~$\\", "\u0000", "\u001b", "é", "\u2028"];
const spot = fc.double({ min: 0, max: 0.999_999, noNaN: true });

/** One slip of the hand or the editor, as a function of the text. */
const slip: fc.Arbitrary<(from: string) => string> = fc.oneof(
  spot.map((at) => (from: string) => {
    const index = Math.floor(at * from.length);
    return from.slice(0, index) + from.slice(index + 1);
  }),
  fc.tuple(spot, fc.constantFrom(...symbols)).map(([at, symbol]) => (from: string) => {
    const index = Math.floor(at * from.length);
    return from.slice(0, index) + symbol + from.slice(index);
  }),
  fc.tuple(spot, fc.constantFrom("delete", "double", "indent", "outdent", "join")).map(
    ([at, what]) =>
      (from: string) =>
        editLine(from, at, what),
  ),
  fc.tuple(spot, spot).map(([from, to]) => (whole: string) => {
    const all = whole.split("\n");
    const [moved = ""] = all.splice(Math.floor(from * all.length), 1);
    all.splice(Math.floor(to * all.length), 0, moved);
    return all.join("\n");
  }),
);

function editLine(from: string, at: number, what: string): string {
  const all = from.split("\n");
  const index = Math.floor(at * all.length);
  const line = all[index] ?? "";
  const next = { delete: [], double: [line, line], indent: [`  ${line}`], outdent: [line.replace(/^ {2}/, "")] }[what];
  all.splice(index, what === "join" ? 2 : 1, ...(next ?? [`${line} ${(all[index + 1] ?? "").trim()}`]));
  return all.join("\n");
}

test("no edit crashes the parser; every problem has a position, and no secret or control character is shown", () => {
  fc.assert(
    fc.property(fc.array(slip, { minLength: 1, maxLength: 4 }), (slips) => {
      const mangled = slips.reduce((whole, change) => change(whole), text);
      const parsed = parseConfig(mangled, { file: "lenswatch.yaml", env });
      const problems = "problems" in parsed ? parsed.problems : parsed.warnings;
      if ("problems" in parsed) expect(problems.length).toBeGreaterThan(0);
      for (const problem of problems) {
        expect(problem.line).toBeGreaterThanOrEqual(1);
        expect(problem.line).toBeLessThanOrEqual(mangled.split("\n").length);
        expect(problem.column).toBeGreaterThanOrEqual(1);
        const said = formatProblem(problem);
        expect(said).not.toContain("anary");
        expect(said).not.toMatch(/\p{Cc}/u);
      }
    }),
    { numRuns: 100, seed: 20_261_120 },
  );
});
