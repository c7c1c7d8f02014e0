import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isMap, isScalar, isSeq, type Node, parseDocument } from "yaml";
import { parseConfig } from "../../src/config/load.ts";
import { formatProblem } from "../../src/config/problem.ts";
import { rootSection } from "../../src/config/schema.ts";
import { documentKeys, type KeyDoc } from "../support/document-keys.ts";
import { configOf, listProblems, receivers, service } from "./text.ts";

const example = (name: string) => readFileSync(new URL(`../../config/${name}`, import.meta.url), "utf8");

/** Every variable of a text, set to something that fits wherever it stands. */
function environmentFor(text: string): Record<string, string> {
  const names = [...text.matchAll(/\$\{([A-Z_]+)/g)].map(([, name = ""]) => name);
  return Object.fromEntries(names.map((name) => [name, valueFor(name)]));
}

function valueFor(name: string): string {
  if (name.endsWith("_WS_URL")) return "ws://127.0.0.1:9/ws";
  if (name.endsWith("_REDIS_URL")) return "redis://127.0.0.1:6379";
  if (name.endsWith("_URL")) return "http://127.0.0.1:9";
  if (name.endsWith("_PORT")) return "2525";
  if (name.endsWith("_BOT_TOKEN")) return "xoxb-0123456789";
  if (name.endsWith("_APP_TOKEN")) return "xapp-0123456789";
  if (name.endsWith("_TOKEN")) return `example-${name}`;
  if (name.endsWith("_LISTEN")) return "127.0.0.1:9595";
  return "x";
}

test.each(["lenswatch.yaml", "lenswatch.full.yaml", "demo.yaml"])("%s loads without a warning", (file) => {
  const text = example(file);
  const parsed = parseConfig(text, { file, env: environmentFor(text) });
  expect("problems" in parsed ? parsed.problems.map(formatProblem) : parsed.warnings).toEqual([]);
});

test("the demo waits seconds where others wait minutes", () => {
  const text = example("demo.yaml");
  const { watch, rules, route, receivers: told, digests } = configOf(text, environmentFor(text));
  expect(watch.statusIntervalMs).toBe(1_000);
  expect(rules.find(({ id }) => id === "RecordingOffline")?.forMs).toBe(2_000);
  const slow = rules.filter(({ forMs }) => forMs > 10_000).map(({ id }) => id);
  expect(slow, "the others come first").toEqual(["CountsImplausible"]);
  expect([route.groupWaitMs, route.groupIntervalMs]).toEqual([1_000, 5_000]);
  expect(told).toMatchObject([{ name: "ops", slack: [{}], email: [{ to: ["ops@example.com"] }] }, { name: "north" }]);
  expect(digests).toMatchObject([{ period: "1d" }]);
});

describe("the full example", () => {
  const text = example("lenswatch.full.yaml");
  const keys = documentKeys(rootSection);
  const written = valuesByPath(parseDocument(text, { schema: "failsafe" }).contents);

  test("has every key of the schema, and the schema every key of it; what stands instead of another in comments", () => {
    const known = new Set(keys.map(({ path }) => path));
    const instead = keys.filter(({ path }) => !written.has(path)).map(({ path }) => path);
    const isInstead =
      /^redis\.(?!url$|prefix$)|^(?:service|smtp|http)\.tls|(?:_configs\[\]|directory\.\w+)\.(?:http_config|url)(?:\.|$)|\.when\.(?:last_seen|counts)/;
    expect(instead.filter((path) => !isInstead.test(path))).toEqual([]);
    const names = instead.map((path) => path.split(".").at(-1));
    expect(names.filter((name) => !new RegExp(`^ +(?:# )?${name}(_file)?:`, "m").test(text))).toEqual([]);
    expect([...written.keys()].filter((path) => !known.has(path))).toEqual([]);
  });

  test("explains every key with the schema's words and default", () => {
    const comments = (text.match(/#[^\n]*/g) ?? []).map((comment) => comment.slice(2).trim());
    const missing = keys.map(sentence).filter((words) => !comments.some((comment) => comment.startsWith(words)));
    expect(missing).toEqual([]);
  });

  test("shows every default it names, where it shows no example", () => {
    const shown = keys.filter(({ path, fallback }) => fallback !== undefined && !/\[\]|http_config/.test(path));
    const examples = ["route.mute_time_intervals", "time_intervals", "route.matchers", "route.routes", "digests"];
    examples.push("route.escalate", "maintenance", "counts.closed_days");
    examples.push("http.tokens", "http.trusted_proxies", "http.auth_proxy.admin_groups", "directory.contacts");
    const other = shown.filter(({ path, fallback }) => written.get(path) !== fallback).map(({ path }) => path);
    expect(other.sort()).toEqual(examples.sort());
  });

  test("has the default rules", () => {
    expect(configOf(text, environmentFor(text)).rules).toEqual(configOf(service + receivers).rules);
  });

  test("has the default inhibit rules", () => {
    const written = (text: string) => JSON.stringify(configOf(text, environmentFor(text)).inhibitRules);
    expect(written(text)).toEqual(written(service + receivers));
  });

  test("names the file of every secret", () => {
    const secrets = keys.filter(({ secret }) => secret).map(({ path }) => `${path.split(".").at(-1)}_file`);
    expect(new Set(secrets).size).toBe(17);
    expect(secrets.filter((name) => !text.includes(name))).toEqual([]);
  });
});

function sentence({ doc, required, fallback }: KeyDoc): string {
  return `${doc}${required ? " Required." : fallback === undefined ? "" : ` Default: ${fallback}.`}`;
}

/** Every key's path as the schema names it, with what is written there. Maps of labels end the walk. */
function valuesByPath(root: Node | null): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  visit(root, "");
  return found;

  function visit(node: unknown, path: string): void {
    if (isSeq(node)) for (const item of node.items) visit(item, `${path}[]`);
    if (!isMap(node)) return;
    for (const { key, value } of node.items) {
      const name = String(key);
      const at = (path === "" ? name : `${path}.${name}`).replace(/^route(\.routes\[\])+\./, "route.");
      if (!found.has(at)) found.set(at, plain(value));
      if (name !== "labels" && name !== "annotations") visit(value, at);
    }
  }
}

function plain(value: unknown): string | undefined {
  if (isScalar(value)) return String(value.value);
  if (!isSeq(value)) return undefined;
  return value.items.length === 0 ? "none" : `[${value.items.map(String).join(", ")}]`;
}

test("what users are promised loads", () => {
  const text = readFileSync(new URL("whole-vocabulary.yaml", import.meta.url), "utf8");
  const env = { ...environmentFor(text) };
  expect(listProblems(text, env)).toEqual([]);
});
