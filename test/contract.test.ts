/**
 * Every row of the tables of the service's contract, by name, with the place where lenswatch uses it: a request that was
 * sent, a column of a query's answer with a value in it, or a line of source. A row without a use fails.
 */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readFileSync } from "node:fs";
import type { ClientRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServiceClient } from "../src/client.ts";
import { type QueryOptions, type QueryRoute, queryRoutes, toAsk } from "../src/query/ask.ts";
import { type QueryAnswer, runQuery } from "../src/query/query.ts";
import { serviceDirectory } from "../src/query/service-directory.ts";
import { startSimulator } from "../src/simulator/simulator.ts";
import type { RequestEvent } from "../src/simulator/world.ts";

type Fields = Readonly<Record<string, unknown>>;
const sentHttp: { line: string; headers: string; body: string }[] = [];
const sentFrames: { route: string; id: string; body: Fields }[] = [];
const upgrades: string[] = [];
const answers = new Map<QueryRoute, QueryAnswer[]>(queryRoutes.map((route) => [route, []]));

type UndiciRequest = Readonly<Record<"method" | "path", string>> & {
  readonly headers: unknown;
  readonly body: unknown;
};
const onUndici = (message: unknown) => {
  const { method, path, headers, body } = (message as { request: UndiciRequest }).request;
  sentHttp.push({ line: `${method} ${path}`, headers: String(headers).toLowerCase(), body: String(body) });
};
const onUpgrade = (message: unknown) => void upgrades.push((message as { request: ClientRequest }).request.path);

const SPAN = { from: "2d", to: "yesterday" };
const people = { by: ["role", "gender"], only: ["age=25_34", "role=customer,role=staff", "gender=female"] };
const queries: (readonly [QueryRoute, QueryOptions])[] = [
  ...[["locations", {}] as const, ["areas", {}] as const, ["status", {}] as const],
  ...[["entries", { ...SPAN, ...people, every: "day" }] as const, ["entries", { ...SPAN, every: "month" }] as const],
  ...[["entries", SPAN] as const, ["entries", { ...SPAN, facet: "estimates" }] as const],
  ...[["zones", SPAN] as const, ["zones", { ...SPAN, every: "day" }] as const],
  ...[["dwell", { ...SPAN, ...people }] as const, ["conversion", SPAN] as const],
  ...[
    ["uptime", { ...SPAN, every: "hour" }] as const,
    ["uptime", { ...SPAN, recording: ["Leeds Briggate Tills"] }] as const,
  ],
];

beforeAll(async () => {
  subscribe("undici:request:create", onUndici);
  subscribe("http.client.request.start", onUpgrade);
  const now = Date.parse("2026-11-20T12:00:00Z");
  const simulator = await startSimulator({
    locations: 1,
    recordingsPerLocation: 2,
    seed: 1,
    clock: { now: () => now },
  });
  simulator.events.on("request", ({ transport, endpoint, id = "", body, outcome }: RequestEvent) => {
    if (transport === "socket" && outcome === "answered")
      sentFrames.push({ route: endpoint, id, body: body as Fields });
  });
  const [, offline] = simulator.world.recordings;
  if (offline) simulator.world.setStatus(offline.id, "offline");
  const service = createServiceClient({ ...simulator });
  const deps = {
    ...{ service, now, locationsPerRequest: 50, mostRows: 10_000, signal: new AbortController().signal },
    attempt: <T>(request: () => Promise<T>) => request(),
  };
  await service.checkStatus();
  for (const [route, options] of queries) {
    const answer = await runQuery(toAsk(route, options, now), { ...deps, directory: serviceDirectory(deps, now) });
    answers.get(route)?.push(answer);
  }
  await service.uptimes({ start: "2026-11-19", end: "2026-11-19" });
  await service.close();
  await simulator.close();
});
afterAll(() => {
  unsubscribe("undici:request:create", onUndici);
  unsubscribe("http.client.request.start", onUpgrade);
});

/** A row's use: gives what shows it, nothing where there is no use. */
type Use = () => unknown;

/** A query's column with a value, and where stated its unit. */
const column =
  (route: QueryRoute, name: string, unit?: string): Use =>
  () =>
    answers
      .get(route)
      ?.find(
        ({ items, units }) => (!unit || units[name] === unit) && items.some((row) => (row[name] ?? null) !== null),
      );
/** A value in such a column. */
const value =
  (route: QueryRoute, name: string, wanted: string): Use =>
  () =>
    answers.get(route)?.some(({ items }) => items.some((row) => row[name] === wanted));
/** A parameter of an answered message on a route, as the pattern has it. */
const frame =
  (route: string, name: string, pattern = /./): Use =>
  () =>
    sentFrames.find((one) => one.route === route && pattern.test(JSON.stringify(one.body[name]) ?? ""));
const http =
  (line: RegExp, headers = /./, body = /./): Use =>
  () =>
    sentHttp.find((one) => line.test(one.line) && headers.test(one.headers) && body.test(one.body));
