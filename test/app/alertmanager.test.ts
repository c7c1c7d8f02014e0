import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { camerasOf, startWatch } from "../support/app.ts";
import { type HttpSink, startHttpSink } from "../support/http-sink.ts";
import { lastingPort } from "../support/lasting-port.ts";
import { until } from "../support/until.ts";

const binary = ["prometheus-alertmanager", "alertmanager"].find((name) => spawnSync(name, ["--version"]).status === 0);
const hasAmtool = spawnSync("amtool", ["--version"]).status === 0;

/** `describe`, skipped with its reason where Alertmanager or its amtool is not installed. */
const describeWithAlertmanager = (name: string, body: () => void): void => {
  if (binary === undefined || !hasAmtool) describe.skip(`${name} (skipped: Alertmanager is not installed)`, body);
  else describe(name, body);
};

interface KnownAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
}

/** Alertmanager's webhook payload. */
interface PostedAlerts {
  readonly status: "firing" | "resolved";
  readonly alerts: readonly (KnownAlert & { readonly status: string })[];
}

interface TestAlertmanager extends AsyncDisposable {
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
async function startAlertmanager({ groupInterval = "1s" } = {}): Promise<TestAlertmanager> {
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

const RULES = `
  - alert: RecordingOffline
    when: { status: offline }
    for: 0s
    labels: { severity: critical }
  - alert: NotificationsFailing
    when: { notifications: failing }
    for: 1s
    labels: { severity: critical }`;

const forwarding = (watched: TestAlertmanager, more: { slack?: string; resend?: string } = {}) => ({
  rules: RULES,
  // Timers longer than the test: forwarding does not wait for them.
  route: "{ receiver: ops, group_by: [location_id], group_wait: 1h, group_interval: 1h, repeat_interval: 4h }",
  receivers: `
  - name: ops
    alertmanager_configs: [ { url: "${watched.url}", resend_interval: ${more.resend ?? "1s"} } ]
    ${more.slack ?? ""}`,
});

const isKnown = async (alertmanager: TestAlertmanager, ...ids: string[]) =>
  (await alertmanager.active().catch(() => [])).filter(({ labels }) => ids.includes(labels.recording_id ?? ""))
    .length === ids.length;

const statusesOf = (alertmanager: TestAlertmanager, id: string) =>
  alertmanager
    .posted()
    .filter(({ alerts }) => alerts.some(({ labels }) => labels.recording_id === id))
    .map(({ status }) => status);

describeWithAlertmanager("forwarding to an Alertmanager", () => {
  it.concurrent("posts each firing alert and its end once, with exact times, though the Alertmanager is killed in between", async () => {
    await using alertmanager = await startAlertmanager();
    await using watch = await startWatch(forwarding(alertmanager));
    const [{ id, name }] = camerasOf(watch);
    watch.simulator.world.setStatus(id, "offline");
    await until("it is active there", () => isKnown(alertmanager, id));
    const [alert] = await alertmanager.active();
    expect(alert?.labels).toMatchObject({ alertname: "RecordingOffline", recording: name, severity: "critical" });
    const expiresIn = Date.parse(alert?.endsAt ?? "") - Date.now();
    expect(expiresIn).toBeGreaterThan(14 * 60_000);
    await until("it was sent again", async () => (await alertmanager.active())[0]?.endsAt !== alert?.endsAt);
    await alertmanager.end("SIGKILL");
    await alertmanager.start();
    await until("it is active again", () => isKnown(alertmanager, id));
    expect(statusesOf(alertmanager, id)).not.toContain("resolved");
    const wentBack = Date.now();
    watch.simulator.world.setStatus(id, "online");
    await until("it was posted as resolved", () => statusesOf(alertmanager, id).includes("resolved"));
    expect(new Set(statusesOf(alertmanager, id).slice(0, -1))).toEqual(new Set(["firing"]));
    const ended = alertmanager.posted().at(-1)?.alerts[0];
    expect(ended).toMatchObject({ status: "resolved", annotations: { end_reason: "recovered" } });
    expect(Date.parse(ended?.startsAt ?? "")).toBe(Date.parse(alert?.startsAt ?? ""));
    expect(Date.parse(ended?.endsAt ?? "")).toBeGreaterThanOrEqual(wentBack - 1_000);
    expect(Date.parse(ended?.endsAt ?? "")).toBeLessThanOrEqual(Date.now());
    expect(await alertmanager.active()).toEqual([]);
  });
});
