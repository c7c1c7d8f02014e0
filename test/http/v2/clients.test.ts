/**
 * What each client of Alertmanager's asks, in its own words, and what it dereferences in the answer; then the traps they
 * fall into, a row each. amtool itself is in `amtool*.test.ts`.
 */

import { Registry } from "prom-client";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { silentLogger } from "../../../src/lib/log.ts";
import { createExposition } from "../../../src/metrics/exposition.ts";
import { createMetrics } from "../../../src/metrics/metrics.ts";
import { NOW } from "../../metrics/fleets.ts";
import { firingAlert, serve } from "../serve.ts";
import { holdsInMemory } from "../silences.ts";

const admin = { authorization: "Bearer s3cret", "content-type": "application/json" };
const iso = (at: number) => new Date(at).toISOString();
const clock = { now: () => NOW };

async function open() {
  const registry = new Registry();
  const known = {
    endpoints: [],
    outcomes: [],
    protocolErrors: [],
    suppressReasons: [],
    queues: [],
    heartbeats: [],
    integrations: [],
  };
  createMetrics(registry, { version: "1.2.3", known, processMetrics: false });
  const { address, get } = await serve({
    ...holdsInMemory(clock).deps,
    adminToken: "s3cret",
    externalUrl: "https://lenswatch.example.com",
    alerts: async () => [{ alert: firingAlert("RecordingOffline", { severity: "critical" }), receivers: ["ops"] }],
    metrics: createExposition({ registry, log: silentLogger, fleet: async () => undefined }),
  });
  const send = (method: string, path: string, body?: unknown) =>
    fetch(address + path, { method, headers: admin, ...(body !== undefined && { body: JSON.stringify(body) }) });
  return { address, get, send };
}

const silence = (differing: object = {}) => ({
  matchers: [{ name: "alertname", value: "RecordingOffline", isRegex: false, isEqual: true }],
  startsAt: iso(NOW),
  endsAt: iso(NOW + 3_600_000),
  createdBy: "dana",
  comment: "known",
  ...differing,
});

describe("Karma", () => {
  test("finds a semantic version of at least 0.22 among the metrics", async () => {
    const { get } = await open();
    const text = await (await get("/metrics")).text();
    const [, major, minor] = /^alertmanager_build_info\{version="(\d+)\.(\d+)\.\d+"\} 1$/m.exec(text) ?? [];
    expect(Number(major) * 1_000 + Number(minor)).toBeGreaterThanOrEqual(22);
  });

  test("reads groups and silences without parameters, makes a silence and ends it", async () => {
    const { get, send } = await open();
    const [group] = (await (await get("/api/v2/alerts/groups")).json()) as Record<string, unknown>[];
    expect(Object.keys(group ?? {}).sort()).toEqual(["alerts", "labels", "receiver", "routeLabels"]);
    const made = await send("POST", "/api/v2/silences", silence());
    const { silenceID } = (await made.json()) as { silenceID: string };
    expect(await (await get("/api/v2/silences")).json()).toMatchObject([
      { id: silenceID, status: { state: "active" }, annotations: {}, updatedAt: iso(NOW) },
    ]);
    const changed = await send("POST", "/api/v2/silences", silence({ id: silenceID, comment: "longer" }));
    expect(await changed.json()).toEqual({ silenceID });
    expect((await send("DELETE", `/api/v2/silence/${silenceID}`)).status).toBe(200);
    expect(await (await get("/api/v2/silences")).json()).toMatchObject([{ status: { state: "expired" } }]);
  });

  test("of older versions reads the status", async () => {
    const { get } = await open();
    expect(await (await get("/api/v2/status")).json()).toMatchObject({
      cluster: { peers: [] },
      versionInfo: { version: "0.34.0" },
    });
  });
});

describe("Grafana", () => {
  test("takes this for Prometheus' Alertmanager, not for Mimir's", async () => {
    const { get } = await open();
    expect((await get("/alertmanager/api/v2/status")).status).toBe(404);
    expect((await get("/api/v2/status")).status).toBe(200);
    expect((await get("/api/v1/status/buildinfo")).status).toBe(404);
  });

  test("reads the configuration as YAML, and everything else through its proxy, the query kept", async () => {
    const { get } = await open();
    const { config } = (await (await get("/api/v2/status")).json()) as { config: { original: string } };
    expect(parse(config.original)).toMatchObject({ route: { receiver: "ops" }, receivers: [{ name: "ops" }] });
    for (const path of [
      "/api/v2/silences",
      "/api/v2/alerts?active=true&silenced=true&inhibited=true&filter=severity%3D%22critical%22",
      "/api/v2/alerts/groups?active=true&silenced=true&inhibited=true&receiver=ops",
      "/api/v2/receivers",
    ]) {
      const answer = await get(path);
      expect([path, answer.status, Array.isArray(await answer.json())]).toEqual([path, 200, true]);
    }
  });
});

