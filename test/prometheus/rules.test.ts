/** The shipped Prometheus rules are valid, tested and complete, and use existing metrics. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { defaultRules } from "../../src/config/rule-schema.ts";
import { anchorOf, readPage } from "../support/documents.ts";
import { metricsIn, recordedIn, scraped } from "./metric-names.ts";
import { hasPromtool, promtool, shipped } from "./promtool.ts";

interface PrometheusRule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleTest {
  readonly alert_rule_test?: readonly { alertname: string; exp_alerts: readonly unknown[] }[];
  readonly promql_expr_test?: readonly { expr: string; exp_samples: readonly unknown[] }[];
}

const page = readPage("docs/reference/alerts.md");
const read = (file: string) => parse(readFileSync(join(shipped, file), "utf8"));
const rules: PrometheusRule[] = read("lenswatch.rules.yml").groups.flatMap(
  (group: { rules: PrometheusRule[] }) => group.rules,
);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const tests: RuleTest[] = read("lenswatch.rules.test.yml").tests;

describe.skipIf(!hasPromtool)(`promtool${hasPromtool ? "" : " (skipped: install Prometheus, which brings it)"}`, () => {
  test("finds no fault with the rules, nor with the example of a configuration that reads them", async () => {
    expect(await promtool("check", "rules", "--lint-fatal", "lenswatch.rules.yml")).toMatchObject({ code: 0 });
    expect(await promtool("check", "config", "prometheus.yml")).toMatchObject({ code: 0 });
  });

  test("passes every test of the rules", async () => {
    const { code, said } = await promtool("test", "rules", "lenswatch.rules.test.yml");
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining("SUCCESS") });
  });
});

test("every metric the rules name is one that lenswatch exposes", () => {
  const named = rules.flatMap(({ expr }) => metricsIn(expr));
  expect(new Set(named).size).toBeGreaterThan(10);
  expect(named.filter((name) => !scraped.has(name))).toEqual([]);
});

test("every recorded series the rules name is recorded", () => {
  const recorded = rules.map(({ record }) => record);
  const named = rules.flatMap(({ expr }) => recordedIn(expr));
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !recorded.includes(name))).toEqual([]);
});

describe.each(alerts.map((rule) => [rule.alert ?? "", rule] as const))("%s", (name, rule) => {
  test("says how bad it is, what is wrong, and what to do", () => {
    expect(["critical", "warning"]).toContain(rule.labels?.severity);
    expect(Object.keys(rule.annotations ?? {})).toEqual(["summary", "description", "runbook", "runbook_url"]);
    expect(rule.annotations?.runbook_url).toBe(`${page.path}${anchorOf(name)}`);
  });

  test("is tested firing and not firing", () => {
    const expected = tests.flatMap(({ alert_rule_test = [], promql_expr_test = [] }) => [
      ...alert_rule_test.filter(({ alertname }) => alertname === name).map(({ exp_alerts }) => exp_alerts),
      ...promql_expr_test.filter(({ expr }) => expr.includes(`"${name}"`)).map(({ exp_samples }) => exp_samples),
    ]);
    expect(expected.some((fired) => fired.length > 0)).toBe(true);
    expect(expected.some((fired) => fired.length === 0)).toBe(true);
  });
});

test.each([...defaultRules, ...alerts].map(({ alert }) => String(alert)))(
  "docs/reference/alerts.md explains %s",
  (name) => {
    expect(page.sections.get(name)).toMatch(/^\*\*Means:\*\* .+\n\n\*\*Do:\*\* /m);
  },
);
