import { describe, expect, test } from "vitest";
import { configOf, listProblems, problemsOf, receivers, service } from "./text.ts";

const smallest = service + receivers;
const place = "lenswatch.yaml:";

/** What a text appended to the smallest configuration (11 lines) is refused for. */
function refusalsOf(more: string, env: Record<string, string> = {}): string[] {
  return problemsOf(`${smallest}${more}\n`, env).map((problem) => problem.slice(place.length));
}

const rule = (rest: string) => `rules:\n  - alert: A\n    when: { status: offline }\n    ${rest}`;
const when = (condition: string) => `rules:\n  - alert: A\n    when: { ${condition} }`;
const digest = (rest: string) => `smtp: { host: h, from: a@b }\ndigests:\n  - { name: d, to: a@b, ${rest} }`;

const times = (start: string, end: string) => `times: [{ start_time: "${start}", end_time: "${end}" }]`;
const intervals = (ranges: string) => `time_intervals: [{ name: n, time_intervals: [${ranges}] }]`;
const routed = (rest: string) => `route: { receiver: ops, routes: [{ ${rest} }] }`;

const refused: readonly (readonly [name: string, more: string])[] = [
  ["an unknown key at the top", "watches: {}"],
  ["an unknown key below", "redis: { urll: x }"],
  ["a key twice", "log: {}\nlog: {}"],
  ["a list where a mapping is due", "watch: [a]"],
  ["a text where a list is due", "digests: daily"],
  ["a duration of no unit", "watch: { status_interval: 30 }"],
  ["a duration of no known unit", rule("for: 2x")],
  ["a duration in words", rule("for: 1.5 hours")],
  ["an interval below a second", "watch:\n  status_interval: 999ms"],
  ["a share above 1", when("average_quality: { below: 70 }")],
  ["a share above 100%", when("average_quality: { below: 101% }")],
  ["clearing below where it fires", when("average_quality: { below: 0.7, clear_above: 60% }")],
  ["clearing above where it fires", when("location_offline: { at_least: 50%, clear_below: 80% }")],
  ["flapping that ends where it begins", when("flapping: { high: 20% }")],
  ["flapping that always is", when("flapping: { high: 0%, low: 0 }")],
  ["two conditions", when("status: offline, missing: true")],
  ["a status that is none", when("status: ofline")],
  ["a rule on what is not missing", when("missing: false")],
  ["a rule without a name", "rules:\n  - when: { missing: true }"],
  ["a reserved label", rule("labels: { location: x }")],
  ["a label name that is none", rule("labels: { a-b: x }")],
  ["an undefined receiver", "route: { receiver: opps }"],
  ["an undefined receiver further down", "route:\n  receiver: ops\n  routes:\n    - receiver: team"],
  ["an escalation to nobody", "route: { receiver: ops, escalate: [ { after: 15m, receiver: phon } ] }"],
  ["an escalation to the receiver itself", "route: { receiver: ops, escalate: [ { after: 15m, receiver: ops } ] }"],
  ["a root without a receiver", "route: { group_wait: 1s }"],
  ["a root with matchers", "route: { receiver: ops, matchers: [a=b] }"],
  ["a root that continues", "route: { receiver: ops, continue: true }"],
  ["a matcher that is none", "route: { receiver: ops, routes: [{ matchers: ['a'] }] }"],
  ["no grouping among others", "route: { receiver: ops, group_by: [a, ...] }"],
  ["a label grouped by twice", "route: { receiver: ops, group_by: [a, a] }"],
  ["two receivers and no route", "  - name: more"],
  ["two receivers of one name", "  - name: ops\nroute: { receiver: ops }"],
  ["two digests of one name", digest("period: 1d").replace(/( {2}- .*)/, "$1\n$1")],
  ["e-mail without a server", "    email_configs: [{ to: a@b }]"],
  ["digests without a server", "digests: [{ name: d, to: a@b }]"],
  ["an address that is none", digest("x: y").replace("to: a@b, x: y", "to: [a@b, a b@c]")],
  ["an address twice", digest("x: y").replace("to: a@b, x: y", "to: [a@b, A@B]")],
  ["nobody to send to", digest("x: y").replace("to: a@b, x: y", "to: []")],
  ["a cron of four fields", digest("cron: 0 8 * *")],
  ["a day that never comes", digest("cron: 0 8 31 2 *")],
  ["a cron left to chance", digest("cron: H 8 * * *")],
  ["a time zone that is none", digest("timezone: Europe/Lodon")],
  ["an offset as a time zone", digest('timezone: "+02:00"')],
  ["a period that is none", digest("period: 2d")],
  ["a login without a password", "smtp: { host: h, from: a@b, username: u }"],
  ["a port alone", "http: { listen: 9595 }"],
  ["a port too high", "http: { listen: 'h:65536' }"],
  ["an address that looks like IPv4", "http: { listen: '999.0.0.1:80' }"],
  ["an address without a scheme", "http: { external_url: lenswatch.example.com }"],
  ["a prefix with braces", "redis: { prefix: '{x}' }"],
  ["a storm of nothing", "route: { receiver: ops, storm: { groups: 0 } }"],
  ["nothing to watch", "watch: { locations: [] }"],
  ["a level that is none", "log: { level: warning }"],
  ["yes for true", "smtp: { host: h, from: a@b, require_tls: yes }"],
  ["a key without a value that needs one", "smtp:\n  host:\n  from: a@b"],
  ["a variable that is not set", `log: { level: '\${LEVEL}' }`],
  ["a reference that names nothing", `log: { level: '\${LEV EL}' }`],
  ["a reference that does not end", `log: { level: '\${LEVEL' }`],
  ["an empty secret", "http: { admin_token: '' }"],
  ["a secret left out by its key", "http:\n  read_token:"],
  ["a secret twice", "http: { admin_token: 0123456789abcdef, admin_token_file: y }"],
  ["an alias of no anchor", "log: *nothing"],
  ...[
    "{ url: 'redis://a', cluster: [ 'a:1' ] }",
    "{ sentinels: [ 'a:1' ] }",
    "{ sentinels: [], name: x }",
    "{ sentinels: [ a ], name: x }",
    "{ url: 'redis://a', name: x }",
    "{ url: 'redis://a', password: x }",
    "{ cluster: [ 'a:1' ], username: x }",
    "{ url: 'redis://a', tls: {} }",
    "{ tls: {} }",
    "{ url: 'unix:///' }",
    "{ url: 'unix://host/run/redis.sock' }",
    "{ url: 'rediss://a', tls: { ca: x } }",
  ].map((where) => [`Redis at ${where}`, `redis: ${where}`] as const),
  ...[
    "http://lists.example.com/u",
    "mailto:ops@example.com",
    "https://dana:x@lists.example.com/u",
    "https://lists.example.com/u#x",
    "https://lists.example.com/u?list=<ops>",
    "https://lists{recipient}.example.com/u",
  ].map((url) => [`unsubscribing at ${url}`, digest(`unsubscribe_url: "${url}"`)] as const),
  ...[
    times("20:00", "06:00"),
    times("20:00", "20:00"),
    times("8:00", "09:00"),
    times("08:00", "24:01"),
    times("08:60", "09:00"),
    "weekdays: [friday:monday]",
    "weekdays: [someday]",
    "weekdays: []",
    'days_of_month: ["0"]',
    'days_of_month: ["32"]',
    'days_of_month: ["5:1"]',
    'days_of_month: ["-1:5"]',
    'days_of_month: ["1:2:3"]',
    "months: [13]",
    'years: ["2027:2026"]',
    "location: Mars",
    "hours: 5",
  ].map((one) => [`an interval of ${one}`, intervals(`{ ${one} }`)] as const),
  ["a time interval of nothing", intervals("")],
  [
    "a time interval that the root is muted in",
    `route: { receiver: ops, mute_time_intervals: [n] }\n${intervals("{}")}`,
  ],
  ["a time interval of no such name", `${routed("mute_time_intervals: [m]")}\n${intervals("{}")}`],
  ["one further down", `${routed("routes: [{ active_time_intervals: m }]")}\n${intervals("{}")}`],
  ["one where there are none", routed("mute_time_intervals: [m]")],
  ["two time intervals of one name", intervals("{}").replace(/(\{ name.*\})\]/, "$1, $1]")],
  ["an inhibit rule without a source", "inhibit_rules: [{ target_matchers: a=b }]"],
  ["an inhibit rule of every source", "inhibit_rules: [{ source_matchers: [], target_matchers: a=b }]"],
  [
    "a label that is none to inhibit by",
    "inhibit_rules: [{ source_matchers: a=b, target_matchers: a=b, equal: [a-b] }]",
  ],
  ...[
    "time_intervals: n",
    "matchers: [], time_intervals: n",
    "matchers: a=b, time_intervals: []",
    "matchers: a=b, time_intervals: m",
    "matchers: a=b, time_intervals: n }, { name: w, matchers: a=b, time_intervals: n",
  ].map((one) => [`a maintenance of ${one}`, `maintenance: [{ name: w, ${one} }]\n${intervals("{}")}`] as const),
];

