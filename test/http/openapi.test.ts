import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { FastifyInstance } from "fastify";
import { describe, expect, onTestFinished, test } from "vitest";
import { incidentsOf } from "../../src/alerting/incident.ts";
import { operations } from "../../src/http/api-v1.ts";
import { openApiDocument } from "../../src/http/v1/openapi.ts";
import { StoreError } from "../../src/store/errors.ts";
import { alertState, fleetOf, INTERVAL, NOW, recordingState } from "../metrics/fleets.ts";
import { anEpisode } from "../support/fixtures.ts";
import { ackDone, aReport, firingAlert, serve } from "./serve.ts";

const episode = anEpisode(NOW - 90_000, NOW - 30_000, { locationId: "loc-1" });
const lasting = anEpisode(NOW - 90_000, undefined, { id: "2" });

const fleet = fleetOf({
  recordings: [
    recordingState("rec-1", { alerts: { RecordingOffline: alertState("RecordingOffline") } }),
    recordingState("rec-2", { readAt: NOW - 4 * INTERVAL, locationId: "loc-2" }),
    recordingState("rec-3", { status: undefined, readAt: 0, lastSeenAt: undefined }),
  ],
  locations: [{ id: "loc-1", name: "Leeds", alerts: { LocationOffline: alertState("LocationOffline") } }],
  uptimes: { "rec-1": 0.99 },
});

const line = { subject: episode.subject, at: NOW - 1_000, ruleId: "RecordingOffline", reason: "fired" } as const;
const admin = { authorization: "Bearer admin-token-of-the-test" };

const document = openApiDocument("1.2.3", operations);
const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { "date-time": /^\d{4}-\d\d-\d\dT[\d:.]+Z$/ } });
ajv.addSchema(document, "api");

const acknowledgement = { author: "dana", comment: "", at: NOW, notes: [{ author: "sam", text: "x", at: NOW }] };

const start = () =>
  serve({
    adminToken: "admin-token-of-the-test",
    fleet: async () => fleet,
    episodes: async () => [episode, lasting],
    report: async () => aReport("Leeds"),
    alerts: async () => [
      { alert: firingAlert("RecordingOffline", { severity: "critical" }), receivers: [], acknowledgement },
      { alert: firingAlert("LowQuality"), receivers: [] },
    ],
    timeline: async () => [line],
    acknowledge: async (fingerprint) => (fingerprint === "0".repeat(16) ? { outcome: "not_firing" } : ackDone),
    withdraw: async (fingerprint) => (fingerprint === "0".repeat(16) ? { outcome: "not_acknowledged" } : ackDone),
    note: async () => ({ outcome: "too_many_notes" }),
  });

test("the document is served, and is OpenAPI", async () => {
  const { body } = await (await start()).json("/api/v1/openapi.json");
  expect(body).toEqual(JSON.parse(JSON.stringify(document)));
  expect(await new Validator().validate(JSON.parse(JSON.stringify(body)))).toMatchObject({ valid: true });
});

const print = "a".repeat(16);
/** A request for every answer the document promises: method, path in it, path asked, status. */
const asked = [
  ["get", "/api/v1/recordings", "/api/v1/recordings?limit=2", 200],
  ["get", "/api/v1/recordings", "/api/v1/recordings?status=down", 400],
  ["get", "/api/v1/recordings/{id}/timeline", "/api/v1/recordings/rec-1/timeline", 200],
  ["get", "/api/v1/recordings/{id}/timeline", "/api/v1/recordings/rec-1/timeline?since=today", 400],
  ["get", "/api/v1/locations", "/api/v1/locations?location=leeds", 200],
  ["get", "/api/v1/locations", "/api/v1/locations?colour=red", 400],
  ["get", "/api/v1/overview", "/api/v1/overview?all=true", 200],
  ["get", "/api/v1/overview", "/api/v1/overview?status=x", 400],
  ["get", "/api/v1/incidents", "/api/v1/incidents", 200],
  ["get", "/api/v1/incidents", "/api/v1/incidents?since=1", 400],
  ["get", "/api/v1/incidents/{id}", `/api/v1/incidents/${incidentsOf([episode])[0]?.id}`, 200],
  ["get", "/api/v1/incidents/{id}", "/api/v1/incidents/I-00000", 404],
  ["get", "/api/v1/report", "/api/v1/report?period=1d", 200],
  ["get", "/api/v1/report", "/api/v1/report?by=street", 400],
  ["post", "/api/v1/report/links", "/api/v1/report/links", 200],
  ["get", "/api/v1/handover", "/api/v1/handover", 200],
  ["get", "/api/v1/handover", "/api/v1/handover?since=2020-01-01T00:00:00Z", 400],
  ["post", "/api/v1/handover/notes", "/api/v1/handover/notes", 400],
  ["post", "/api/v1/alerts/{fingerprint}/ack", `/api/v1/alerts/${print}/ack`, 200],
  ["post", "/api/v1/alerts/{fingerprint}/ack", `/api/v1/alerts/${"0".repeat(16)}/ack`, 404],
  ["get", "/api/v1/silences/preview", "/api/v1/silences/preview?matchers=severity%3Dinfo", 200],
  ["get", "/api/v1/silences/preview", "/api/v1/silences/preview", 400],
  ["get", "/api/v1/recordings/{id}/what-if", "/api/v1/recordings/none/what-if", 404],
  ["post", "/api/v1/silences/{id}/undo", "/api/v1/silences/none/undo", 404],
  ["post", "/api/v1/alerts/{fingerprint}/ack/undo", `/api/v1/alerts/${"0".repeat(16)}/ack/undo`, 404],
  ["delete", "/api/v1/alerts/{fingerprint}/ack", `/api/v1/alerts/${print}/ack?author=dana`, 200],
  ["delete", "/api/v1/alerts/{fingerprint}/ack", `/api/v1/alerts/${"0".repeat(16)}/ack`, 404],
  ["post", "/api/v1/alerts/{fingerprint}/ack/notes", `/api/v1/alerts/${print}/ack/notes`, 400],
] as const;

