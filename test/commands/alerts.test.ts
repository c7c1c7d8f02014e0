import { describe, expect, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { firingAlert, serve } from "../http/serve.ts";
import { NOW } from "../metrics/fleets.ts";
import { lenswatch } from "./run-command.ts";

const offline = {
  alert: firingAlert("RecordingOffline", { severity: "critical", location: "Leeds", recording: "Till \u001b[2J1" }),
  receivers: ["ops", "quiet"],
};
const longer = { alert: { ...firingAlert("ServiceUnreachable"), startsAt: NOW - 3_600_000 }, receivers: ["ops"] };
const silenced = { alert: firingAlert("LowQuality"), receivers: ["quiet"], silencedBy: ["some-id"] };
const inhibited = { alert: firingAlert("LowUptime"), receivers: ["quiet"], inhibitedBy: ["some-print"] };
const all = async () => [offline, longer, silenced, inhibited];

describe("lenswatch alerts", () => {
  test("prints active alerts, the oldest first", async () => {
    const { address } = await serve({ alerts: all });
    expect(await lenswatch(["alerts", "--url", address])).toEqual({
      stdout: `\
ALERT               SEVERITY  LOCATION  RECORDING  SINCE                       STATE   RECEIVERS  FINGERPRINT
ServiceUnreachable  –         –         –          2026-01-31 11:00 UTC (1 h)  active  ops        ${fingerprint(longer.alert.labels)}
RecordingOffline    critical  Leeds     Till [2J1  2026-01-31 11:57 UTC (3 m)  active  ops quiet  ${fingerprint(offline.alert.labels)}

2 alerts
2 need attention; 1 silenced (--silenced), 1 explained by another alert (--inhibited).
`,
      stderr: "",
      exitCode: 0,
    });
  });

  test.each([
    [[], ["RecordingOffline", "ServiceUnreachable"]],
    [["--silenced"], ["LowQuality", "RecordingOffline", "ServiceUnreachable"]],
    [["--inhibited"], ["LowUptime", "RecordingOffline", "ServiceUnreachable"]],
    [
      ["--silenced", "--inhibited"],
      ["LowQuality", "LowUptime", "RecordingOffline", "ServiceUnreachable"],
    ],
  ])("%j gives %j", async (flags, expected) => {
    const { address } = await serve({ alerts: all });
    const { stdout } = await lenswatch(["alerts", "--url", address, "--output", "json", ...flags]);
    const names = JSON.parse(stdout).map(({ labels }: { labels: { alertname: string } }) => labels.alertname);
    expect(names.sort()).toEqual(expected);
  });

  test("shows why an alert is suppressed", async () => {
    const { address } = await serve({ alerts: all });
    const { stdout } = await lenswatch(["alerts", "--url", address, "--silenced", "--inhibited"]);
    expect(stdout).toMatch(/^LowQuality .* silenced /m);
    expect(stdout).toMatch(/^LowUptime .* inhibited /m);
  });

  test("says what is not shown, also where nothing else is active, and how to see it", async () => {
    const { address } = await serve({ alerts: async () => [silenced, silenced, inhibited] });
    const { stdout } = await lenswatch(["alerts", "--url", address]);
    expect(stdout).toBe(
      "No active alerts.\n0 need attention; 2 silenced (--silenced), 1 explained by another alert (--inhibited).\n",
    );
    expect((await lenswatch(["alerts", "--url", address, "--silenced"])).stdout).toMatch(
      /\n0 need attention; .*1 explained by another alert \(--inhibited\)\.\n$/,
    );
    expect((await lenswatch(["alerts", "--url", address, "--output", "json"])).stdout).toBe("[]\n");
  });

  test("reports that there are no active alerts", async () => {
    const { address } = await serve();
    expect(await lenswatch(["alerts", "--url", address])).toMatchObject({ stdout: "No active alerts.\n", exitCode: 0 });
  });

  test("a daemon that is not there is exit code 3", async () => {
    const { address, server } = await serve();
    await server.close();
    expect(await lenswatch(["alerts", "--url", address])).toMatchObject({ stdout: "", exitCode: 3 });
  });
});
