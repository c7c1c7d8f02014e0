import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { notifyErrorCodes } from "../../src/alerting/model.ts";
import { createMetrics, type KnownLabels } from "../../src/metrics/metrics.ts";
import { processRows } from "../../src/metrics/table.ts";
import { renderRegistry } from "../../src/metrics/text.ts";
import { NO_LABELS } from "./fleets.ts";

function setUp(known: Partial<KnownLabels> = {}) {
  const registry = new Registry();
  const metrics = createMetrics(registry, {
    version: "1.2.3",
    known: { ...NO_LABELS, ...known },
    processMetrics: false,
  });
  const lines = async (name: string) =>
    (await renderRegistry(registry, "prometheus")).split("\n").filter((line) => line.startsWith(name));
  return { registry, metrics, lines };
}

test("every row of the table is on the registry, with its help and type", async () => {
  const { registry } = setUp();
  const text = await renderRegistry(registry, "prometheus");
  for (const { name, help, type } of Object.values(processRows)) {
    expect(text).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
  }
});

test("what happened is written like this", async () => {
  const { registry, metrics } = setUp();
  metrics.sweepFinished(0.3);
  metrics.serviceUp("status_uptime", false);
  metrics.request("status_uptime", "timeout", 20);
  metrics.protocolError("bad_row");
  metrics.socketReconnect();
  metrics.tokenExpiry(1_769_861_000_000);
  metrics.notified("ops", "slack", 31);
  metrics.notified("ops", "slack", undefined);
  metrics.notifyFailed("ops", "email", "timeout");
  metrics.suppressed("ops", "nothing_new");
  metrics.resolvedOwed("ops", "slack", 2);
  metrics.visitsUncounted(310);
  metrics.heartbeat("skipped");
  metrics.queueJobs("deliver", "waiting", 3);
  metrics.configReloaded(true);
  metrics.alertsReceived({ firing: 2, resolved: 1, invalid: 3 });
  const text = await renderRegistry(registry, "prometheus");
  const samples = text.split("\n").filter((line) => !line.startsWith("#") && !/_bucket|_info/.test(line));
  await expect(samples.join("\n")).toMatchFileSnapshot("process.prom");
});

test("failures have Alertmanager's reasons, each from the first scrape on", async () => {
  const { lines } = setUp({ integrations: [{ receiver: "ops", type: "slack" }] });
  const reasons = (await lines("alertmanager_notifications_failed_total")).map(
    (line) => /reason="(\w+)"} 0/.exec(line)?.[1],
  );
  expect(reasons.sort()).toEqual([
    "authError",
    "clientError",
    "contextDeadlineExceeded",
    "other",
    "rateLimited",
    "serverError",
  ]);
});

test("a histogram is written like this in both formats", async () => {
  const { registry, metrics } = setUp();
  metrics.sweepFinished(0.3);
  metrics.sweepFinished(100);
  const block = async (format: "prometheus" | "openmetrics") =>
    (await renderRegistry(registry, format))
      .split("\n")
      .filter((line) => line.includes("lenswatch_sweep_duration_seconds"))
      .join("\n");
  const prometheus = await block("prometheus");
  await expect(prometheus).toMatchFileSnapshot("histogram.prom");
  expect(await block("openmetrics")).toBe(prometheus.replace(/le="(\d+)"/g, 'le="$1.0"'));
});

test("asking for OpenMetrics once leaves the older format as it was", async () => {
  const { registry } = setUp();
  const before = await renderRegistry(registry, "prometheus");
  const open = await renderRegistry(registry, "openmetrics");
  expect(open).toContain("# TYPE lenswatch_socket_reconnects counter\nlenswatch_socket_reconnects_total 0\n");
  expect(await renderRegistry(registry, "prometheus")).toBe(before);
});

describe("known label values start at 0", () => {
  test("requests by endpoint and outcome", async () => {
    const { lines } = setUp({ endpoints: ["token", "uptimes"], outcomes: ["ok", "timeout"] });
    expect(await lines("lenswatch_service_request_duration_seconds_count")).toEqual([
      'lenswatch_service_request_duration_seconds_count{endpoint="token",outcome="ok"} 0',
      'lenswatch_service_request_duration_seconds_count{endpoint="token",outcome="timeout"} 0',
      'lenswatch_service_request_duration_seconds_count{endpoint="uptimes",outcome="ok"} 0',
      'lenswatch_service_request_duration_seconds_count{endpoint="uptimes",outcome="timeout"} 0',
    ]);
  });

  test("protocol errors and queues", async () => {
    const { lines } = setUp({ protocolErrors: ["bad_row"], queues: ["deliver"] });
    expect(await lines("lenswatch_protocol_errors_total{")).toEqual([
      'lenswatch_protocol_errors_total{kind="bad_row"} 0',
    ]);
    expect(await lines('lenswatch_queue_jobs{queue="deliver",state="failed"}')).toEqual([
      'lenswatch_queue_jobs{queue="deliver",state="failed"} 0',
    ]);
  });

  test("integrations, for each reason to fail; those of a reload too, and nothing counted is lost", async () => {
    const slack = { receiver: "ops", type: "slack" } as const;
    const { metrics, lines } = setUp({ integrations: [slack], suppressReasons: ["silenced"] });
    expect(await lines("lenswatch_notifications_failed_total{")).toHaveLength(notifyErrorCodes.length);
    metrics.notified("ops", "slack", undefined);
    metrics.knowIntegrations([slack, { receiver: "quiet", type: "email" }]);
    expect(await lines("lenswatch_notifications_total{")).toEqual([
      'lenswatch_notifications_total{receiver="ops",integration="slack"} 1',
      'lenswatch_notifications_total{receiver="quiet",integration="email"} 0',
    ]);
    expect(await lines("lenswatch_notifications_suppressed_total{")).toEqual([
      'lenswatch_notifications_suppressed_total{receiver="ops",reason="silenced"} 0',
      'lenswatch_notifications_suppressed_total{receiver="quiet",reason="silenced"} 0',
    ]);
  });
});

test("a time that is not known has no series, rather than 1970", async () => {
  const { metrics, lines } = setUp();
  expect(await lines("lenswatch_token_expiry_timestamp_seconds")).toEqual([]);
  metrics.tokenExpiry(1_000);
  expect(await lines("lenswatch_token_expiry_timestamp_seconds")).toEqual([
    "lenswatch_token_expiry_timestamp_seconds 1",
  ]);
  metrics.tokenExpiry(undefined);
  expect(await lines("lenswatch_token_expiry_timestamp_seconds")).toEqual([]);
});

test("the builds are named, Alertmanager's as a semantic version of at least 0.25", async () => {
  const { lines } = setUp();
  expect(await lines("lenswatch_build_info")).toEqual([
    `lenswatch_build_info{version="1.2.3",node="${process.versions.node}"} 1`,
  ]);
  const [line = ""] = await lines("alertmanager_build_info");
  const [, major, minor] = /^alertmanager_build_info\{version="(\d+)\.(\d+)\.\d+"\} 1$/.exec(line) ?? [];
  expect(Number(major) * 1_000 + Number(minor)).toBeGreaterThanOrEqual(25);
});