describe("no client falls into", () => {
  test.each([
    ["/api/v2/alerts?filter=%7B", "GET", undefined, 400],
    ["/api/v2/alerts/groups?receiver=(", "GET", undefined, 400],
    ["/api/v2/silences?filter=x", "GET", undefined, 400],
    ["/api/v2/receivers?receiver_matchers=x", "GET", undefined, 400],
    ["/api/v2/silence/5bd3a7a0-0000-4000-8000-000000000000", "GET", undefined, 404],
    ["/api/v2/silence/none", "DELETE", undefined, 404],
    ["/api/v2/silences", "POST", { id: "5bd3a7a0-0000-4000-8000-000000000000", ...silence() }, 404],
    ["/api/v2/silences", "POST", {}, 400],
    ["/api/v2/alerts", "POST", [{}], 400],
    ["/api/v2/nothing", "GET", undefined, 404],
  ])("an error that is no JSON string: %s (%s)", async (path, method, body, status) => {
    const { send } = await open();
    const answer = await send(method, path, body);
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
    expect(typeof (await answer.json())).toBe("string");
  });

  test.each([
    ["/api/v2/alerts", "POST", [{ labels: { a: "b" } }]],
    ["/api/v2/silence/ID", "DELETE", undefined],
  ])("a body where there is none: %s (%s)", async (path, method, body) => {
    const { send } = await open();
    const { silenceID } = (await (await send("POST", "/api/v2/silences", silence())).json()) as { silenceID: string };
    const answer = await send(method, path.replace("ID", silenceID), body);
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  });

  test("an id that is no UUID", async () => {
    const { send } = await open();
    const { silenceID } = (await (await send("POST", "/api/v2/silences", silence())).json()) as { silenceID: string };
    expect(silenceID).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test("a list that is null, or a required field that is not there", async () => {
    const { get, send } = await open();
    await send("POST", "/api/v2/silences", silence());
    for (const path of ["alerts", "alerts/groups", "silences", "receivers", "status"]) {
      const body = (await (await get(`/api/v2/${path}`)).json()) as unknown;
      expect([path, missing(path, body)]).toEqual([path, []]);
    }
    expect(JSON.stringify(await (await get("/api/v2/alerts")).json())).not.toContain("null");
  });

  test("an answer that is kept by somebody in between", async () => {
    const { get } = await open();
    expect((await get("/api/v2/alerts")).headers.get("cache-control")).toBe("no-store");
  });

  test("a page of another origin that reads what fires here", async () => {
    const { address } = await open();
    const origin = { origin: "https://evil.example" };
    const answer = await fetch(`${address}/api/v2/alerts`, { headers: origin });
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
    const asked = await fetch(`${address}/api/v2/silences`, { method: "OPTIONS", headers: origin });
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([404, null]);
  });
});

/** What api/v2/openapi.yaml of Alertmanager requires, by the answer it is in. */
const REQUIRED: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  alerts: {
    "": ["labels", "annotations", "receivers", "fingerprint", "startsAt", "updatedAt", "endsAt", "status"],
    status: ["state", "silencedBy", "inhibitedBy", "mutedBy"],
  },
  "alerts/groups": { "": ["labels", "routeLabels", "receiver", "alerts"], receiver: ["name"] },
  silences: {
    "": ["id", "status", "updatedAt", "annotations", "matchers", "startsAt", "endsAt", "createdBy", "comment"],
    status: ["state"],
  },
  receivers: { "": ["name", "labels"] },
  status: {
    "": ["cluster", "versionInfo", "config", "uptime"],
    cluster: ["status", "peers"],
    config: ["original"],
    versionInfo: ["version", "revision", "branch", "buildUser", "buildDate", "goVersion"],
  },
};

function missing(path: string, body: unknown): string[] {
  const rows = (Array.isArray(body) ? body : [body]) as Record<string, unknown>[];
  if (rows.length === 0) return ["everything"];
  return rows.flatMap((row) =>
    Object.entries(REQUIRED[path] ?? {}).flatMap(([part, names]) => {
      const here = (part === "" ? row : row[part]) as Record<string, unknown>;
      return names.filter((name) => here[name] === undefined || here[name] === null).map((name) => `${part}.${name}`);
    }),
  );
}
