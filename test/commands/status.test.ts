import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { firingAlert, serve } from "../http/serve.ts";
import { alertState, fleetOf, largeFleet, NOW, recordingState } from "../metrics/fleets.ts";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { lenswatch } from "./run-command.ts";

const fleet = fleetOf({
  recordings: [
    recordingState("rec-10", { averageQuality: 0.9996 }),
    recordingState("rec-2", {
      status: "offline",
      since: NOW - 90_000,
      averageQuality: undefined,
      alerts: {
        a: alertState("RecordingOffline"),
        b: alertState("LowUptime", { state: "pending", labels: { alertname: "LowUptime" } }),
      },
    }),
    recordingState("rec-3", { status: undefined, readAt: 0, locationId: "loc-2" }),
  ],
  names: { "rec-10": "Till 10", "rec-2": "Till 2" },
  uptimes: { "rec-10": 1, "rec-2": 0.5 },
});

/** A server that answers every request alike. */
async function answering(status: number, body: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(body));
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function configuration(http: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "lenswatch-status-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "lenswatch.yaml");
  await writeFile(
    file,
    `service:
  base_url: https://core.example.com
  ws_url: wss://metrics.example.com
  auth_url: https://issuer.example.com
  client_id: id
  client_secret: secret
  audience: https://core.example.com
receivers:
  - name: ops
    slack_configs: [ { api_url: https://hooks.example.com/x } ]
${http}`,
  );
  return file;
}

