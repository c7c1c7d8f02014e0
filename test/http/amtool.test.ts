/** Alertmanager's own command line, against this server. */
import { expect } from "vitest";
import { amtoolAt, testWithAmtool } from "../support/amtool.ts";
import { firingAlert, serve, shownConfig } from "./serve.ts";

const deps = {
  alerts: async () => [
    { alert: firingAlert("RecordingOffline", { severity: "critical" }), receivers: ["ops"] },
    {
      alert: firingAlert("LowQuality", { severity: "warning" }),
      receivers: ["quiet"],
      silencedBy: ["some-id"],
    },
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

testWithAmtool("amtool shows the configuration and the cluster, which is none", async () => {
  const amtool = await amtoolAt((await serve({ config: () => shownConfig() })).address);
  expect(await amtool("config", "show")).toContain("receiver: ops");
  expect(await amtool("cluster", "show")).toMatch(/Cluster Status:\s+disabled/);
});
