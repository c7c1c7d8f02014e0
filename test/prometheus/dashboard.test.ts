/** The shipped Grafana dashboard is valid, and all its queries give data from a real Prometheus. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { startWatch, type Watch } from "../support/app.ts";
import { startHttpSink } from "../support/http-sink.ts";
import { hasPrometheus, noPrometheus, type Prometheus, startPrometheus } from "../support/prometheus.ts";
import { describeWithRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { metricsIn, recordedIn, scraped } from "./metric-names.ts";
import { shipped } from "./promtool.ts";

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly instant: boolean;
  readonly range: boolean;
  readonly datasource: { readonly type: string; readonly uid: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string; readonly noValue?: string } };
  readonly targets?: readonly Target[];
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly definition?: string;
  readonly allValue?: string;
}

interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly __requires: readonly { readonly type: string; readonly id: string }[];
}

const dashboard: Dashboard = JSON.parse(
  readFileSync(new URL("../../config/grafana/lenswatch.json", import.meta.url), "utf8"),
);

/** All panels but rows. */
const panels: readonly Panel[] = dashboard.panels.filter(({ type }) => type !== "row");

/** A query of a panel, with a name for failure messages. */
const queries = panels.flatMap((panel) =>
  (panel.targets ?? []).map((target) => ({ name: `${panel.title} ${target.refId}`, panel, target })),
);

/** The text with Grafana's variables filled in; others stay. */
function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (all, braced, bare) => values[braced ?? bare] ?? all);
}

const RULES = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
    labels: { severity: critical }
  - alert: LowQuality
    when: { average_quality: { below: 0.7, clear_above: 0.8 } }
    for: 1h
    labels: { severity: warning }`;

describe("the dashboard", () => {
  test("has panels with ids of their own that fit the grid and do not cover each other", () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const taken = new Map<string, string>();
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.get(`${x},${y}`), `${title} at ${x},${y}`).toBeUndefined();
          taken.set(`${x},${y}`, title);
        }
      }
    }
  });

  test.each(panels.map((panel) => [panel.title, panel] as const))(
    "%s says what it shows, and whether and why it may be empty",
    (_, { description = "", fieldConfig, targets = [] }) => {
      expect(description).toMatch(/\.$/);
      expect(/\bEmpty\b/.test(description)).toBe(fieldConfig?.defaults.noValue !== undefined);
      expect(targets.length).toBeGreaterThan(0);
    },
  );

  test("asks the data source the reader chooses, for the installation the reader chooses", () => {
    for (const { name, target } of queries) {
      expect(target.datasource, name).toEqual({ type: "prometheus", uid: "$" + "{datasource}" });
      expect(target.expr, name).toContain("$job");
      expect(target.instant, name).toBe(!target.range);
    }
    const given = dashboard.templating.list.map(({ name }) => name);
    const used = queries.flatMap(({ target }) => [...target.expr.matchAll(/\$\{?([a-z]\w+)/g)]);
    expect(new Set(used.map(([, name]) => name)).difference(new Set(given))).toEqual(new Set());
  });

  test("names only metrics that lenswatch exposes, and needs no recorded series", () => {
    const expressions = queries.map(({ target }) => target.expr);
    expect(expressions.flatMap(metricsIn).filter((name) => !scraped.has(name))).toEqual([]);
    expect(expressions.flatMap(recordedIn)).toEqual([]);
  });

  test("draws only single recordings from their series, which need not be there, and says so", () => {
    const fromSeries = queries.filter(({ target }) => target.expr.includes("lenswatch_recording_"));
    expect(new Set(fromSeries.map(({ panel }) => panel.title))).toEqual(new Set(["Offline now", "Most offline (20)"]));
    for (const { panel } of fromSeries) expect(panel.description).toContain("`metrics.per_recording");
  });

  test("says which kinds of panels it needs, as Grafana's export does", () => {
    const required = dashboard.__requires.filter(({ type }) => type === "panel").map(({ id }) => id);
    expect(required).toEqual([...new Set(panels.map(({ type }) => type))].sort());
  });
});

const everything = { job: "shops", location: ".*", recording: ".*", __range: "1m", __rate_interval: "10s" };

/**
 * Whether the query gives a number at least once, now or, where it is drawn over time, in the last minute, in a
 * series that has every label its legend names.
 */