describe("lenswatch status", () => {
  test("says first that the status of all recordings is unknown, as the page does", async () => {
    const blind = fleetOf({ recordings: ["a", "b"].map((id) => recordingState(id, { readAt: 0 })) });
    const unreachable = { alert: firingAlert("ServiceUnreachable"), receivers: ["ops"] };
    const { address } = await serve({ fleet: async () => blind, alerts: async () => [unreachable] });
    expect((await lenswatch(["status", "--url", address])).stdout).toMatch(
      /^The status of all 2 recordings is unknown; 1 needs attention: 1 recording: service unreachable\.\n/,
    );
  });

  test("says that not everything was read in time, whatever needs attention", async () => {
    const evidence = {
      state: "partly" as const,
      known: 2,
      unread: 1,
      late: 0,
      isRare: false,
      unstored: 0,
      neverRead: 0,
    };
    const old = { ...fleet, evidence: { ...evidence, oldestAt: NOW, causes: [] } };
    const { address } = await serve({ fleet: async () => old });
    const { stdout } = await lenswatch(["status", "--url", address]);
    expect(stdout).toMatch(/^0 need attention; not everything was read in time\.\n/);
  });

  test("lists what is not well by location, the worst first; --all the others too", async () => {
    const { address } = await serve({ fleet: async () => fleet });
    expect((await lenswatch(["status", "--all", "--url", address])).stdout).toMatch(
      /\n {2}Till 10 +online +1 h +99.96 % +100 %\nloc-2 .*\n.*\n\n3 recordings: 1 offline, 1 unknown, 1 online\n/,
    );
    expect(await lenswatch(["status", "--url", address])).toEqual({
      stdout: `\
0 need attention.

  RECORDING  STATUS   FOR       QUALITY  UPTIME 24 H  ALERTS
Leeds · 1 offline, 1 online
  Till 2     offline  1 m 30 s        –         50 %  RecordingOffline (LowUptime)
loc-2 · 1 unknown
  rec-3      unknown  –               –            –

3 recordings: 1 offline, 1 unknown, 1 online; 1 not listed (--all)
An alert in brackets is pending.
`,
      stderr: "",
      exitCode: 0,
    });
  });

  test("says who acknowledged an alert, until when, and what is in maintenance", async () => {
    const alert = firingAlert("RecordingOffline", { severity: "critical" });
    const acknowledgement = { author: "dana", comment: "", at: NOW, until: NOW + 3_600_000 };
    const alerts = async () => [{ alert, receivers: ["ops"], acknowledgement }];
    const { address } = await serve({ fleet: async () => fleet, alerts });
    const { stdout } = await lenswatch(["status", "--url", address], { TZ: "Europe/London" });
    expect(stdout).toContain(" RecordingOffline [acknowledged by dana until 13:00 GMT] (LowUptime)\n");
    const maintenance = { reason: "maintenance", by: "stock-take" } as const;
    const planned = await serve({
      fleet: async () => fleet,
      alerts: async () => [{ alert, receivers: [], maintenance }],
    });
    const shown = await lenswatch(["status", "--url", planned.address]);
    expect(shown.stdout).toContain(" RecordingOffline [in maintenance] (LowUptime)\n");
  });

  describe("in a storm", () => {
    const at = (location_id: string, more = {}) => ({ location_id, severity: "critical", ...more });
    const offline = (recording_id: string, location = "loc-1") => {
      const labels = { alertname: "RecordingOffline", ...at(location, { recording_id }) };
      return recordingState(recording_id, {
        status: "offline",
        locationId: location,
        alerts: { a: alertState("RecordingOffline", { labels }) },
      });
    };
    const storm = fleetOf({
      recordings: [
        ...["a", "b", "c"].map((id) => offline(id)),
        offline("y1", "loc-2"),
        recordingState("y2", { locationId: "loc-2" }),
        recordingState("z1", { locationId: "loc-3" }),
      ],
      names: { a: "Leeds Till 1", y1: "York · Entrance, the one beside the escalators on the ground floor" },
      locations: [
        { id: "loc-1", name: "Leeds" },
        { id: "loc-2", name: "York" },
        { id: "loc-3", name: "Bath" },
      ],
    });
    const firing = [
      { alert: firingAlert("ServiceUnreachable", { severity: "critical" }), receivers: ["ops"] },
      { alert: firingAlert("LocationOffline", at("loc-1")), receivers: ["ops"] },
      ...["a", "b", "c"].map((recording_id) => ({
        alert: firingAlert("RecordingOffline", at("loc-1", { recording_id })),
        receivers: ["ops"],
        inhibitedBy: ["x"],
      })),
      {
        alert: firingAlert("RecordingOffline", at("loc-2", { recording_id: "y1" })),
        receivers: ["ops"],
        silencedBy: ["s"],
      },
    ];
    const storming = { fleet: async () => storm, alerts: async () => firing };

    test("alerts with long location ids are more than fit into one URL", async () => {
      const alerts = Array.from({ length: 20 }, (_, i) => ({
        alert: firingAlert("Flood", at(`${i}${"x".repeat(1_000)}`)),
        receivers: ["ops"],
      }));
      const { address } = await serve({ fleet: async () => storm, alerts: async () => [...firing, ...alerts] });
      const { stdout, stderr } = await lenswatch(["status", "--url", address]);
      expect(stderr).toBe("");
      expect(stdout.match(/^Flood /gm)).toHaveLength(20);
      expect(stdout).toContain("Leeds · 3 offline · LocationOffline for 3 m");
    });

    test("a location that explains its recordings is one line, after lenswatch's own trouble", async () => {
      const { address } = await serve(storming);
      const { stdout } = await lenswatch(["status", "--url", address]);
      const lines = stdout.split("\n").map((line) => line.replace(/^( {2}.*?) {2,}.*$/, "$1"));
      expect(lines).toEqual([
        "2 need attention: 1 recording: service unreachable, 1 recording: location offline; 1 silenced, 3 suppressed by another alert.",
        "",
        "  RECORDING",
        "ServiceUnreachable for 3 m",
        "Leeds · 3 offline · LocationOffline for 3 m",
        "York · 1 offline, 1 online",
        "  Entrance, the one beside the escalators on the ground floor",
        "",
        "6 recordings: 4 offline, 2 online; 5 not listed (--all)",
        "",
      ]);
      expect(stdout).toContain("  Entrance, the one beside the escalators on the ground floor  offline  1 h ");
      expect(stdout).toContain("RecordingOffline [silenced]\n");
      expect((await lenswatch(["status", "--location", "leeds", "--url", address])).stdout).toMatch(
        /^ {2}RECORDING .*\nLeeds · 3 offline\n(?: .*\n){2} {2}Till 1 .* RecordingOffline \[inhibited\]\n/,
      );
    });

    test("a camera server is a line that names it and counts, and what it explains is folded", async () => {
      const server = {
        ...firingAlert("CameraServerOffline", { severity: "critical", camera_server: "edge-7" }),
        subject: { kind: "group", id: "camera_server/edge-7" } as const,
        facts: { timezone: "UTC", problem: "camera_server_offline", offline: 4, of: 4, locations: 2 } as const,
      };
      const explained = (alert: typeof server | ReturnType<typeof firingAlert>) => ({
        alert,
        receivers: ["ops"],
        inhibitedBy: [fingerprint(server.labels)],
      });
      const alerts = async () => [
        { alert: server, receivers: ["ops"] },
        explained(firingAlert("LocationOffline", at("loc-1"))),
        ...["a", "b", "c"].map((id) => explained(firingAlert("RecordingOffline", at("loc-1", { recording_id: id })))),
        explained(firingAlert("RecordingOffline", at("loc-2", { recording_id: "y1" }))),
      ];
      const { address } = await serve({ fleet: async () => storm, alerts });
      const { stdout } = await lenswatch(["status", "--url", address]);
      expect(stdout.split("\n").slice(1)).toEqual([
        "",
        "Camera server edge-7 · 4 offline at 2 locations · CameraServerOffline for 3 m",
        "",
        "6 recordings: 4 offline, 2 online; 6 not listed (--all)",
        "",
      ]);
    });

    test("on 80 columns names are whole and less important columns go; colours unless NO_COLOR", async () => {
      const { address } = await serve(storming);
      const argv = ["status", "--url", address];
      const { stdout } = await lenswatch(argv, { NO_COLOR: "1" }, { isTTY: true, columns: 60 });
      expect(
        Math.max(
          ...stdout
            .split("\n")
            .slice(1)
            .map(({ length }) => length),
        ),
      ).toBeLessThanOrEqual(60);
      expect(stdout).not.toMatch(/UPTIME|\[31m|…/);
      const words = stdout.replaceAll(/\s+/g, " ");
      for (const word of "Entrance beside escalators ground floor RecordingOffline [silenced]".split(" "))
        expect(words).toContain(word);
      const coloured = await lenswatch(argv, {}, { isTTY: true, columns: 120 });
      expect(coloured.stdout).toContain("\u001b[31moffline\u001b[39m");
    });

    test("--watch redraws, and says since when a daemon that stopped does not answer", async () => {
      const { address, server } = await serve(storming);
      const frames: string[] = [];
      const shown = (text: string) => text.replaceAll("\u001b", "ESC");
      const ended = new AbortController();
      const onFrame = async (text: string) => {
        if (frames.push(shown(text)) === 2) await server.close();
        if (text.includes("No answer")) ended.abort();
      };
      const terminal = { isTTY: true, columns: 80, rows: 6, onFrame, signal: ended.signal };
      const { exitCode } = await lenswatch(["status", "--watch", "0.1", "--url", address], { TZ: "UTC" }, terminal);
      expect(exitCode).toBe(0);
      expect(frames[0]).toMatch(/^ESC\[2JESC\[H12:00:00 UTCESC\[K\n2 need attention/);
      expect(frames[1]).toMatch(/^ESC\[H12:00:00 UTC/);
      expect(frames.at(-1)).toMatch(
        /No answer since 12:00:00 UTC \(less than a second\): nothing answers at .*2 need/s,
      );
      for (const frame of frames) expect(frame.match(/\n/g)).toHaveLength(5);
    });

    test("--watch through a pipe appends, and needs a daemon at first", async () => {
      const { address, server } = await serve(storming);
      const ended = new AbortController();
      let frames = 0;
      const onFrame = () => {
        frames += 1;
        if (frames === 2) ended.abort();
      };
      const argv = ["status", "--watch", "0.1", "--url", address];
      const { stdout } = await lenswatch(argv, { TZ: "UTC" }, { onFrame, signal: ended.signal });
      expect(stdout.match(/^12:00:00 UTC$/gm)).toHaveLength(2);
      expect(stdout).not.toContain("\u001b");
      await server.close();
      expect((await lenswatch(argv)).exitCode).toBe(3);
      expect((await lenswatch([...argv, "--output", "json"])).exitCode).toBe(2);
    });
  });

  test("--only and --location leave the others out", async () => {
    const { address } = await serve({ fleet: async () => fleet });
    const only = await lenswatch(["status", "--url", address, "--only", "offline", "--output", "json"]);
    expect(JSON.parse(only.stdout)).toMatchObject([{ recording: "Till 2" }]);
    const there = await lenswatch(["status", "--url", address, "--location", "leeds", "--output", "json"]);
    expect(JSON.parse(there.stdout)).toMatchObject([{ recording: "Till 2" }, { recording: "Till 10" }]);
    const table = await lenswatch(["status", "--url", address, "--only", "offline"]);
    expect(table.stdout).toMatch(
      /\n1 recording: 1 offline\nAn alert in brackets is pending\.\nThe status of 1 more recording is unknown \(--only unknown\)\.\n$/,
    );
    const none = await lenswatch(["status", "--url", address, "--location", "leeds", "--only", "degraded"]);
    expect(none).toEqual({ stdout: "No matching recordings.\n", stderr: "", exitCode: 0 });
  });

  test("an unknown location is exit code 1 with similar names, never an empty list", async () => {
    const { address } = await serve({ fleet: async () => fleet });
    const wrong = (...argv: string[]) => lenswatch(["status", "--url", address, "--only", "offline", ...argv]);
    const near = await wrong("--location", "leed", "--output", "json");
    expect(near).toMatchObject({ stdout: "", exitCode: 1 });
    expect(near.stderr).toBe('lenswatch: no location has the id or name "leed"; similar:\n  loc-1  Leeds\n');
    expect(await wrong("--location", "\u001b[2Jnowhere at all")).toEqual({
      stdout: "",
      stderr: 'lenswatch: no location has the id or name "[2Jnowhere at all"; `lenswatch status` lists them\n',
      exitCode: 1,
    });
  });

  test("--output csv is safe to open in a spreadsheet", async () => {
    const names = {
      a: '=HYPERLINK("http://x")',
      b: 'say "hi", you',
      c: "+1",
      d: " @x",
      e: "line\nbreak",
      f: "\u001b[31mred\u009b\r\u202e",
      g: "\t=1",
    };
    const recordings = Object.keys(names).map((id) => recordingState(id));
    const { address } = await serve({ fleet: async () => fleetOf({ recordings, names }) });
    const { stdout } = await lenswatch(["status", "--url", address, "--output", "csv"]);
    const rest = '"loc-1","Leeds","online","2026-01-31T11:00:00.000Z","2026-01-31T11:59:47.500Z",0.92,,\n';
    expect(stdout.startsWith('"recordingId","recording","locationId","location","status","since","lastSeen",')).toBe(
      true,
    );
    expect(stdout).toContain(`"a","'=HYPERLINK(""http://x"")",${rest}`);
    expect(stdout).toContain(`"b","say ""hi"", you",${rest}`);
    expect(stdout).toContain(`"c","'+1",${rest}`);
    expect(stdout).toContain(`"d","' @x",${rest}`);
    expect(stdout).toContain(`"e","line\nbreak",${rest}`);
    expect(stdout).toContain(`"f","[31mred\n",${rest}`);
    expect(stdout).toContain(`"g","' =1",${rest}`);
  });

  test("asks only for what is not well, and for the numbers of the others", async () => {
    const large = largeFleet(5_000);
    let asked = 0;
    const { address } = await serve({
      fleet: async () => {
        asked += 1;
        return large;
      },
    });
    const { stdout } = await lenswatch(["status", "--url", address]);
    expect(stdout).toMatch(/\nShop \w+ · 1 offline, 4 online\n/);
    expect(stdout).toMatch(/\n5,000 recordings: 100 offline, 4900 online; 4900 not listed \(--all\)\n$/);
    expect(asked).toBe(1);
  });

  test("follows the pages to their end", async () => {
    const large = largeFleet(2_345);
    const { address } = await serve({ fleet: async () => large });
    const { stdout } = await lenswatch(["status", "--url", address, "--output", "json"]);
    expect(new Set(JSON.parse(stdout).map((row: { recordingId: string }) => row.recordingId)).size).toBe(2_345);
  });

  test.each([
    [["--only", "asleep"]],
    [["--output", "xml"]],
    [["--url", "lenswatch.example.com"]],
    [["--url", "ftp://lenswatch.example.com"]],
    [["--url", "http://dana:pw@lenswatch.example.com"]],
    [["Leeds"]],
  ])("%j is wrong usage", async (extra) => {
    const { exitCode, stdout, stderr } = await lenswatch(["status", ...extra]);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).not.toBe("");
    expect(stderr).not.toContain("dana:pw@");
  });
});

describe("lenswatch status --alerts", () => {
  const ops = (alert: ReturnType<typeof firingAlert>, by = {}) => ({ alert, receivers: ["ops"], ...by });
  const here = { severity: "critical", location: "Leeds", recording: "Leeds Till \u001b[2J1" };
  const offline = ops(firingAlert("RecordingOffline", here), { receivers: ["ops", "quiet"] });
  const longer = ops({ ...firingAlert("ServiceUnreachable"), startsAt: NOW - 3_600_000 });
  const handled = [
    ops(firingAlert("LowQuality"), { silencedBy: ["some-id"] }),
    ops(firingAlert("LowUptime"), { inhibitedBy: ["some-print"] }),
  ];
  const listed = async (alerts: object[], ...flags: string[]) => {
    const { address } = await serve({ fleet: async () => fleet, alerts: async () => alerts as (typeof offline)[] });
    return lenswatch(["status", "--alerts", "--url", address, ...flags]);
  };

  test("prints those that need somebody by location, the worst first", async () => {
    expect(await listed([offline, longer, ...handled])).toEqual({
      stdout: `\
2 need attention: 1 recording: recording offline, 1 recording: service unreachable; 1 silenced, 1 suppressed by another alert.

  RECORDING  ALERT               SEVERITY  FOR  STATE   RECEIVERS  FINGERPRINT
Leeds
  Till [2J1  RecordingOffline    critical  3 m  active  ops quiet  ${fingerprint(offline.alert.labels)}
No location
  –          ServiceUnreachable  –         1 h  active  ops        ${fingerprint(longer.alert.labels)}

2 alerts not listed (--all)
`,
      stderr: "",
      exitCode: 0,
    });
    const { stdout } = await listed([offline, longer, ...handled], "--all");
    expect(stdout).toMatch(/ LowQuality .* silenced /);
    expect(stdout).toMatch(/ LowUptime .* inhibited /);
  });

  test.each([
    [[], ["RecordingOffline", "ServiceUnreachable"]],
    [["--all"], ["LowQuality", "LowUptime", "RecordingOffline", "ServiceUnreachable"]],
  ])("%j gives %j as JSON", async (flags, expected) => {
    const { stdout } = await listed([offline, longer, ...handled], "--output", "json", ...flags);
    const names = JSON.parse(stdout).map(({ labels }: { labels: { alertname: string } }) => labels.alertname);
    expect(names.sort()).toEqual(expected);
  });

  test.each([
    ["of several locations", { organisation: "Acme", timezone: "Europe/London" }, "No location"],
    ["of one location", { location: "Leeds", location_id: "leeds", organisation: "Acme" }, "Leeds"],
  ])("names the camera server %s", async (_, more, heading) => {
    const { stdout } = await listed([ops(firingAlert("CameraServerOffline", { camera_server: "edge-7", ...more }))]);
    expect(stdout).toMatch(new RegExp(`^${heading}\\n +camera server edge-7 +CameraServerOffline`, "m"));
  });

  test("says what is not listed where nothing needs somebody, and that nothing is active", async () => {
    const { stdout } = await listed(handled);
    expect(stdout).toBe(
      "0 need attention; 1 silenced, 1 suppressed by another alert.\n\n2 alerts not listed (--all)\n",
    );
    expect((await listed([])).stdout).toBe("No active alerts.\n");
    for (const flags of [["--output", "csv"], ["--only", "offline"], ["--watch"]])
      expect((await listed([], ...flags)).exitCode, flags.join()).toBe(2);
  });
});

describe("finding the daemon", () => {
  test("by http.listen of the configuration, with its token", async () => {
    const { address } = await serve({ fleet: async () => fleet, readToken: "read-me-if-you-can" });
    const file = await configuration(`http:\n  listen: ${new URL(address).host}\n  read_token: read-me-if-you-can\n`);
    expect(await lenswatch(["status", "--config", file])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await lenswatch(["status"], { LENSWATCH_CONFIG: file })).toMatchObject({ exitCode: 0 });
  });

  test("though variables and secret files that only the daemon reads are not there", async () => {
    const { address } = await serve({ fleet: async () => fleet, readToken: "read-me-if-you-can" });
    const daemons = (http: string) =>
      configuration(
        `http:\n  listen: ${new URL(address).host}\n${http}heartbeat: { url: "\${HEARTBEAT}" }\nredis: { url_file: /nowhere/redis }\n`,
      );
    const file = await daemons(`  read_token: \${READ}\n`);
    expect(await lenswatch(["status", "--config", file], { READ: "read-me-if-you-can" })).toMatchObject({
      stdout: expect.stringContaining("Till 2"),
      stderr: "",
      exitCode: 0,
    });
    const without = await lenswatch(["status", "--config", file]);
    expect(without).toMatchObject({ stdout: "", exitCode: 1 });
    expect(without.stderr).toContain(`http.read_token: found \${READ}, not set in the environment`);
  });

  test("though other parts of the configuration are wrong", async () => {
    const { address } = await serve({ fleet: async () => fleet });
    const file = await configuration(
      `http: { listen: "${new URL(address).host}" }\nwatch: { locatoins: all }\nrules: 7\n`,
    );
    expect(await lenswatch(["status", "--config", file])).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("by http.external_url before http.listen", async () => {
    const { address } = await serve({ fleet: async () => fleet });
    const file = await configuration(`http:\n  listen: 127.0.0.1:1\n  external_url: ${address}/\n`);
    expect(await lenswatch(["status", "--config", file])).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test.each([
    ["LENSWATCH_ADMIN_TOKEN", "boss"],
    ["LENSWATCH_READ_TOKEN", "read-me"],
  ])("with the token in %s", async (name, token) => {
    const { address } = await serve({ fleet: async () => fleet, readToken: "read-me", adminToken: "boss" });
    expect(await lenswatch(["status", "--url", address], { [name]: token })).toMatchObject({ exitCode: 0 });
  });

  const setRead = "set LENSWATCH_READ_TOKEN to the daemon's http.read_token";
  test.each([
    [{}, "requires a token", setRead],
    [{ LENSWATCH_READ_TOKEN: "hunter2" }, "does not know the token in LENSWATCH_READ_TOKEN", setRead],
    [
      { LENSWATCH_READ_TOKEN: "read-me", LENSWATCH_ADMIN_TOKEN: "hunter2" },
      "does not know the token in LENSWATCH_ADMIN_TOKEN",
      "correct or unset LENSWATCH_ADMIN_TOKEN",
    ],
  ] as const)("a daemon that requires a token, given %j: the message names the variable", async (env, found, next) => {
    const { address } = await serve({ readToken: "read-me" });
    const stderr = `lenswatch: ${address} ${found}: ${next}\n`;
    expect(await lenswatch(["status", "--url", address], env)).toEqual({ stdout: "", stderr, exitCode: 1 });
  });

  test("a token of the configuration that the daemon does not know", async () => {
    const { address } = await serve({ readToken: "read-me" });
    const file = await configuration(`http:\n  external_url: ${address}\n  read_token: another-token-12345\n`);
    const { stderr } = await lenswatch(["status", "--config", file]);
    expect(stderr).toBe(`lenswatch: ${address} does not know the token in the configuration: ${setRead}\n`);
  });

  test("an invalid configuration is reported, and --url works without it", async () => {
    const file = await configuration("http:\n  listen: nowhere\n");
    const { exitCode, stderr } = await lenswatch(["status"], { LENSWATCH_CONFIG: file });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('http.listen: found "nowhere", expected');
    expect(stderr).toContain(`lenswatch: ${file} cannot be used to find the daemon: give --url,`);
    const { address } = await serve({ fleet: async () => fleet });
    const asked = await lenswatch(["status", "--url", address], { LENSWATCH_CONFIG: file });
    expect(asked).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("without a configuration the message asks for --url or --config", async () => {
    const { exitCode, stderr } = await lenswatch(["status"], { LENSWATCH_CONFIG: "/nowhere/lenswatch.yaml" });
    expect([exitCode, stderr]).toEqual([
      3,
      "lenswatch: /nowhere/lenswatch.yaml does not exist, so the daemon's address is unknown: give --url or --config\n",
    ]);
  });
});

describe("a daemon that does not answer as it should", () => {
  test.skipIf(!hasOpenssl)(
    "has a certificate that is not trusted: how to trust it (skipped without openssl)",
    async () => {
      const pki = makePki();
      const trusted = getCACertificates("default");
      onTestFinished(() => setDefaultCACertificates(trusted));
      const refusedOf = async (pair: typeof pki.server) => {
        const server = createTlsServer(pair).listen(0, "127.0.0.1");
        onTestFinished(() => void server.close());
        await once(server, "listening");
        const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const { exitCode, stderr } = await lenswatch(["status", "--url", url]);
        expect(exitCode).toBe(3);
        return stderr.replace(url, "URL");
      };
      expect(await refusedOf(pki.server)).toMatch(
        /^lenswatch: the certificate of URL is not trusted \(\w+\): give the file of its authority by NODE_EXTRA_CA_CERTS\n$/,
      );
      setDefaultCACertificates([pki.ca]);
      expect(await refusedOf(pki.elsewhere)).toMatch(/ALTNAME_INVALID\): give --url with a name that is on it\n$/);
    },
  );

  test.skipIf(!hasOpenssl)("is asked by http for https, or the other way (skipped without openssl)", async () => {
    const server = createTlsServer(makePki().server).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const secret = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const clear = (await answering(200, "{}")).replace("http:", "https:");
    for (const url of [secret, clear]) {
      const { exitCode, stderr } = await lenswatch(["status", "--url", url]);
      expect([exitCode, stderr]).toEqual([3, expect.stringContaining("check whether --url needs http or https")]);
    }
  });

  test("is not there: exit code 3 and one sentence", async () => {
    const { address, server } = await serve();
    await server.close();
    expect(await lenswatch(["status", "--url", address])).toEqual({
      stdout: "",
      stderr: `lenswatch: nothing answers at ${address}: start the daemon, or name another with --url\n`,
      exitCode: 3,
    });
  });

  test("is something else", async () => {
    for (const [status, body] of [
      [200, "<html>"],
      [200, "{}"],
      [404, "no"],
    ] as const) {
      const url = await answering(status, body);
      const { exitCode, stdout, stderr } = await lenswatch(["status", "--url", url]);
      expect([exitCode, stdout]).toEqual([3, ""]);
      expect(stderr).toContain(`what answers at ${url} is not`);
      expect(stderr.trim().split("\n")).toHaveLength(1);
    }
  });

  test("says itself what is wrong", async () => {
    const { address } = await serve({ fleet: () => Promise.reject(new Error("x")) });
    const { exitCode, stderr } = await lenswatch(["status", "--url", address]);
    expect(exitCode).toBe(3);
    expect(stderr).toBe(`lenswatch: ${address} answered 500: This is a fault of lenswatch; its log says more.\n`);
  });
});
