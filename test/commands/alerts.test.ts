import { describe, expect, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { firingAlert, serve } from "../http/serve.ts";
import { fleetOf, NOW, recordingState } from "../metrics/fleets.ts";
import { lenswatch } from "./run-command.ts";

const offline = {
  alert: firingAlert("RecordingOffline", {
    severity: "critical",
    location: "Leeds",
    recording: "Leeds Till \u001b[2J1",
  }),
  receivers: ["ops", "quiet"],
};
const longer = { alert: { ...firingAlert("ServiceUnreachable"), startsAt: NOW - 3_600_000 }, receivers: ["ops"] };
const silenced = { alert: firingAlert("LowQuality"), receivers: ["quiet"], silencedBy: ["some-id"] };
const inhibited = { alert: firingAlert("LowUptime"), receivers: ["quiet"], inhibitedBy: ["some-print"] };
const all = async () => [offline, longer, silenced, inhibited];

describe("lenswatch alerts", () => {
  test("prints active alerts by location, the worst first, and how many need somebody", async () => {
    const { address } = await serve({ alerts: all });
    expect(await lenswatch(["alerts", "--url", address])).toEqual({
      stdout: `\
No recording is known yet; 2 need attention: 1 recording (RecordingOffline), 1 recording (ServiceUnreachable); 1 silenced (--silenced), 1 explained by another alert (--inhibited).

  RECORDING  ALERT               SEVERITY  FOR  STATE   RECEIVERS  FINGERPRINT
Leeds
  Till [2J1  RecordingOffline    critical  3 m  active  ops quiet  ${fingerprint(offline.alert.labels)}
No location
  –          ServiceUnreachable  –         1 h  active  ops        ${fingerprint(longer.alert.labels)}
`,
      stderr: "",
      exitCode: 0,
    });
  });

  test.each([
    [[silenced, inhibited], "1 silenced (--silenced), 1 explained by another alert (--inhibited)"],
    [[offline, silenced], "1 needs attention: 1 recording (RecordingOffline); 1 silenced (--silenced)"],
  ])("says first that the status of all recordings is unknown, whatever is suppressed", async (alerts, words) => {
    const blind = fleetOf({ recordings: ["a", "b"].map((id) => recordingState(id, { readAt: 0 })) });
    const { address } = await serve({ alerts: async () => alerts, fleet: async () => blind });
    const { stdout } = await lenswatch(["alerts", "--url", address]);
    expect(stdout.split("\n")[0]).toBe(`The status of all 2 recordings is unknown; ${words}.`);
  });

  test("lists them where what they share cannot be read", async () => {
    const { address } = await serve({ alerts: all, fleet: () => Promise.reject(new Error("broken")) });
    const { stdout, exitCode } = await lenswatch(["alerts", "--url", address]);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^2 need attention.*\n\n +RECORDING/)]);
  });

  test("names the group of an alert about recordings of several locations", async () => {
    const labels = { camera_server: "edge-7", organisation: "Acme", timezone: "Europe/London" };
    const server = { alert: firingAlert("CameraServerOffline", labels), receivers: ["ops"] };
    const { address } = await serve({ alerts: async () => [server] });
    expect((await lenswatch(["alerts", "--url", address])).stdout).toMatch(
      /^No location\n +camera server edge-7 +CameraServerOffline/m,
    );
  });

  test("names the camera server of one location below it", async () => {
    const labels = { camera_server: "edge-7", location: "Leeds", location_id: "leeds", organisation: "Acme" };
    const server = { alert: firingAlert("CameraServerOffline", labels), receivers: ["ops"] };
    const { address } = await serve({ alerts: async () => [server] });
    expect((await lenswatch(["alerts", "--url", address])).stdout).toMatch(
      /^Leeds\n +camera server edge-7 +CameraServerOffline/m,
    );
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
    expect(stdout).toMatch(/ LowQuality .* silenced /m);
    expect(stdout).toMatch(/ LowUptime .* inhibited /m);
  });

  test("says what is not shown, also where nothing else is active, and how to see it", async () => {
    const { address } = await serve({
      alerts: async () => [silenced, silenced, inhibited],
      fleet: async () => fleetOf({ recordings: [recordingState("a")] }),
    });
    const { stdout } = await lenswatch(["alerts", "--url", address]);
    expect(stdout).toBe("0 need attention; 2 silenced (--silenced), 1 explained by another alert (--inhibited).\n");
    expect((await lenswatch(["alerts", "--url", address, "--silenced"])).stdout).toMatch(
      /^0 need attention; .*1 explained by another alert \(--inhibited\)\.\n/,
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
