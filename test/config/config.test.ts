import { expect, test } from "vitest";
import { configHash } from "../../src/config/config.ts";
import { configOf, receivers, service } from "./text.ts";

const of = (text: string) => configHash(configOf(text, {}));
const base = `${service}\n${receivers}`;

test("is the same for what decides the same, wherever it listens and however it is written", () => {
  expect(of(base)).toMatch(/^[0-9a-f]{32}$/);
  const same = `# other words\n${receivers}\n${service}\nhttp: { listen: ":1", allow_anonymous: true }\nlog: { level: debug }\nmetrics: { per_recording: off }\n`;
  expect(of(same)).toBe(of(base));
});

test.each([
  ["a rule", "rules: []"],
  ["a route", "route: { receiver: ops, group_by: [location] }"],
  ["a matcher", 'route: { receiver: ops, routes: [ { matchers: [ a = "b" ] } ] }'],
  ["what is watched", "watch: { exclude: [ a ] }"],
  ["where links lead", 'http: { external_url: "https://a.example" }'],
])("%s makes another", (_, more) => {
  expect(of(`${base}\n${more}\n`)).not.toBe(of(base));
});

test("series per recording are off also where Helm wrote false for it, and by default not decided", () => {
  const mode = (more: string) => configOf(`${base}\n${more}\n`, {}).metrics.perRecording;
  const written = ["all", "off", "false"].map((value) => mode(`metrics: { per_recording: ${value} }`));
  expect([mode(""), ...written]).toEqual([undefined, "all", "off", "off"]);
});