async function hasData(prometheus: Prometheus, { expr, legendFormat, instant }: Target): Promise<boolean> {
  const expression = fillIn(expr, everything);
  const series = await (instant ? prometheus.instant(expression) : prometheus.range(expression, 60));
  const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
  return series.some(
    ({ metric, values }) => labels.every((label) => metric[label]) && values.some((value) => !Number.isNaN(value)),
  );
}

/** What is usual is known only after some weeks of counts. */
const NEEDS_WEEKS = "Entries in the last full hour B";

/** Names of queries without a result. */
async function empty(prometheus: Prometheus, of = queries): Promise<string[]> {
  const answers = await Promise.all(
    of.map(async ({ name, target }) => (name === NEEDS_WEEKS || (await hasData(prometheus, target)) ? [] : [name])),
  );
  return answers.flat();
}

/** Waits until all queries give data; fails with the names of the others. */
async function untilFull(prometheus: Prometheus, of = queries): Promise<void> {
  let missing = of;
  await until("data", async () => {
    const names = await empty(prometheus, missing);
    missing = missing.filter(({ name }) => names.includes(name));
    if (missing.length > 0) await sleep(500);
    return missing.length === 0;
  }).catch(() => expect(missing.map(({ name }) => name)).toEqual([]));
}

async function silence({ app }: Watch, recordingId: string): Promise<void> {
  const response = await fetch(`${app.address}/api/v2/silences`, {
    method: "POST",
    headers: { authorization: "Bearer s3cret-of-the-admin", "content-type": "application/json" },
    body: JSON.stringify({
      matchers: [{ name: "recording_id", value: recordingId, isRegex: false, isEqual: true }],
      startsAt: new Date().toISOString(),
      endsAt: new Date(Date.now() + 3_600_000).toISOString(),
      createdBy: "dana",
      comment: "rewiring",
    }),
  });
  expect(response.status).toBe(200);
}

describe.skipIf(!hasPrometheus)(`the dashboard, asked${hasPrometheus ? "" : ` (${noPrometheus})`}`, () => {
  describeWithRedis("of a lenswatch on the simulator", () => {
    test("every query gives data: on a healthy fleet unless it says otherwise, and all of them in trouble", async () => {
      const deadMan = await startHttpSink();
      onTestFinished(() => deadMan.close());
      await using watch = await startWatch({
        watch: "{ status_interval: 1s, uptime_interval: 2s, inventory_interval: 1h }",
        rules: RULES,
        http: 'http: { listen: "127.0.0.1:0", admin_token: s3cret-of-the-admin }',
        more: `
heartbeat: { url: "${deadMan.url}", interval: 1s }`,
      });
      const { simulator, slack, app } = watch;
      await using prometheus = await startPrometheus({
        targets: [app.address],
        job: everything.job,
        ruleFiles: [join(shipped, "lenswatch.rules.yml")],
      });
      await untilFull(
        prometheus,
        queries.filter(({ panel }) => panel.fieldConfig?.defaults.noValue === undefined),
      );
      expect(await empty(prometheus)).toContain("Offline now A");

      const [dark, silenced, dim, garbled] = simulator.world.recordings;
      if (!dark || !silenced || !dim || !garbled) throw new Error("no cameras");
      await silence(watch, silenced.id);
      slack.respond({ status: 503 });
      simulator.faults.set("wrong_types", { recordings: [garbled.id], field: "row", times: 3 });
      simulator.faults.set("drop_sockets", { times: 1 });
      for (const { id } of [dark, silenced]) simulator.world.setStatus(id, "offline");
      simulator.world.setQuality(dim.id, 0.4);
      app.refused();
      await slack.next();
      slack.respond({ status: 200 });
      await untilFull(prometheus);

      await narrowed(prometheus, dark);
    });
  });
});

/** The values of the variables, and that panels filter by them. */
async function narrowed(
  prometheus: Prometheus,
  { name, location }: { name: string; location: { name: string } },
): Promise<void> {
  const chosen = { ...everything };
  const expected: Record<string, string> = { job: chosen.job, location: location.name, recording: name };
  for (const { name: variable, definition } of dashboard.templating.list) {
    if (definition === undefined) continue;
    const [, match = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? [];
    const values = await prometheus.labelValues(label, fillIn(match, chosen));
    expect(values, variable).toContain(expected[variable]);
    Object.assign(chosen, { [variable]: expected[variable] });
  }
  const [table] = queries.filter(({ name: query }) => query === "Offline now A");
  const rows = await prometheus.instant(fillIn(table?.target.expr ?? "", chosen));
  expect(rows.map(({ metric }) => metric.recording)).toEqual([name]);
}
