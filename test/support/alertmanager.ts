/** A real Alertmanager on its own ports and directory, with an inbox for its webhook. */
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe } from "vitest";
import { lastingPort } from "../../src/lib/free-port.ts";
import { type HttpSink, startHttpSink } from "./http-sink.ts";
import { until } from "./until.ts";

const binary = ["prometheus-alertmanager", "alertmanager"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);
const hasAmtool = spawnSync("amtool", ["--version"]).status === 0;

/** `describe`, skipped with its reason where Alertmanager or its amtool is not installed. */
export const describeWithAlertmanager = (name: string, body: () => void): void => {
  if (binary === undefined || !hasAmtool)
    describe.skip(`${name} (skipped: Alertmanager is not installed)`, body);
  else describe(name, body);
};

export interface KnownAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
}

/** Alertmanager's webhook payload. */
export interface PostedAlerts {
  readonly status: "firing" | "resolved";
  readonly alerts: readonly (KnownAlert & { readonly status: string })[];
}

export interface TestAlertmanager extends AsyncDisposable {
  readonly url: string;
  /** Active alerts, as listed by amtool. */
  active(): Promise<KnownAlert[]>;
  /** Posted payloads so far, oldest first. */
  posted(): PostedAlerts[];
  /** Ends it; only SIGTERM saves its notification log. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Starts it again, on the same port and directory. */
  start(): Promise<void>;
}

/** Starts one with this `group_interval`. */
export async function startAlertmanager({ groupInterval = "1s" } = {}): Promise<TestAlertmanager> {
  const dir = await mkdtemp(join(tmpdir(), "lenswatch-alertmanager-"));
  const sink: HttpSink = await startHttpSink();
  const port = await lastingPort();
  const url = `http://127.0.0.1:${port}`;
  await writeFile(
    join(dir, "alertmanager.yml"),
    `
route: { receiver: sink, group_by: [alertname, recording_id], group_wait: 500ms, group_interval: ${groupInterval}, repeat_interval: 1h }
receivers: [ { name: sink, webhook_configs: [ { url: "${sink.url}" } ] } ]
`,
  );
  let child: ChildProcess | undefined;

  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );

  async function start(): Promise<void> {
    const flags = [
      `--config.file=${dir}/alertmanager.yml`,
      `--storage.path=${dir}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--cluster.listen-address=",
    ];
    child = spawn(binary ?? "", flags, { stdio: "ignore" });
    await until("Alertmanager is ready", isReady);
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = child;
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => ending.once("exit", () => resolve()));
    ending.kill(signal);
    await gone;
  }

  await start();
  return {
    url,
    start,
    end,
    async active() {
      const query = [`--alertmanager.url=${url}`, "alert", "query", "--active", "-o", "json"];
      const { stdout } = await promisify(execFile)("amtool", query);
      return JSON.parse(stdout) as KnownAlert[];
    },
    posted: () => sink.messages.map(({ text }) => JSON.parse(text) as PostedAlerts),
    async [Symbol.asyncDispose]() {
      await end("SIGKILL");
      await sink.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
