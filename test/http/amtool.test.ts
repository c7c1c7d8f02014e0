/** Alertmanager's own command line, against this server. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parseMatchers } from "../../src/alerting/matcher.ts";
import { alertmanagerConfig } from "../../src/http/v2/status.ts";
import { firingAlert, rootRoute, serve } from "./serve.ts";

const hasAmtool = spawnSync("amtool", ["--version"]).status === 0;
const testWithAmtool = test.skipIf(!hasAmtool);
if (!hasAmtool) test.skip("skipped: amtool is not installed", () => undefined);

const route = {
  ...rootRoute,
  routes: [
    {
      ...rootRoute,
      key: "{}/0",
      receiver: "quiet",
      matchers: parseMatchers('severity="warning", a=~"b.*|\\"c"'),
    },
  ],
};
const deps = {
  routing: () => ({ route, receivers: ["ops", "quiet"] }),
  alerts: async () => [
    { alert: firingAlert("RecordingOffline", { severity: "critical" }), receivers: ["ops"] },
    {
      alert: firingAlert("LowQuality", { severity: "warning" }),
      receivers: ["quiet"],
      silencedBy: ["some-id"],
    },
  ],
};

async function amtool(address: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("amtool", [`--alertmanager.url=${address}`, ...args]);
  return stdout;
}

testWithAmtool("amtool lists the alerts", async () => {
  const { address } = await serve(deps);
  const alerts = JSON.parse(await amtool(address, "alert", "query", "-o", "json"));
  expect(alerts).toMatchObject([{ labels: { alertname: "RecordingOffline" }, status: { state: "active" } }]);
  const held = JSON.parse(
    await amtool(address, "alert", "query", "--silenced", "severity=warning", "-o", "json"),
  );
  expect(held).toMatchObject([{ labels: { alertname: "LowQuality" }, status: { silencedBy: ["some-id"] } }]);
  expect(JSON.parse(await amtool(address, "alert", "query", "--receiver=ops", "-o", "json"))).toHaveLength(1);
});

testWithAmtool("amtool shows the configuration, and tests routes on it", async () => {
  const { address } = await serve(deps);
  expect(await amtool(address, "config", "show")).toContain("receiver: ops");
  expect(await amtool(address, "config", "routes", "test", "severity=critical")).toBe("ops\n");
  expect(await amtool(address, "config", "routes", "test", "severity=warning", "a=bcd")).toBe("quiet\n");
});

testWithAmtool("Alertmanager's strict loader accepts the configuration", async () => {
  const directory = await mkdtemp(join(tmpdir(), "lenswatch-amtool-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "alertmanager.yaml");
  await writeFile(file, alertmanagerConfig(deps.routing()));
  const { stdout } = await promisify(execFile)("amtool", ["check-config", file]);
  expect(stdout).toContain("SUCCESS");
});