describe("what is answered", () => {
  test.each(asked)("%s %s is as described: %s gives %i", async (method, path, url, status) => {
    const response = await fetch((await start()).address + url, { method, headers: admin });
    expect(response.status).toBe(status);
    const body = (await response.json()) as { items?: unknown[] };
    expect(problemsOf(method, path, status, body)).toEqual([]);
    if (status === 200 && body.items) expect(body.items.length).toBeGreaterThan(0);
  });

  test("without a token, and without Redis, too", async () => {
    const closed = await serve({
      readToken: "read-token-of-the-test",
      adminToken: "admin-token-of-the-test",
      fleet: async () => {
        throw new StoreError("unavailable", "Redis is gone");
      },
    });
    const [refused, gone] = await Promise.all([
      closed.json("/api/v1/recordings"),
      closed.json("/api/v1/recordings", admin),
    ]);
    expect([refused.status, gone.status]).toEqual([401, 503]);
    expect(problemsOf("get", "/api/v1/recordings", 401, refused.body)).toEqual([]);
    expect(problemsOf("get", "/api/v1/recordings", 503, gone.body)).toEqual([]);
  });

  test("every route that is registered is described, and every described one is requested above", async () => {
    const registered: string[] = [];
    const collect = (message: unknown) =>
      (message as { fastify: FastifyInstance }).fastify.addHook("onRoute", ({ method, url }) => {
        for (const one of [method].flat()) registered.push(`${one.toLowerCase()} ${url.replace(/:(\w+)/g, "{$1}")}`);
      });
    subscribe("fastify.initialization", collect);
    onTestFinished(() => void unsubscribe("fastify.initialization", collect));
    await start();
    const routes = registered.filter((route) => /^(?!head)\w+ \/api\/v1\//.test(route));
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(described.toSorted()).toEqual(routes.filter((route) => route !== "get /api/v1/openapi.json").sort());
    expect(described.toSorted()).toEqual([...new Set(asked.map(([method, path]) => `${method} ${path}`))].sort());
  });

  test("a parameter that is described is taken", async () => {
    const served = await start();
    for (const [path, { get }] of Object.entries(document.paths)) {
      for (const { name, in: place } of get?.parameters ?? []) {
        if (place !== "query") continue;
        const url = `${path.replace("{id}", "rec-1")}?${name}=%00`;
        const { body } = await served.json(url);
        expect(JSON.stringify(body), url).not.toContain("no such parameter");
      }
    }
  });

  test("would be found out if it were otherwise", () => {
    expect(problemsOf("get", "/api/v1/recordings", 200, { items: [{}], nextCursor: 3 })).not.toEqual([]);
    expect(problemsOf("get", "/api/v1/recordings", 400, { error: "no" })).not.toEqual([]);
  });
});

function problemsOf(method: string, path: string, status: number, body: unknown): unknown[] {
  const pointer = ["paths", path, method, "responses", String(status), "content", "application/json", "schema"];
  const escaped = pointer.map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1")));
  const validate = ajv.getSchema(`api#/${escaped.join("/")}`);
  if (!validate) throw new Error(`${method} ${path} promises no ${status}`);
  return validate(body) ? [] : (validate.errors ?? ["invalid"]);
}
