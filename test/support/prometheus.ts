/** A real Prometheus that scrapes the daemons of a test, on its own port and directory. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const hasPrometheus = spawnSync("prometheus", ["--version"]).status === 0;

/** Why a test that needs it is skipped. */
export const noPrometheus = "skipped: prometheus is not installed";

const PATIENCE_MS = 150_000;

/** One series of an answer: its labels and its values, in order of time. */
export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly number[];
}

export interface Prometheus extends AsyncDisposable {
  readonly url: string;
  /** As it is now. Throws with Prometheus' own words where the expression is wrong. */
  instant(expression: string): Promise<Series[]>;
  /** The last so many seconds, one value a second. */
  range(expression: string, seconds: number): Promise<Series[]>;
  /** The values of a label over the series that match. */
  labelValues(label: string, match: string): Promise<string[]>;
  /** Reads its rule files again. */
  reload(): Promise<void>;
}

interface PrometheusOptions {
  /** `http://host:port` of each target, and the job they are scraped as. */
  readonly targets: readonly string[];
  readonly job: string;
  /** Paths of rule files. */
  readonly ruleFiles?: readonly string[];
  /** `host:port` of those it sends its alerts to, every 5 s as over 20 s later, and the token for it. */
  readonly alertsTo?: { readonly hosts: readonly string[]; readonly token: string };
  /** How it asks for metrics, and how it sends alerts: scheme, TLS and login. */
  readonly http?: { readonly scrapes: object; readonly alerts: object };
}

/** Started and ready for queries; scrapes and evaluates twice a second. */
export async function startPrometheus({
  targets,
  job,
  ruleFiles = [],
  alertsTo,
  http,
}: PrometheusOptions): Promise<Prometheus> {
  const dir = await mkdtemp(join(tmpdir(), "lenswatch-prometheus-"));
  const hosts = targets.map((target) => new URL(target).host);
  const scrape = [{ job_name: job, static_configs: [{ targets: hosts }], ...http?.scrapes }];
  const global = { scrape_interval: "500ms", scrape_timeout: "500ms", evaluation_interval: "500ms" };
  // JSON is YAML.
  const config = JSON.stringify({
    global,
    rule_files: ruleFiles,
    scrape_configs: scrape,
    ...(alertsTo && { alerting: alertingOf(alertsTo, http?.alerts) }),
  });
  await writeFile(join(dir, "prometheus.yml"), config);
  const child = spawn(
    "prometheus",
    [
      `--config.file=${join(dir, "prometheus.yml")}`,
      `--storage.tsdb.path=${join(dir, "data")}`,
      "--web.listen-address=127.0.0.1:0",
      "--web.enable-lifecycle",
      "--rules.alert.resend-delay=5s",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const close = async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const url = await addressOf(child.stderr, ended);
    const reload = async () => void (await fetch(`${url}/-/reload`, { method: "POST" }));
    return { url, ...queriesOf(url), reload, [Symbol.asyncDispose]: close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function alertingOf({ hosts, token }: NonNullable<PrometheusOptions["alertsTo"]>, http?: object) {
  const login = http ?? { authorization: { type: "Bearer", credentials: token } };
  return { alertmanagers: [{ api_version: "v2", ...login, static_configs: [{ targets: hosts }] }] };
}

/** Where it listens, once it is ready. */
function addressOf(stderr: NodeJS.ReadableStream, ended: Promise<void>): Promise<string> {
  const said: string[] = [];
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`Prometheus ${why}:\n${said.slice(-5).join("\n")}`));
    const timer = setTimeout(() => fail(`was not ready within ${PATIENCE_MS} ms`), PATIENCE_MS);
    void ended.then(() => fail("ended"));
    let address = "";
    createInterface({ input: stderr }).on("line", (line) => {
      said.push(line);
      address = /msg="Listening on".* address=(\S+)/.exec(line)?.[1] ?? address;
      if (!line.includes("ready to receive web requests")) return;
      clearTimeout(timer);
      resolve(`http://${address}`);
    });
  });
}

interface Answer<Data> {
  readonly status: string;
  readonly error?: string;
  readonly data: Data;
}

function queriesOf(url: string): Pick<Prometheus, "instant" | "range" | "labelValues"> {
  async function ask<Data>(path: string, parameters: Record<string, string>): Promise<Data> {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const answer = (await response.json()) as Answer<Data>;
    if (answer.status !== "success") throw new Error(`${answer.error}, asked for ${parameters.query}`);
    return answer.data;
  }
  return {
    async instant(query) {
      type Result = { metric: Record<string, string>; value: [number, string] }[];
      const { result } = await ask<{ result: Result }>("query", { query });
      return result.map(({ metric, value }) => ({ metric, values: [Number(value[1])] }));
    },
    async range(query, seconds) {
      type Result = { metric: Record<string, string>; values: [number, string][] }[];
      const end = Date.now() / 1000;
      const { result } = await ask<{ result: Result }>("query_range", {
        query,
        start: String(end - seconds),
        end: String(end),
        step: "1",
      });
      return result.map(({ metric, values }) => ({ metric, values: values.map(([, value]) => Number(value)) }));
    },
    labelValues: (label, match) => ask<string[]>(`label/${label}/values`, { "match[]": match }),
  };
}
