/** Alertmanager's own command line, against this server. */
import { expect } from "vitest";
import type { SentAlert } from "../../src/alerting/external-alerts.ts";
import { amtoolAt, testWithAmtool } from "../support/amtool.ts";
import { firingAlert, serve, shownConfig } from "./serve.ts";

const deps = {
  alerts: async () => [
    { alert: firingAlert("RecordingOffline", { severity: "critical" }), receivers: ["ops"] },
    { alert: firingAlert("LowQuality", { severity: "warning" }), receivers: ["quiet"], silencedBy: ["some-id"] },
    { alert: firingAlert("LowUptime"), receivers: ["quiet"], inhibitedBy: ["0123456789abcdef"] },
  ],
};

testWithAmtool("amtool lists the alerts", async () => {
  const amtool = await amtoolAt((await serve(deps)).address);
  const query = async (...args: string[]) =>
    (JSON.parse(await amtool("alert", "query", ...args, "-o", "json")) as { labels: { alertname: string } }[])
      .map(({ labels }) => labels.alertname)
      .sort();
  expect(await query()).toEqual(["RecordingOffline"]);
  expect(await query("--active")).toEqual(["RecordingOffline"]);
  expect(await query("--silenced")).toEqual(["LowQuality"]);
  expect(await query("--inhibited")).toEqual(["LowUptime"]);
  expect(await query("--receiver=ops")).toEqual(["RecordingOffline"]);
  expect(await query("RecordingOffline")).toEqual(["RecordingOffline"]);
  expect(await query('severity=~"crit.*|none"', "alertname!=LowQuality")).toEqual(["RecordingOffline"]);
  expect(await query("severity=warning")).toEqual([]);
  expect(await amtool("alert", "query")).toContain("It is dark.");
  expect(await amtool("alert", "query", "-o", "extended")).toContain('severity="critical"');
});

testWithAmtool("amtool adds an alert, with the admin token alone", async () => {
  const taken: SentAlert[] = [];
  const { address } = await serve({
    adminToken: "s3cret",
    clock: { now: () => Date.now() },
    async acceptAlerts(sent) {
      taken.push(...sent.map(([, alert]) => alert));
      return { outcome: "taken", refused: 0, most: 2_000 };
    },
  });
  const add = ["alert", "add", "DiskFull", "instance=nas-1", "--annotation=summary=2 % left"];
  await expect((await amtoolAt(address))(...add)).rejects.toMatchObject({ code: 1 });
  expect(taken).toEqual([]);
  const amtool = await amtoolAt(address, "s3cret");
  await amtool(...add, "--generator-url=http://p.example.com/graph");
  await amtool("alert", "add", "DiskFull", "--start=2026-01-31T11:00:00Z", "--end=2026-01-31T12:00:00Z");
  expect(taken).toMatchObject([
    {
      labels: { alertname: "DiskFull", instance: "nas-1" },
      annotations: { summary: "2 % left" },
      generatorUrl: "http://p.example.com/graph",
      isTimeout: true,
    },
    { startsAt: Date.UTC(2026, 0, 31, 11), endsAt: Date.UTC(2026, 0, 31, 12), isTimeout: false },
  ]);
});

testWithAmtool("amtool shows the configuration and the cluster, which is none", async () => {
  const amtool = await amtoolAt((await serve({ config: () => shownConfig() })).address);
  expect(await amtool("config", "show")).toContain("receiver: ops");
  expect(await amtool("cluster", "show")).toMatch(/Cluster Status:\s+disabled/);
});