test("each is refused once, with its position, what was found and what is expected", async () => {
  const told = refused.map(([name, more]) => {
    const problems = refusalsOf(more);
    expect(problems, name).toHaveLength(1);
    return `${name}\n  ${problems[0]}\n`;
  });
  await expect(told.join("")).toMatchFileSnapshot("problems.txt");
});

test.each([
  ["base_url", "ftp://core.example.com"],
  ["base_url", "https://u:p@core.example.com"],
  ["auth_url", "https:issuer.example.com"],
  ["ws_url", "https://metrics.example.com"],
  ["ws_url", "wss://metrics.example.com?token=x"],
])("the service's %s is not %s", (key, value) => {
  const expected = `${key === "ws_url" ? "a ws:// or wss://" : "an http:// or https://"} URL without login, query or fragment`;
  const text = smallest.replace(new RegExp(`${key}: .*`), `${key}: ${value}`);
  expect(listProblems(text)).toMatchObject([{ path: `service.${key}`, expected }]);
});

test("the service's ws_url keeps its trailing slash, other URLs are bases of paths", () => {
  const slash = (text: string, key: string) => text.replace(new RegExp(`(${key}: \\S+)`), "$1/");
  const { service: urls } = configOf(["base_url", "ws_url", "auth_url"].reduce(slash, smallest));
  expect([urls.baseUrl, urls.wsUrl, urls.authUrl].map((text) => text.endsWith("/"))).toEqual([false, true, false]);
});

