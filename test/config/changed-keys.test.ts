import { expect, test } from "vitest";
import { changedKeys } from "../../src/config/changed-keys.ts";
import { configOf, receivers, service } from "./text.ts";

const smallest = service + receivers;
const rules = (for_: string) =>
  `rules: [{ alert: A, when: { status: offline }, for: ${for_} }, { alert: B, when: { status: degraded } }]\n`;
const secret = (n: number) => `a-secret-token-of-32-characters-${n}`;

test.each([
  ["", "", []],
  [
    "watch: { status_interval: 30s }\n",
    "watch: { status_interval: 10s, history: 7d }\n",
    ["watch.history", "watch.status_interval"],
  ],
  [`http: { read_token: ${secret(1)} }\n`, `http: { read_token: ${secret(2)} }\n`, ["http.tokens[read_token]"]],
  [`http: { admin_token: ${secret(1)} }\n`, "", ["http.tokens[admin_token]"]],
  ["http: { listen: 127.0.0.1:1 }\n", "http: { listen: 127.0.0.2:2 }\n", ["http.listen"]],
  ["http: { metrics_listen: 127.0.0.1:1 }\n", "http: { metrics_listen: 127.0.0.1:2 }\n", ["http.metrics_listen"]],
  [rules("1m"), rules("2m"), ["rules[A]"]],
  ["", "route: { receiver: ops, group_wait: 1m }\n", ["route"]],
  ["", "inhibit_rules: []\n", ["inhibit_rules"]],
  ["log: { level: info }\n", "log: { level: debug }\n", ["log.level"]],
  [`heartbeat: { url: "https://x.example/${secret(1)}" }\n`, "", ["heartbeat"]],
  [
    `redis: { url: "redis://:${secret(1)}@x.example" }\n`,
    `redis: { url: "redis://:${secret(2)}@x.example" }\n`,
    ["redis.url"],
  ],
])("%j and %j differ in keys that are named, without a value", (before, after, keys) => {
  const named = changedKeys(configOf(smallest + before), configOf(smallest + after));
  expect(named).toEqual(keys);
  expect(named.join()).not.toContain("a-secret");
});

test("a receiver is named, and what is secret in it is not", () => {
  const other = receivers.replace(/https?:\/\/[^\s"]+/, (url) => `${url}/another-secret`);
  expect(other).not.toBe(receivers);
  expect(changedKeys(configOf(smallest), configOf(service + other))).toEqual([
    expect.stringMatching(/^receivers\[\w+\]$/),
  ]);
});
