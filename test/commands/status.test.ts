import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { fingerprint } from "../../src/alerting/fingerprint.ts";
import { receivers, service } from "../config/text.ts";
import { firingAlert, serve } from "../http/serve.ts";
import { alertState, fleetOf, largeFleet, NOW, recordingState } from "../metrics/fleets.ts";
import { hasOpenssl, makePki } from "../support/pki.ts";
import { configuration, lenswatch } from "./run-command.ts";

type Deps = NonNullable<Parameters<typeof serve>[0]>;

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

async function status(deps: Deps, argv: readonly string[] = [], ...around: [env?: object, terminal?: object]) {
  const { address } = await serve({ fleet: async () => fleet, ...deps });
  const [env = {}, terminal] = around;
  return lenswatch(["status", "--url", address, ...argv], { TZ: "UTC", ...env }, terminal);
}

const ops = (alert: ReturnType<typeof firingAlert>, by = {}) => ({ alert, receivers: ["ops"], ...by });
const alertsOf = (...alerts: ReturnType<typeof ops>[]): Deps => ({ alerts: async () => alerts });

const at = (location_id: string, more = {}) => ({ location_id, severity: "critical", ...more });
const offlineAt = (recording_id: string, locationId = "loc-1") => {
  const labels = { alertname: "RecordingOffline", ...at(locationId, { recording_id }) };
  const alerts = { a: alertState("RecordingOffline", { labels }) };
  return recordingState(recording_id, { status: "offline", locationId, alerts });
};
const stormed = fleetOf({
  recordings: [
    ...["a", "b", "c"].map((id) => offlineAt(id)),
    offlineAt("y1", "loc-2"),
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
const offline = (recording_id: string, location = "loc-1", by = {}) =>
  ops(firingAlert("RecordingOffline", at(location, { recording_id })), by);
const firing = [
  ops(firingAlert("ServiceUnreachable", { severity: "critical" })),
  ops(firingAlert("LocationOffline", at("loc-1"))),
  ...["a", "b", "c"].map((id) => offline(id, "loc-1", { inhibitedBy: ["x"] })),
  offline("y1", "loc-2", { silencedBy: ["s"] }),
];
const storm: Deps = { fleet: async () => stormed, ...alertsOf(...firing) };
const server = {
  ...firingAlert("CameraServerOffline", { severity: "critical", camera_server: "edge-7" }),
  subject: { kind: "group", id: "camera_server/edge-7" } as const,
  facts: { timezone: "UTC", problem: "camera_server_offline", offline: 4, of: 4, locations: 2 } as const,
};
const byServer = { inhibitedBy: [fingerprint(server.labels)] };
const serverStorm: Deps = {
  ...storm,
  ...alertsOf(
    ops(server),
    ops(firingAlert("LocationOffline", at("loc-1")), byServer),
    ...["a", "b", "c"].map((id) => offline(id, "loc-1", byServer)),
    offline("y1", "loc-2", byServer),
  ),
};
const evidence = { state: "partly", known: 2, unread: 1, late: 0, isRare: false, unstored: 0, neverRead: 0 } as const;
const unread = { ...fleet, evidence: { ...evidence, oldestAt: NOW, causes: [] } };
const blind = fleetOf({ recordings: ["a", "b"].map((id) => recordingState(id, { readAt: 0 })) });
const silent = fleetOf({
  recordings: ["offline", "online", "degraded"].map((status) =>
    recordingState(status, { status: status as "online", readAt: NOW - 600_000 }),
  ),
});
const critical = firingAlert("RecordingOffline", { severity: "critical" });
const acknowledgement = { author: "dana", comment: "", at: NOW, until: NOW + 3_600_000 };
const maintenance = { reason: "maintenance", by: "stock-take" } as const;

const here = { severity: "critical", location: "Leeds", recording: "Leeds Till \u001b[2J1" };
const handled = [
  ops(firingAlert("LowQuality"), { silencedBy: ["some-id"] }),
  ops(firingAlert("LowUptime"), { inhibitedBy: ["some-print"] }),
];
const needed = [
  ops(firingAlert("RecordingOffline", here), { receivers: ["ops", "quiet"] }),
  ops({ ...firingAlert("ServiceUnreachable"), startsAt: NOW - 3_600_000 }),
];
const cameraServer = (more: Record<string, string>) =>
  alertsOf(ops({ ...server, labels: { ...server.labels, ...more } }));

const spreadsheet = {
  a: '=HYPERLINK("http://x")',
  b: 'say "hi", you',
  c: "+1",
  d: " @x",
  e: "line\nbreak",
  f: "\u001b[31mred\u009b\r\u202e",
  g: "\t=1",
};
const recordings = Object.keys(spreadsheet).map((id) => recordingState(id));

describe("lenswatch status prints", () => {
  test.each<[string, Deps, string[]?, object?, object?]>([
    ["what is not well by location, the worst first", {}],
    ["--all: the others too", {}, ["--all"]],
    ["first that the status of all recordings is unknown", { fleet: async () => blind, ...alertsOf(...firing) }],
    ["one line while nothing is read, and what fires", { fleet: async () => silent, ...alertsOf(ops(critical)) }],
    [
      "each recording that is not read, with its last known status, on request",
      { fleet: async () => silent },
      ["--all"],
    ],
    ["those of a location on request", { fleet: async () => silent }, ["--location", "leeds"]],
    ["that not everything was read in time, whatever needs attention", { fleet: async () => unread }],
    [
      "who acknowledged an alert, until when",
      alertsOf(ops(critical, { acknowledgement })),
      [],
      { TZ: "Europe/London" },
    ],
    ["what is in maintenance", alertsOf(ops(critical, { receivers: [], maintenance }))],
    ["only one status, and how many have none that is known", {}, ["--only", "offline"]],
    ["that nothing matches", {}, ["--location", "leeds", "--only", "degraded"]],
    ["a location that explains its recordings as one line, after lenswatch's own trouble", storm],
    ["each recording of the location that is asked for", storm, ["--location", "leeds"]],
    ["a camera server as a line that counts, and folds what it explains", serverStorm],
    ["whole names and fewer columns in 60", storm, [], { NO_COLOR: "1" }, { isTTY: true, columns: 60 }],
    ["colours on a terminal", storm, [], {}, { isTTY: true, columns: 120 }],
    [
      "cells that are safe in a spreadsheet",
      { fleet: async () => fleetOf({ recordings, names: spreadsheet }) },
      ["--output", "csv"],
    ],
    ["alerts that need somebody by location, the worst first", alertsOf(...needed, ...handled), ["--alerts"]],
    ["--alerts --all: the others too", alertsOf(...needed, ...handled), ["--alerts", "--all"]],
    ["--alerts: what is not listed where nothing needs somebody", alertsOf(...handled), ["--alerts"]],
    ["--alerts: who acknowledged one", alertsOf(ops(critical, { acknowledgement })), ["--alerts", "--all"]],
    ["--alerts: that none is active", alertsOf(), ["--alerts"]],
    ["--alerts: a camera server of several locations", cameraServer({ timezone: "Europe/London" }), ["--alerts"]],
    [
      "--alerts: a camera server of one location",
      cameraServer({ location: "Leeds", organisation: "Acme" }),
      ["--alerts"],
    ],
    [
      "--alerts: a location whose recordings share a camera server",
      alertsOf(ops(firingAlert("LocationOffline", at("loc-1", { location: "Leeds", camera_server: "edge-7" })))),
      ["--alerts"],
    ],
  ])("%s", async (_, deps, argv, env, terminal) => {
    const { stdout, stderr, exitCode } = await status(deps, argv, env, terminal);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(`\n${stdout.replaceAll("\u001b", "ESC")}`).toMatchSnapshot();
  });

  test("alerts with long location ids, though they are more than fit into one URL", async () => {
    const flood = Array.from({ length: 20 }, (_, i) => ops(firingAlert("Flood", at(`${i}${"x".repeat(1_000)}`))));
    const { stdout, stderr } = await status({ ...storm, ...alertsOf(...firing, ...flood) });
    expect(stderr).toBe("");
    expect(stdout.match(/^Flood /gm)).toHaveLength(20);
  });

  test.each<[string[], Deps, string, string[]]>([
    [["--only", "offline"], {}, "recording", ["Till 2"]],
    [["--location", "leeds"], {}, "recording", ["Till 2", "Till 10"]],
    [
      ["--alerts"],
      alertsOf(...needed, ...handled),
      "fingerprint",
      needed.map(({ alert }) => fingerprint(alert.labels)),
    ],
  ])("with %j the same rows as JSON", async (argv, deps, key, expected) => {
    const rows: Record<string, string>[] = JSON.parse((await status(deps, [...argv, "--output", "json"])).stdout);
    expect(rows.map((row) => row[key]).sort()).toEqual(expected.toSorted());
  });

  test("what is not well in a large fleet, and all of it, page by page", async () => {
    const large = largeFleet(2_345);
    const read = async () => large;
    expect((await status({ fleet: read })).stdout).toMatch(/\n2,345 recordings: 47 offline, 2298 online; 2298 not /);
    const rows = JSON.parse((await status({ fleet: read }, ["--output", "json"])).stdout);
    expect(new Set(rows.map((row: { recordingId: string }) => row.recordingId)).size).toBe(2_345);
  });
});

test.each([
  ["leed", ["--output", "json"], '"leed"; similar:\n  Leeds\n'],
  ["\u001b[2Jnowhere at all", [], '"[2Jnowhere at all"; `lenswatch status` lists them\n'],
])("the unknown location %j is exit code 1, never an empty list", async (location, more, said) => {
  const stderr = `lenswatch: no location has the id or name ${said}`;
  const argv = ["--only", "offline", "--location", location, ...more];
  expect(await status({}, argv)).toEqual({ stdout: "", stderr, exitCode: 1 });
});

test.each([
  [["--only", "asleep"]],
  [["--output", "xml"]],
  [["--url", "lenswatch.example.com"]],
  [["--url", "ftp://lenswatch.example.com"]],
  [["--url", "http://dana:pw@lenswatch.example.com"]],
  [["Leeds"]],
  [["--alerts", "--output", "csv"]],
  [["--alerts", "--only", "offline"]],
  [["--alerts", "--watch"]],
  [["--watch", "0.1", "--output", "json"]],
])("%j is wrong usage", async (extra) => {
  const { exitCode, stdout, stderr } = await status({}, extra);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).not.toBe("");
  expect(stderr).not.toContain("dana:pw@");
});

describe("--watch", () => {
  test("redraws, and says since when a daemon that stopped does not answer", async () => {
    const { address, server } = await serve(storm);
    const frames: string[] = [];
    const ended = new AbortController();
    const onFrame = async (text: string) => {
      if (frames.push(text.replaceAll("\u001b", "ESC")) === 2) await server.close();
      if (text.includes("No answer")) ended.abort();
    };
    const terminal = { isTTY: true, columns: 80, rows: 6, onFrame, signal: ended.signal };
    const argv = ["status", "--watch", "0.1", "--url", address];
    expect((await lenswatch(argv, { TZ: "UTC" }, terminal)).exitCode).toBe(0);
    expect(frames[0]).toMatch(/^ESC\[2JESC\[H12:00:00 UTCESC\[K\n✕ 2 need attention/);
    expect(frames[1]).toMatch(/^ESC\[H12:00:00 UTC/);
    expect(frames.at(-1)).toMatch(/No answer since 12:00:00 UTC \(1 s\): nothing answers at .*2 need/s);
    for (const frame of frames) expect(frame.match(/\n/g)).toHaveLength(5);
    expect((await lenswatch(argv)).exitCode, "it never answered").toBe(3);
  });

  test("appends through a pipe", async () => {
    const ended = new AbortController();
    let frames = 0;
    const onFrame = () => {
      frames += 1;
      if (frames === 2) ended.abort();
    };
    const { stdout } = await status(storm, ["--watch", "0.1"], {}, { onFrame, signal: ended.signal });
    expect(stdout.match(/^12:00:00 UTC$/gm)).toHaveLength(2);
    expect(stdout).not.toContain("\u001b");
  });
});

describe("finding the daemon", () => {
  const token = "read-me-if-you-can";
  const served = async (http: (host: string, address: string) => string) => {
    const { address } = await serve({ fleet: async () => fleet, readToken: token });
    return configuration(service + receivers + http(new URL(address).host, address));
  };

  test.each<[string, (host: string, address: string) => string]>([
    ["by http.listen", (host) => `http: { listen: "${host}", read_token: ${token} }`],
    [
      "by http.external_url before it",
      (_, url) => `http: { listen: 127.0.0.1:1, external_url: ${url}/, read_token: ${token} }`,
    ],
    [
      "though other parts are wrong",
      (host) => `http: { listen: "${host}", read_token: ${token} }\nwatch: { locatoins: all }\nrules: 7`,
    ],
    [
      "though variables and files that only the daemon reads are not there",
      (host) =>
        `http: { listen: "${host}", read_token: "\${READ}" }\nheartbeat: { url: "\${HEARTBEAT}" }\nredis: { url_file: /nowhere }`,
    ],
  ])("%s", async (_, http) => {
    const file = await served(http);
    expect(await lenswatch(["status"], { LENSWATCH_CONFIG: file, READ: token })).toMatchObject({
      stderr: "",
      exitCode: 0,
    });
  });

  test("needs the variable of its token", async () => {
    const file = await served((host) => `http: { listen: "${host}", read_token: "\${READ}" }`);
    const stderr = expect.stringContaining(`http.read_token: found \${READ}, not set in the environment`);
    expect(await lenswatch(["status", "--config", file])).toEqual({ stdout: "", stderr, exitCode: 1 });
  });

  const setRead = "set LENSWATCH_READ_TOKEN to the daemon's http.read_token";
  test.each([
    [{ LENSWATCH_ADMIN_TOKEN: "boss" }, undefined, ""],
    [{ LENSWATCH_READ_TOKEN: "read-me" }, undefined, ""],
    [{}, "requires a token", setRead],
    [{ LENSWATCH_READ_TOKEN: "hunter2" }, "does not know the token in LENSWATCH_READ_TOKEN", setRead],
    [
      { LENSWATCH_READ_TOKEN: "read-me", LENSWATCH_ADMIN_TOKEN: "hunter2" },
      "does not know the token in LENSWATCH_ADMIN_TOKEN",
      "correct or unset LENSWATCH_ADMIN_TOKEN",
    ],
  ])("with the tokens %j", async (env, found, next) => {
    const { address } = await serve({ fleet: async () => fleet, readToken: "read-me", adminToken: "boss" });
    const stderr = found ? `lenswatch: ${address} ${found}: ${next}\n` : "";
    expect(await lenswatch(["status", "--url", address], env)).toMatchObject({ exitCode: found ? 1 : 0, stderr });
  });

  test("LENSWATCH_URL names it, unless --url does", async () => {
    const { address } = await serve({ fleet: async () => fleet });
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("LENSWATCH_URL", address);
    expect(await lenswatch(["status"])).toMatchObject({ exitCode: 0, stderr: "" });
    vi.stubEnv("LENSWATCH_URL", "http://127.0.0.1:9");
    expect(await lenswatch(["status", "--url", address])).toMatchObject({ exitCode: 0, stderr: "" });
    expect((await lenswatch(["status"])).stderr).toContain("127.0.0.1:9");
  });

  test("an invalid configuration is reported, and --url works without it", async () => {
    const file = await configuration(`${service}${receivers}http: { listen: nowhere }\n`);
    const { exitCode, stderr } = await lenswatch(["status"], { LENSWATCH_CONFIG: file });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('http.listen: found "nowhere", expected');
    expect(stderr).toContain(`lenswatch: ${file} cannot be used to find the daemon: give --url,`);
    expect(await status({}, [], { LENSWATCH_CONFIG: file })).toMatchObject({ exitCode: 0, stderr: "" });
    const without = await lenswatch(["status"], { LENSWATCH_CONFIG: "/nowhere/lenswatch.yaml" });
    expect(without).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("give --url or --config") });
  });
});

describe("a daemon that does not answer as it should", () => {
  const secure = async (pair: ReturnType<typeof makePki>["server"]) => {
    const server = createTlsServer(pair).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  /** A server that answers every request alike. */
  async function answering(status: number, body: string): Promise<string> {
    const server = createServer((_, response) => response.writeHead(status).end(body)).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function refusalOf(url: string): Promise<string> {
    const { stdout, stderr, exitCode } = await lenswatch(["status", "--url", url]);
    expect({ stdout, exitCode, lines: stderr.match(/\n/g)?.length }).toEqual({ stdout: "", exitCode: 3, lines: 1 });
    return stderr.replaceAll(url, "URL");
  }

  test.skipIf(!hasOpenssl)(
    "has a certificate that is not trusted, or needs https or http (skipped without openssl)",
    async () => {
      const pki = makePki();
      const trusted = getCACertificates("default");
      onTestFinished(() => setDefaultCACertificates(trusted));
      const secret = await secure(pki.server);
      expect(await refusalOf(secret)).toMatch(
        /^lenswatch: the certificate of URL is not trusted \(\w+\): give the file of its authority by NODE_EXTRA_CA_CERTS\n$/,
      );
      const clear = await answering(200, "{}");
      for (const url of [secret.replace("https:", "http:"), clear.replace("http:", "https:")])
        expect(await refusalOf(url)).toContain("check whether --url needs http or https");
      setDefaultCACertificates([pki.ca]);
      const elsewhere = await refusalOf(await secure(pki.elsewhere));
      expect(elsewhere).toMatch(/ALTNAME_INVALID\): give --url with a name that is on it\n$/);
    },
  );

  test("is not there, or says itself what is wrong", async () => {
    const { address, server } = await serve({ fleet: () => Promise.reject(new Error("x")) });
    const fault = "URL answered 500: This is a fault of lenswatch; its log says more.";
    expect(await refusalOf(address)).toBe(`lenswatch: ${fault}\n`);
    await server.close();
    const next = "start the daemon, or name another with --url";
    expect(await refusalOf(address)).toBe(`lenswatch: nothing answers at URL: ${next}\n`);
  });

  test.each([
    [200, "<html>"],
    [200, "{}"],
    [404, "no"],
  ])("is something else, with %d %s", async (status, body) => {
    expect(await refusalOf(await answering(status, body))).toContain("what answers at URL is not");
  });
});