test("all problems are reported at once, in the order of the file", () => {
  const text = `service:
  base_url: core
  client_id: \${NOBODY}
rules: [{ alert: A, when: { missing: maybe } }]
route: { receiver: a, routes: [{ receiver: b, group_wait: soon }] }
receivers: [{ name: c, email_configs: [{ to: [] }] }]
storms: 1
`;
  expect(listProblems(text).map(({ line, column, path }) => `${line}:${column} ${path}`)).toEqual([
    "1:1 service.ws_url",
    "1:1 service.auth_url",
    "1:1 service.client_secret",
    "1:1 service.audience",
    "2:13 service.base_url",
    "3:14 service.client_id",
    "4:38 rules[0].when.missing",
    "5:20 route.receiver",
    "5:44 route.routes[0].receiver",
    "5:59 route.routes[0].group_wait",
    "6:24 receivers[0].email_configs",
    "6:46 receivers[0].email_configs[0].to",
    "7:1 storms",
  ]);
});

test("an empty file misses what is required", () => {
  expect(problemsOf("")).toEqual([
    "lenswatch.yaml:1:1: service: found nothing, expected a mapping",
    "lenswatch.yaml:1:1: receivers: found nothing, expected a list of receivers",
  ]);
});

describe("what is not YAML", () => {
  test("each is refused at its position", async () => {
    const texts = [
      ["an open bracket", "http: ["],
      ["a tab", "log:\n\tlevel: info"],
      ["a quote left open", 'a: "b'],
      ["two keys on a line", "a: b: c"],
      ["a second document", "a: b\n---\nc: d"],
      ["a tag", "a: !secret b"],
      ["a reserved character", "a: @b"],
      ["a key that is a list", "? [a]\n: b"],
    ] as const;
    const told = texts.map(([name, text]) => `${name}\n  ${problemsOf(text).join("\n  ")}\n`);
    await expect(told.join("")).toMatchFileSnapshot("syntax-problems.txt");
  });

  test("an error without words of its own ends the list", () => {
    const text = `${service}rules: [{ alert: \${NAME}, when: { missing: true } }]\n${receivers}`;
    expect(problemsOf(text)).toEqual([
      `${place}8:19: found a syntax error, expected valid YAML; quote a text that contains { } [ ] , : or #`,
    ]);
  });

  test("a prototype is no key", () => {
    expect(problemsOf(`${smallest}__proto__: { log: {} }\n`)).toEqual([
      "lenswatch.yaml:12:1: found a key that is not a plain name, expected a name",
    ]);
  });

  test("aliases that multiply are bounded", () => {
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(", ")}]`);
    const started = performance.now();
    const problems = problemsOf(`a0: &a0 [x, x, x]\n${levels.join("\n")}\n`);
    expect(problems.some((problem) => problem.includes("found more than 50000 values, expected fewer"))).toBe(true);
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  test("an alias inside its own anchor is bounded", () => {
    expect(problemsOf("log: &log { level: *log }\n").join("\n")).toContain("nested too deeply");
  });

  test("ten thousand brackets are bounded", () => {
    expect(problemsOf("[".repeat(10_000)).length).toBeGreaterThan(0);
    expect(problemsOf(`a: ${"[".repeat(300)}${"]".repeat(300)}`).join("\n")).toContain("nested too deeply");
  });

  test("a file of more than a million characters is not read", () => {
    expect(problemsOf(`# ${"x".repeat(1_100_000)}`)).toEqual([
      "lenswatch.yaml:1:1: found a file of more than a million characters, expected a configuration",
    ]);
  });
});
