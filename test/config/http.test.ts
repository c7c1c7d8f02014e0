import { describe, expect, test } from "vitest";
import { type HttpConfig, isReadingOpen } from "../../src/config/http-schema.ts";
import { configOf, problemsOf, receivers, service } from "./text.ts";

const text = (http: string) => `${service}${receivers}http: { ${http} }\n`;
const httpOf = (http: string): HttpConfig => configOf(text(http)).http;
const problemOf = (http: string) =>
  problemsOf(text(http))
    .join("\n")
    .replace(/^lenswatch\.yaml:\d+:\d+: /, "");

const A = "0123456789abcdef";
const B = "fedcba9876543210";
const tokens = (...entries: string[]) => `tokens: [${entries.join(", ")}]`;
const entry = (name: string, token: string, scopes: string) => `{ name: ${name}, token: ${token}, scopes: ${scopes} }`;
const proxied = "trusted_proxies: [10.0.0.0/8], auth_proxy: { user_header: X-User }";
const listening = 'listen: "0.0.0.0:1"';

describe("reading", () => {
  const closing =
    "`read_token` or `admin_token` beside it (`openssl rand -hex 32` makes one), or `allow_anonymous: true`";

  test.each([
    ["http.listen", 'listen: ":9595"'],
    ["http.listen", 'listen: "[::]:9595"'],
    ["http.listen", "listen: 192.0.2.7:9595"],
    ["http.listen", "listen: watch.example.com:9595"],
    ["http.listen", `${listening}, allow_anonymous: false`],
    ["http.listen", `${listening}, ${tokens(entry("a", A, "[alerts, silence]"))}`],
    ["http.metrics_listen", "metrics_listen: 0.0.0.0:9596"],
    ["http.trusted_proxies", "trusted_proxies: [127.0.0.1]"],
    ["http.allow_anonymous", "allow_anonymous: false"],
  ])("without a way to sign in is refused at %s: %s", (path, http) => {
    const problem = problemOf(http);
    expect(problem.startsWith(`${path}: found `), problem).toBe(true);
    expect(problem.endsWith(closing), problem).toBe(true);
  });

  test("in a container is refused too, where the file says nothing", () => {
    const problems = problemsOf(service + receivers, { LENSWATCH_LISTEN: "0.0.0.0:9595" });
    expect(problems).toEqual([
      expect.stringContaining("http.listen: found an address that others reach, expected a loopback"),
    ]);
  });

  test.each([
    `read_token: ${A}`,
    `admin_token: ${A}`,
    tokens(entry("a", A, "read")),
    tokens(entry("a", A, "[admin]")),
    proxied,
  ])("beyond loopback needs %s", (http) => {
    expect(isReadingOpen(httpOf(`${listening}, ${http}`))).toBe(false);
  });

  test.each([
    ["open", ""],
    ["open", "listen: localhost:1"],
    ["open", 'listen: "[::1]:1"'],
    ["open", `admin_token: ${A}`],
    ["open", tokens(entry("a", A, "[alerts, silence, admin]"))],
    ["open", `${listening}, allow_anonymous: true`],
    ["open", `${listening}, allow_anonymous: true, read_token: ${A}`],
    ["closed", `read_token: ${A}`],
    ["closed", tokens(entry("a", A, "read"))],
    ["closed", `admin_token: ${A}, allow_anonymous: false`],
    ["closed", `admin_token: ${A}, metrics_listen: 0.0.0.0:9596`],
    ["open", "metrics_listen: 127.0.0.1:9596"],
    ["closed", `admin_token: ${A}, trusted_proxies: 127.0.0.1`],
    ["closed", "trusted_proxies: 127.0.0.1, auth_proxy: { user_header: X-User }"],
  ])("is %s with %j", (state, http) => {
    expect(isReadingOpen(httpOf(http))).toBe(state === "open");
  });
});

test("reading stays closed where a reload names loopback, as the listener stays where it is", () => {
  expect(isReadingOpen({ ...httpOf(""), host: "0.0.0.0" })).toBe(false);
});

describe("tokens", () => {
  test("are named, the short forms by their keys", () => {
    const http = `admin_token: ${A}, ${tokens(entry("amtool", B, "[read, silence]"))}`;
    expect(httpOf(http).tokens).toEqual([
      { name: "admin_token", token: A, scopes: ["admin"] },
      { name: "amtool", token: B, scopes: ["read", "silence"] },
    ]);
  });

  const equal = "an invalid secret, expected a token that no other entry has: `openssl rand -hex 32` makes one";
  test.each([
    [`read_token: 0123456789abcde`, "http.read_token: found an invalid secret, expected at least 16 characters"],
    [tokens(entry("a", "short", "read")), "http.tokens[0].token: found an invalid secret, expected at least 16"],
    [`admin_token: ${A}, read_token: ${A}`, `http.read_token: found ${equal}`],
    [`read_token: ${A}, ${tokens(entry("a", A, "read"))}`, `http.tokens[0].token: found ${equal}`],
    [tokens(entry("a", A, "read"), entry("b", A, "alerts")), `http.tokens[1].token: found ${equal}`],
    [tokens(entry("a", A, "read"), entry("a", B, "read")), 'http.tokens[1].name: found "a", expected a name that no'],
    [`read_token: ${A}, ${tokens(entry("read_token", B, "read"))}`, "http.tokens[0].name: found"],
    [tokens(entry("a", A, "[]")), "http.tokens[0].scopes: found an empty list, expected at least one scope"],
    [tokens(entry("a", A, "reed")), "http.tokens[0].scopes[0]: found"],
    [tokens(`{ name: a, scopes: read }`), "http.tokens[0].token: found nothing"],
  ])("of %j are refused", (http, problem) => {
    expect(problemOf(http)).toContain(problem);
    expect(problemOf(http)).not.toMatch(new RegExp(`${A}|${B}`));
  });
});

describe("proxies", () => {
  test("are addresses and networks, one or many", () => {
    expect(httpOf(`read_token: ${A}, trusted_proxies: 10.0.0.0/8`).trustedProxies).toEqual(["10.0.0.0/8"]);
    const many = '[127.0.0.1, "::1", "fd00::/8"]';
    expect(httpOf(`read_token: ${A}, trusted_proxies: ${many}`).trustedProxies).toHaveLength(3);
  });

  test.each([
    "0.0.0.0/0",
    '"::/0"',
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0/8",
    "proxy.example.com",
    '"::1/129"',
    "1.1.1.1/8/8",
  ])("are not %s", (network) => {
    expect(problemOf(`read_token: ${A}, trusted_proxies: [${network}]`)).toContain("expected an address or a network");
  });

  test("that sign people in must be trusted", () => {
    expect(problemOf("auth_proxy: { user_header: X-User }")).toContain(
      "http.auth_proxy: found a mapping, expected `trusted_proxies`",
    );
    const groups = "trusted_proxies: 10.0.0.1, auth_proxy: { user_header: X-User, admin_groups: ops }";
    expect(problemOf(groups)).toContain("expected a groups_header beside the admin_groups");
    expect(problemOf("trusted_proxies: 10.0.0.1, auth_proxy: { user_header: 'X User' }")).toContain(
      "the name of a header",
    );
  });
});