const source =
  (file: string, text: string): Use =>
  () =>
    readFileSync(new URL(`../src/${file}`, import.meta.url), "utf8").includes(text);
const all =
  (...uses: Use[]): Use =>
  () =>
    uses.every((use) => use());
/** No message on the route has the parameter. */
const never =
  (route: string, name: string): Use =>
  () =>
    sentFrames.some((one) => one.route === route) && !sentFrames.some((one) => one.route === route && name in one.body);

const CONVERSION = "transactions/conversion-rate";
const ISO = /^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"$/;
const POST = /^POST \/v1\/recording\/uptimes$/;
const GET_ONE = /^GET \/v1\/recording\/[0-9a-f]{24}\/uptime\?start=2026-11-18&end=2026-11-19$/;

const contract: Readonly<Record<string, Readonly<Record<string, Use>>>> = {
  Location: { id: column("locations", "locationId"), "fields: not shown": source("service/location-rows.ts", "_id") },
  Recording: {
    id: column("uptime", "recordingId"),
    name: column("uptime", "recording"),
    organisation: column("uptime", "organisation"),
    cameraServer: column("uptime", "cameraServer"),
    location: column("uptime", "locationId"),
    useUploadingSchedule: column("uptime", "useUploadingSchedule"),
    timezone: column("uptime", "timezone"),
  },
  "Uptime entry": {
    index: column("uptime", "hour"),
    withinSchedule: column("uptime", "withinSchedule"),
    segmentsExpected: column("uptime", "segmentsExpected"),
    segmentsReceived: column("uptime", "segmentsReceived"),
    avgUptimeOnSegment: column("uptime", "avgUptimeOnSegment"),
    pcSegmentsRecieved: all(
      column("uptime", "pcSegmentsReceived"),
      source("service/recording-uptime-rows.ts", "pcSegmentsRecieved"),
    ),
    overallUptime: column("uptime", "overallUptime"),
  },
  "Recording uptime result": { recording: column("uptime", "recordingId"), uptime: column("uptime", "overallUptime") },
  "Live status entry": {
    recording_id: column("status", "recordingId"),
    location_id: column("status", "locationId"),
    status: column("status", "status"),
    last_seen_utc: column("status", "lastSeen"),
    average_quality: column("status", "averageQuality"),
  },
  "Area context": {
    area_type: value("areas", "areaType", "taxonomy"),
    taxonomy: column("areas", "zone"),
    recording_id: column("areas", "recordingId"),
  },
  "Metric result rows": {
    segments: column("entries", "day"),
    summary: column("conversion", "salesConversionRate"),
    "meta.units": column("entries", "entries", "peopleCount"),
    "segment index": column("zones", "day"),
    "dimension taxonomy": column("zones", "zone"),
    "dimension age": column("entries", "age"),
    "dimension gender": column("entries", "gender"),
    "dimension role": column("entries", "role"),
    "dimension entity": column("entries", "locationId"),
  },
  Measures: {
    entries: column("entries", "entries", "peopleCount"),
    area_total_entries: column("zones", "areaTotalEntries"),
    area_total_dwell_time: column("zones", "areaTotalDwellTime", "seconds"),
    area_average_dwell_time: column("zones", "areaAverageDwellTime", "seconds"),
    average_dwell_time: column("dwell", "averageDwellTime", "seconds"),
    sales_conversion_rate: column("conversion", "salesConversionRate", "rate"),
  },
  "Demographic filter values": {
    "ages 25_34": value("entries", "age", "25_34"),
    "genders female": value("dwell", "gender", "female"),
    "roles customer": value("entries", "role", "customer"),
    "roles staff": value("entries", "role", "staff"),
    "estimates facet": frame("entries", "facets", /"estimates"/),
  },
  States: { online: value("status", "status", "online"), offline: value("status", "status", "offline") },
  "Core API": {
    "GET /v1/status": http(/^GET \/v1\/status$/),
    "GET /v1/location/list": http(/^GET \/v1\/location\/list$/, /authorization,bearer /),
    "GET /v1/recording/:id/uptime": http(GET_ONE, /authorization,bearer /),
    "POST /v1/recording/uptimes": http(POST),
  },
  "POST /v1/recording/uptimes": {
    Authorization: http(POST, /authorization,bearer /),
    "Content-Type": http(POST, /content-type,application\/json/),
    start: http(POST, undefined, /"start":"2026-11-18"/),
    end: http(POST, undefined, /"end":"2026-11-19"/),
    recids: http(POST, undefined, /"recids":\["[0-9a-f]{24}","[0-9a-f]{24}"\]/),
    "rule 1: days only": http(POST, undefined, /^\{"start":"\d{4}-\d\d-\d\d","end":"\d{4}-\d\d-\d\d"/),
    "rule 2: both inclusive": column("uptime", "hour"),
    "rule 3: recids omitted": http(POST, undefined, /^\{"start":"2026-11-19","end":"2026-11-19"\}$/),
  },
  "Metrics WebSocket": {
    "?token=": () => upgrades.some((path) => /\?token=.+/.test(path)),
    "action metric": frame("entries", "start"),
    "action detail": frame("detail/list", "entities"),
    "action status": frame("status/uptime", "entities"),
    "data.id": () => new Set(sentFrames.map(({ id }) => id)).size === sentFrames.length,
    "data.route": frame("area/data", "start"),
    "data.body": frame(CONVERSION, "start"),
    "reply <request_id>|<n>|<m>|<json_payload>": source("service/reply-frames.ts", "parseFrame"),
  },
  Routes: {
    entries: column("entries", "entries"),
    "area/data": column("zones", "areaTotalEntries"),
    "average-dwell-time": column("dwell", "averageDwellTime"),
    "transactions/conversion-rate": column("conversion", "salesConversionRate"),
    "detail/list": column("areas", "zone"),
    "status/uptime": column("status", "status"),
  },
  "Body parameters of metric routes": {
    start: frame("entries", "start", ISO),
    end: frame("entries", "end", ISO),
    entities: frame("entries", "entities", /^\["[0-9a-f]{24}"\]$/),
    entityType: frame("entries", "entityType", /"location"/),
    "facets segments": frame("area/data", "facets", /"segments"/),
    "facets summary": frame("average-dwell-time", "facets", /"summary"/),
    "facets estimates": frame("entries", "facets", /"estimates"/),
    "aggregationPeriod day": frame("entries", "aggregationPeriod", /"day"/),
    "aggregationPeriod month": frame("entries", "aggregationPeriod", /"month"/),
    "areaType taxonomy": frame("area/data", "areaType", /"taxonomy"/),
    "areaType location-dwell": frame("average-dwell-time", "areaType", /"location-dwell"/),
    taxonomy: frame("area/data", "taxonomy", /Tills/),
    breakdownByDimensions: frame("entries", "breakdownByDimensions", /"age","gender","role","entity"/),
    ages: frame("entries", "ages", /25_34/),
    genders: frame("average-dwell-time", "genders", /female/),
    roles: frame("entries", "roles", /"customer","staff"/),
    "rule 1: a filter is a dimension": () =>
      sentFrames.every(({ body }) =>
        ["age", "gender", "role"].every(
          (name) => !(`${name}s` in body) || String(body.breakdownByDimensions).includes(name),
        ),
      ),
    "rule 2: taxonomy splits by zone": frame("area/data", "breakdownByDimensions", /"taxonomy"/),
    "rule 3: sales by entity, never filtered": all(
      frame(CONVERSION, "breakdownByDimensions", /^\["entity"\]$/),
      ...["ages", "genders", "roles"].map((name) => never(CONVERSION, name)),
    ),
    "rule 4: most routes take filters": frame("average-dwell-time", "roles"),
    "rule 5: replies echo the id": () => sentFrames.every(({ id }) => id !== ""),
  },
  "Body of detail/list": {
    returnEntityType: frame("detail/list", "returnEntityType", /"area_context"/),
    entities: frame("detail/list", "entities"),
    entityType: frame("detail/list", "entityType", /"location"/),
  },
  "Body of status/uptime": {
    entities: frame("status/uptime", "entities"),
    entityType: frame("status/uptime", "entityType", /"location"/),
    "no dates": all(never("status/uptime", "start"), never("status/uptime", "end")),
  },
  Authentication: {
    "POST {auth_url}/oauth/token": http(/^POST \/oauth\/token$/, /content-type,application\/json/),
    client_id: http(/oauth/, undefined, /"client_id":"[^"]+"/),
    client_secret: http(/oauth/, undefined, /"client_secret":"[^"]+"/),
    audience: http(/oauth/, undefined, /"audience":"[^"]+"/),
    grant_type: http(/oauth/, undefined, /"grant_type":"client_credentials"/),
    "access_token, reused": () => sentHttp.filter(({ line }) => line.includes("oauth")).length === 1,
    "GET /v1/status needs none": () =>
      sentHttp.filter(({ line, headers }) => line === "GET /v1/status" && !headers.includes("authorization")).length ===
      1,
  },
  "Errors, limits, versioning": {
    "a timestamp is rejected for uptime": source("service/queries.ts", "uptime takes days, YYYY-MM-DD without a time"),
    "metrics refresh every 10 minutes": source("health/uptime.ts", "refreshes its figures every 10 minutes"),
    "paths begin with /v1": () =>
      sentHttp.every(({ line }) => / \/v1\//.test(line) || line.endsWith("/oauth/token")) && sentHttp.length > 5,
  },
};

describe.each(Object.entries(contract))("%s", (_, rows) => {
  test.each(Object.entries(rows))("%s is used", (_, use) => {
    expect(use()).toBeTruthy();
  });
});
